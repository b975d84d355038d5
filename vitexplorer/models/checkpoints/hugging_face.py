"""What `config.json` and `preprocessor_config.json` of transformers say, as far as timm has a word for it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from vitexplorer.core.text import Text
from vitexplorer.models.checkpoints.activations import ACTIVATIONS
from vitexplorer.models.checkpoints.facts import Facts
from vitexplorer.models.checkpoints.fields import MOST_PIXELS, Fields
from vitexplorer.models.checkpoints.transformers_fields import TRANSFORMERS
from vitexplorer.models.checkpoints.usual import GUESSED

_RESAMPLING = {0: "nearest", 1: "lanczos", 2: "bilinear", 3: "bicubic", 4: "box", 5: "hamming"}
"""Pillow's numbers, which transformers writes"""
CONFIG, PREPROCESSOR = "config.json", "preprocessor_config.json"
_ALWAYS = Text("true: images are resized and brought to 0-1 here", "true：此处总会缩放图像并将其值调整到 0-1")
_TO_ONE = Text("1/255: images are brought to 0-1 here", "1/255：此处图像的值总是调整到 0-1")
_DIVISORS = Text("numbers above 0", "大于 0 的数")


def facts_of(config: Mapping[str, Any], norm_eps: float, usual: Mapping[str, Any]) -> Facts:
    """What is known of a model; `norm_eps` and the `usual` preprocessing are its class's where no file says.

    Raises MisfitError for a field that no model can have.
    """
    said = fields_of(config)
    heads = "num_attention_heads" if "num_attention_heads" in said.said else "num_heads"
    is_listed = isinstance(said.said.get(heads), list)
    prepared = Fields(config, PREPROCESSOR).section("preprocessor")
    return Facts(
        library="transformers",
        num_heads=said.wholes(heads) if is_listed else said.whole(heads),
        image_size=said.size("image_size"),
        norm_eps=said.number("layer_norm_eps") or norm_eps,
        activation=said.one_of("hidden_act", {name: name for name in ACTIVATIONS}),
        window_size=said.whole("window_size", most=MOST_PIXELS),
        pretrained_windows=said.wholes("pretrained_window_sizes", least=0, most=MOST_PIXELS),
        rope_theta=said.number("rope_theta"),
        class_names=class_names(config.get("id2label")),
        notes=() if prepared else (GUESSED,),
        preprocessing={**usual, **(_preprocessing(prepared) if prepared else {})},
        check=partial(TRANSFORMERS.check, said),
    )


_OF_THE_WHOLE = ("projection_dim", "id2label")
"""fields of a model of images and words that its vision section has too, where nobody reads them"""


def fields_of(config: Mapping[str, Any]) -> Fields:
    """The fields of the vision model; a model of images and words keeps them in a section. Raises MisfitError."""
    vision = Fields(config, CONFIG).section("vision_config")
    if vision is None:
        return Fields(config, CONFIG)
    return Fields(
        {**config, **{name: value for name, value in vision.said.items() if name not in _OF_THE_WHOLE}}, CONFIG
    )


def class_names(labels: Any) -> tuple[str, ...]:
    """In the order of the outputs; empty where they are only numbered, or not numbered at all."""
    if not isinstance(labels, Mapping) or set(map(str, labels)) != set(map(str, range(len(labels)))):
        return ()
    names = tuple(str(labels[key]) for key in sorted(labels, key=int))
    return () if all(name == f"LABEL_{i}" for i, name in enumerate(names)) else names


def _preprocessing(said: Fields) -> dict[str, Any]:
    found = {
        "mean": said.numbers("image_mean", 3),
        "std": said.numbers("image_std", 3),
        "interpolation": said.one_of("resample", _RESAMPLING),
    }
    if found["std"] and min(found["std"]) <= 0:
        raise said.refusal("image_std", _DIVISORS)
    if said.flag("do_normalize") is False:
        found |= {"mean": (0.0,) * 3, "std": (1.0,) * 3}
    for field in ("do_rescale", "do_resize"):
        if said.flag(field) is False:
            raise said.refusal(field, _ALWAYS)
    if abs((said.number("rescale_factor") or 1 / 255) * 255 - 1) > 1e-6:
        raise said.refusal("rescale_factor", _TO_ONE)
    resized, cropped = _side(said, "size"), _side(said, "crop_size")
    if said.flag("do_center_crop") and resized and cropped:
        found["crop_pct"] = min(1.0, cropped / resized)
    elif "size" in said.said:
        found |= {"crop_pct": 1.0, "crop_mode": "squash"}
    return {name: value for name, value in found.items() if value is not None}


def _side(said: Fields, field: str) -> int | None:
    """The shorter side that an image is brought to."""
    if not isinstance(said.said.get(field), Mapping):
        return said.whole(field)
    sides = said.section(field)
    return sides.whole("shortest_edge") or sides.whole("height")
