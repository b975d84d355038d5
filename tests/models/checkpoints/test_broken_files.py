"""Broken weight files and configurations: each opens as a model, or is refused with a sentence that says where."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import torch
from torch import Tensor

import vitexplorer as vx
from tests.helpers.libraries import made, saved
from tests.helpers.thorough import quick
from vitexplorer.models.checkpoints import WeightsError

PYTHON = re.compile(
    r"Traceback|Error\b|Exception|modulo|unpack|literal|out of range|convert|NoneType|object is not|not supported|"
    r"argument|attribute|subscript|iterable|invalid|RuntimeError|mismatch|must match|torch\.Size|<class|"
    r"shape '|\bdict\b|\bstr\b|\bint\b|\bfloat\b|\bNone\b|\bTrue\b|\bFalse\b|(?<!\w)'"
)
"""Marks of messages by Python and torch; our own sentences quote with "double" marks"""
ODD: tuple[Any, ...] = (
    None, True, -1, 0, 0.5, 1, 7, 1e-9, 10**9, 10**30, math.nan, math.inf, "", "12", "gelu", [], [0], [1, 2], [1, 2, 3],
    ["a", "b", "c"], [None], [[1]] * 9, {}, {"a": 1}, {"0": "cat"}, {"height": "a", "width": -3},
)  # fmt: skip
READ = ("num_attention_heads", "num_heads", "hidden_act", "layer_norm_eps", "image_size", "window_size")
READ += ("pretrained_window_sizes", "id2label", "vision_config", "model_type", "patch_size", "hidden_size")
ALSO = {"num_attention_heads": "cannot share", "image_size": "img_size|image of", "vision_config": "num_|size"}
"""Other words for a field in a sentence"""
UNREAD = re.compile(r"text_model|position_index|coords_table|attn_mask|^transformer|^decoder")
FREE = re.compile(
    r"mask_token|logit_|text_|projection|class_embedding|register_tokens|^proj|decoder|pooler|classifier|^head"
)
"""Tensors that no pass reads, or whose size is free"""
PREPARED = ("image_mean", "image_std", "resample", "size", "crop_size", "do_center_crop")
FOLDERS = ("vit", "swinv2", "pvt_v2", "clip_whole", "dinov3", "beit_absolute")


def assert_model_or_sentence(path: Path) -> str:
    """Return the sentence of the refusal, empty for a model."""
    try:
        vx.load_model(weights=path)
    except WeightsError as error:
        message, zh = error.text
        assert not PYTHON.search(message), message
        assert path.name in message
        assert re.search(r"[一-鿿]", zh), zh
        assert re.fullmatch(r"[^\n]{20,600}\.", message), message
        return message
    return ""


@pytest.mark.parametrize("key", quick(FOLDERS, ["vit"]))
def test_a_field_of_any_kind_is_a_model_or_a_sentence(key: str, tmp_path: Path) -> None:
    folder = saved(made(key), tmp_path)
    config = json.loads((folder / "config.json").read_text())
    vision_config = config.get("vision_config", {})
    for name in READ:
        for value in ODD:
            changed = {**config, name: value}
            if name in vision_config:
                changed = {**config, "vision_config": {**vision_config, name: value}}
            (folder / "config.json").write_text(json.dumps(changed))
            message = assert_model_or_sentence(folder)
            assert not message or re.search(f"{name}|{ALSO.get(name, name)}", message), (name, value, message)


@pytest.mark.parametrize("name", PREPARED)
def test_what_prepares_images_is_of_its_kind(name: str, tmp_path: Path) -> None:
    folder = saved(made("vit"), tmp_path)
    for value in ODD:
        (folder / "preprocessor_config.json").write_text(json.dumps({"do_center_crop": True, "size": 64, name: value}))
        message = assert_model_or_sentence(folder)
        assert not message or name in message or name in ("size", "crop_size"), (value, message)
        assert not message or "preprocessor_config.json" in message


def broken(tensors: dict[str, Tensor], name: str) -> Iterator[dict[str, Tensor]]:
    """Yield a tensor missing, shorter along each axis, of no size, a number, with one more axis, or flat."""
    rest, tensor = {one: tensors[one] for one in tensors if one != name}, tensors[name]
    yield rest
    shorter = [tensor.narrow(axis, 0, tensor.shape[axis] - 1) for axis in range(tensor.ndim)]
    for other in [*shorter, tensor.flatten()[:0], tensor.sum(), tensor[None], tensor.flatten()]:
        if other.shape != tensor.shape:
            yield {**rest, name: other.contiguous()}


FILES = (
    "vit",
    "swin",
    "swinv2",
    "pvt_v2",
    "clip_whole",
    "siglip",
    "dinov3",
    "dinov3_gated",
    "beit",
    "beit_absolute",
    "dinov2_registers",
    "deit_teacher",
    "torchvision_vit",
    "torchvision_swin_v2",
    "open_clip",
)


@pytest.mark.parametrize("key", quick(FILES, ["vit", "open_clip"]))
def test_a_tensor_of_another_shape_is_a_sentence(key: str, tmp_path: Path) -> None:
    module = made(key)
    saved(module, tmp_path)
    path = tmp_path / "model.safetensors"
    tensors = safetensors.torch.load_file(path) if path.exists() else module.state_dict()
    (tmp_path / "model.pth").unlink(missing_ok=True)
    first = [
        name
        for name in tensors
        if not re.search(r"\.[1-9]\d*\.|text_model|position_index|coords_table|attn_mask|^transformer", name)
    ]
    for name in first:
        for changed in broken(tensors, name):
            safetensors.torch.save_file(changed, path)
            message = assert_model_or_sentence(tmp_path)
            assert message or FREE.search(name), (name, changed.get(name, torch.empty(0)).shape)
