"""Facts from the `config.json` that timm writes beside its weights: architecture, classes, preprocessing.

timm builds the model that the file names, with the arguments that the file lists. So does `named`, as far as the
arguments are sizes and switches of the network; others could download or open files.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import timm
import torch

from vitexplorer.core.text import Text
from vitexplorer.models.checkpoints.default_preprocessing import GUESSED
from vitexplorer.models.checkpoints.fields import MOST_PIXELS, Fields
from vitexplorer.models.checkpoints.fits import count_classes_of
from vitexplorer.models.checkpoints.hugging_face import CONFIG, class_names
from vitexplorer.models.checkpoints.records import Blueprint, Facts, Tensors
from vitexplorer.models.checkpoints.renaming import COMPUTED, without

_MOST_OF = {
    "img_size": MOST_PIXELS,
    "window_size": 64,
    **dict.fromkeys(("patch_size", "embed_dim", "depth", "depths", "num_heads"), 8192),
    **dict.fromkeys(("mlp_ratio", "reg_tokens", "init_values"), 8192),
}
"""Argument -> its largest value"""
_SWITCHES = ("class_token", "qkv_bias", "qk_norm", "no_embed_class", "pre_norm", "final_norm", "fc_norm")
_POOLS = ("", "avg", "avgmax", "max", "map", "token")
_WITHOUT_EFFECT = (
    *("num_classes", "in_chans", "drop_rate", "pos_drop_rate", "patch_drop_rate", "proj_drop_rate", "attn_drop_rate"),
    *("drop_path_rate", "dynamic_img_size", "strict_img_size", "weight_init"),
)
"""Arguments that change no output of a trained model, or that the tensors determine"""
_MOST_STAGES = 4
"""Most numbers of a list, one for each stage"""
_LEAST_OF_BLOCK = 4
"""Tensors that a block has at least; more blocks than the file can hold are not built"""
_INTERPOLATIONS = {name: name for name in ("nearest", "bilinear", "bicubic", "lanczos")}
_CROP_MODES = {name: name for name in ("center", "squash", "border")}
_LEAST_CROP = 0.5
_ABOVE_0 = Text("numbers above 0", "大于 0 的数")
_SHARE = Text("a number from {least} to 1", "{least} 到 1 的数")
_ANOTHER = Text(
    "{file} names {model}, but the tensors are not those of that model: its sizes are read from the tensors.",
    "{file} 中写的是 {model}，但其中的张量与该模型不符：各项尺寸以张量为准。",
)


def is_of_timm(config: Mapping[str, Any]) -> bool:
    """Return True for a configuration that timm wrote: it names the architecture as timm does."""
    return isinstance(config.get("architecture"), str) and "model_type" not in config


def facts_of(config: Mapping[str, Any]) -> Facts:
    """Return classes and preprocessing of timm's configuration.

    Raises:
        MisfitError: a field has an impossible value.
    """
    prepared = _prepared(config)
    side = prepared.integers("input_size", count=3, most=MOST_PIXELS)
    entries = {
        "mean": prepared.numbers("mean", 3),
        "std": prepared.numbers("std", 3),
        "interpolation": prepared.one_of("interpolation", _INTERPOLATIONS),
        "crop_pct": prepared.number("crop_pct"),
        "crop_mode": prepared.one_of("crop_mode", _CROP_MODES),
    }
    preprocessing = {name: value for name, value in entries.items() if value is not None}
    if min(preprocessing.get("std", (1,))) <= 0:
        raise prepared.refusal("std", _ABOVE_0)
    if not _LEAST_CROP <= preprocessing.get("crop_pct", 1) <= 1:
        raise prepared.refusal("crop_pct", _SHARE.format(least=_LEAST_CROP))
    return Facts(
        image_size=side and side[1:],
        class_names=_class_names(config.get("label_names", prepared.values.get("label_names"))),
        preprocessing=preprocessing,
        notes=() if {"mean", "std"} <= preprocessing.keys() else (GUESSED,),
    )


def named(tensors: Tensors, config: Mapping[str, Any]) -> Blueprint | Text:
    """Return the architecture that the configuration names, or a note that the tensors are those of another.

    Raises:
        MisfitError: a field has an impossible value.
    """
    facts = facts_of(config)
    name = config["architecture"]
    another = _ANOTHER.format(file=CONFIG, model=name[:60])
    arguments = _arguments(Fields(config, CONFIG).section("model_args"))
    if arguments is None or not timm.is_model(name):
        return another
    blocks = np.sum(arguments.get("depths", arguments.get("depth", 0)))
    if _LEAST_OF_BLOCK * blocks > len(tensors):
        return another
    published = timm.get_pretrained_cfg(name)
    if _prepared(config).values.get("fixed_input_size") and facts.image_size not in (None, published.input_size[1:]):
        arguments.setdefault("img_size", facts.image_size)
    arguments["num_classes"] = count_classes_of(name, tensors)
    try:
        with torch.device("meta"):
            module = timm.create_model(name, **arguments)
    except Exception:  # timm has no error of its own for contradicting sizes
        return another
    if _shapes(without(module.state_dict(), COMPUTED)[0]) != _shapes(tensors):
        return another
    is_as_published = arguments.keys() <= {"img_size", "num_classes", "global_pool"}
    return Blueprint(name if is_as_published else f"{name}_custom", name, arguments, tensors, facts)


def _shapes(tensors: Tensors) -> dict[str, torch.Size]:
    return {name: tensor.shape for name, tensor in tensors.items()}


def _prepared(config: Mapping[str, Any]) -> Fields:
    """Return the preprocessing, which old files have beside the architecture."""
    return Fields(config, CONFIG).section("pretrained_cfg") or Fields(config, CONFIG)


def _class_names(names: Any) -> tuple[str, ...]:
    if isinstance(names, list):
        names = dict(enumerate(names))
    return class_names(names)


def _arguments(given: Fields | None) -> dict[str, Any] | None:
    """Return the arguments for timm's builder; None if one of them is not allowed."""
    result = {}
    for name, value in (given.values if given else {}).items():
        if name in _WITHOUT_EFFECT or value is None:
            continue
        is_usable = (
            (name in _MOST_OF and _is_size(value, _MOST_OF[name]))
            or (name in _SWITCHES and isinstance(value, bool))
            or (name == "global_pool" and value in _POOLS)
        )
        if not is_usable:
            return None
        result[name] = tuple(value) if isinstance(value, list) else value
    return result


def _is_size(value: Any, most: int) -> bool:
    values = value if isinstance(value, list) else [value]
    are_numbers = all(isinstance(size, int | float) and not isinstance(size, bool) for size in values)
    return 0 < len(values) <= _MOST_STAGES and are_numbers and all(0 <= size <= most for size in values)
