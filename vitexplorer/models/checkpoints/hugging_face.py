"""Facts from transformers' `config.json` and `preprocessor_config.json`, as far as timm supports them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from vitexplorer.core.text import Text
from vitexplorer.models.checkpoints.activations import ACTIVATIONS
from vitexplorer.models.checkpoints.default_preprocessing import GUESSED
from vitexplorer.models.checkpoints.fields import MOST_PIXELS, Fields
from vitexplorer.models.checkpoints.records import Facts
from vitexplorer.models.checkpoints.transformers_fields import TRANSFORMERS

_RESAMPLING = {0: "nearest", 1: "lanczos", 2: "bilinear", 3: "bicubic", 4: "box", 5: "hamming"}
"""Interpolation by Pillow's numbers, which transformers writes"""
CONFIG, PREPROCESSOR = "config.json", "preprocessor_config.json"
_ALWAYS = Text("true: images are always resized here", "true：此处总会缩放图像")
_FACTORS = Text("a number from {least:g} to 1", "{least:g} 到 1 的数")
_LEAST_FACTOR = 1e-6
_RESCALED = Text(
    "{file} multiplies pixels of 0-255 by {factor:.3g}, not by 1/255 as usual. Images are prepared that way here: for "
    "pixels of 0-1 the mean is {mean} and the standard deviation {std}.",
    "{file} 将 0-255 的像素值乘以 {factor:.3g}，而不是通常的 1/255；此处也照此处理。对于 0-1 的像素值，均值为 {mean}，"
    "标准差为 {std}。",
)
_DIVISORS = Text("numbers above 0", "大于 0 的数")


def facts_of(config: Mapping[str, Any], norm_eps: float, default: Mapping[str, Any]) -> Facts:
    """Return the facts of a model's configuration.

    Args:
        config: `config.json`, with the preprocessor's under "preprocessor"; may be empty.
        norm_eps: epsilon of the model's class, used if the configuration has none.
        default: preprocessing of the model's class, used for entries that the configuration lacks.

    Raises:
        MisfitError: a field has an impossible value.
    """
    fields = fields_of(config)
    heads = "num_attention_heads" if "num_attention_heads" in fields.values else "num_heads"
    is_listed = isinstance(fields.values.get(heads), list)
    prepared = Fields(config, PREPROCESSOR).section("preprocessor")
    preprocessing, notes = _preprocessing(prepared, default) if prepared else (default, (GUESSED,))
    return Facts(
        num_heads=fields.integers(heads) if is_listed else fields.integer(heads),
        image_size=fields.size("image_size"),
        norm_eps=fields.number("layer_norm_eps") or norm_eps,
        activation=fields.one_of("hidden_act", {name: name for name in ACTIVATIONS}),
        window_size=fields.integer("window_size", most=MOST_PIXELS),
        pretrained_windows=fields.integers("pretrained_window_sizes", least=0, most=MOST_PIXELS),
        rope_theta=fields.number("rope_theta"),
        class_names=class_names(config.get("id2label")),
        notes=notes,
        preprocessing=preprocessing,
        check=partial(TRANSFORMERS.check, fields),
    )


_OF_THE_WHOLE = ("projection_dim", "id2label")
"""Fields of a vision-language model that its vision section has too, where they are not used"""


def fields_of(config: Mapping[str, Any]) -> Fields:
    """Return the fields of the vision model, which a vision-language model has in a section.

    Raises:
        MisfitError: the section is not an object.
    """
    vision = Fields(config, CONFIG).section("vision_config")
    if vision is None:
        return Fields(config, CONFIG)
    return Fields(
        {**config, **{name: value for name, value in vision.values.items() if name not in _OF_THE_WHOLE}}, CONFIG
    )


def class_names(labels: Any) -> tuple[str, ...]:
    """Return `id2label` in the order of the outputs; () for placeholder names or other keys than 0, 1, 2, ..."""
    if not isinstance(labels, Mapping) or set(map(str, labels)) != set(map(str, range(len(labels)))):
        return ()
    names = tuple(str(labels[key]) for key in sorted(labels, key=int))
    return () if all(name == f"LABEL_{i}" for i, name in enumerate(names)) else names


def _preprocessing(fields: Fields, default: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[Text, ...]]:
    """Return the preprocessing with the entries of `default` that the fields leave open, and a note of a rescaling."""
    result = {
        "mean": fields.numbers("image_mean", 3),
        "std": fields.numbers("image_std", 3),
        "interpolation": fields.one_of("resample", _RESAMPLING),
    }
    if result["std"] and min(result["std"]) <= 0:
        raise fields.refusal("image_std", _DIVISORS)
    if fields.flag("do_normalize") is False:
        result |= {"mean": (0.0,) * 3, "std": (1.0,) * 3}
    if fields.flag("do_resize") is False:
        raise fields.refusal("do_resize", _ALWAYS)
    resized = _side(fields, "size")
    cropped = _side(fields, "crop_size")
    if fields.flag("do_center_crop") and resized and cropped:
        result["crop_pct"] = min(1.0, cropped / resized)
    elif "size" in fields.values:
        result |= {"crop_pct": 1.0, "crop_mode": "squash"}
    return _rescaled(fields, {**default, **{name: value for name, value in result.items() if value is not None}})


def _rescaled(fields: Fields, preprocessing: dict[str, Any]) -> tuple[dict[str, Any], tuple[Text, ...]]:
    """Convert mean and standard deviation to pixels of 0-1, if the file multiplies by another factor than 1/255."""
    factor = 1.0 if fields.flag("do_rescale") is False else fields.number("rescale_factor") or 1 / 255
    if not _LEAST_FACTOR <= factor <= 1:
        raise fields.refusal("rescale_factor", _FACTORS.format(least=_LEAST_FACTOR))
    if abs(255 * factor - 1) < 1e-6:
        return preprocessing, ()
    mean, std = (tuple(value / (255 * factor) for value in preprocessing[name]) for name in ("mean", "std"))
    note = _RESCALED.format(file=PREPROCESSOR, factor=factor, mean=_short(mean), std=_short(std))
    return {**preprocessing, "mean": mean, "std": std}, (note,)


def _short(values: tuple[float, ...]) -> str:
    return ", ".join(f"{value:.3g}" for value in values)


def _side(fields: Fields, field: str) -> int | None:
    """Return the length of the resized image's shorter side."""
    if not isinstance(fields.values.get(field), Mapping):
        return fields.integer(field)
    sides = fields.section(field)
    return sides.integer("shortest_edge") or sides.integer("height")
