"""What `config.json` and `preprocessor_config.json` of transformers say, as far as timm has a word for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vitexplorer.models.checkpoints.facts import Facts
from vitexplorer.models.checkpoints.usual import GUESSED

ACTIVATIONS = {
    "gelu": "gelu",
    "quick_gelu": "quick_gelu",
    "gelu_pytorch_tanh": "gelu_tanh",
    "gelu_new": "gelu_tanh",
    "silu": "silu",
}
"""transformers' name -> timm's"""
_RESAMPLING = {0: "nearest", 1: "lanczos", 2: "bilinear", 3: "bicubic"}
"""Pillow's numbers, which transformers writes"""
_MOST_PIXELS = 2048
"""a side"""


def facts_of(config: Mapping[str, Any], norm_eps: float, usual: Mapping[str, Any]) -> Facts:
    """What is known of a model; `norm_eps` and the `usual` preprocessing are its class's where no file says."""
    vision = config.get("vision_config")
    said = {**config, **vision} if isinstance(vision, Mapping) else config
    heads = said.get("num_attention_heads", said.get("num_heads"))
    windows = said.get("pretrained_window_sizes")
    return Facts(
        library="transformers",
        num_heads=tuple(map(int, heads)) if isinstance(heads, list) else _whole(heads),
        image_size=_size(said.get("image_size")),
        norm_eps=float(said.get("layer_norm_eps", norm_eps)),
        activation=ACTIVATIONS[str(said["hidden_act"])] if "hidden_act" in said else None,
        window_size=_whole(said.get("window_size")),
        pretrained_windows=tuple(map(int, windows)) if isinstance(windows, list) else None,
        class_names=class_names(config.get("id2label")),
        notes=() if "preprocessor" in config else (GUESSED,),
        preprocessing={**usual, **_preprocessing(config.get("preprocessor"))},
    )


def _whole(number: Any) -> int | None:
    return None if number is None else int(number)


def _size(said: Any) -> int | tuple[int, int] | None:
    """Raises ValueError for what no image has: tables would be made for it."""
    size = (int(said[0]), int(said[1])) if isinstance(said, list) else _whole(said)
    if size is not None and not all(
        0 < side <= _MOST_PIXELS for side in (size if isinstance(size, tuple) else (size,))
    ):
        raise ValueError("image_size")
    return size


def class_names(labels: Any) -> tuple[str, ...]:
    """In the order of the outputs; empty where they are only numbered."""
    if not isinstance(labels, Mapping) or sorted(map(int, labels)) != list(range(len(labels))):
        return ()
    names = tuple(str(labels[key]) for key in sorted(labels, key=int))
    return () if all(name == f"LABEL_{i}" for i, name in enumerate(names)) else names


def _preprocessing(said: Any) -> dict[str, Any]:
    if not isinstance(said, Mapping):
        return {}
    found: dict[str, Any] = {}
    for ours, theirs in (("mean", "image_mean"), ("std", "image_std")):
        if isinstance(said.get(theirs), list) and len(said[theirs]) == 3:
            found[ours] = tuple(map(float, said[theirs]))
    if said.get("resample") in _RESAMPLING:
        found["interpolation"] = _RESAMPLING[said["resample"]]
    resized, cropped = _side(said.get("size")), _side(said.get("crop_size"))
    if said.get("do_center_crop") and resized and cropped:
        found["crop_pct"] = min(1.0, cropped / resized)
    elif "size" in said:
        found["crop_pct"] = 1.0
        found["crop_mode"] = "squash"
    return found


def _side(said: Any) -> int | None:
    """The shorter side that an image is brought to."""
    if isinstance(said, Mapping):
        said = said.get("shortest_edge", said.get("height"))
    return said if isinstance(said, int) and said > 0 else None
