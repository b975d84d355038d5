"""Sentences for parts of dino.txt that are missing or do not belong together."""

from __future__ import annotations

import pytest
import torch

import vitexplorer as vx
from tests.helpers.small_dino_txt import BACKBONES, HEAD_FILES, Files
from vitexplorer.models.checkpoints import WeightsError

each_release = pytest.mark.parametrize("release", BACKBONES)


def refused(path) -> str:
    with pytest.raises(WeightsError) as caught:
        vx.load_model(path)
    return str(caught.value)


@each_release
def test_the_backbone_is_missing(tmp_path, release):
    folder = Files(release).save(tmp_path / "m", backbone=False)
    for path in (folder, folder / HEAD_FILES[release]):
        assert "its backbone is missing; put the file of the backbone beside it, such as dinov2_vitl14" in refused(path)


@each_release
def test_the_head_is_missing(tmp_path, release):
    assert "its vision head is missing" in refused(Files(release).save(tmp_path / "m", head=False))


def test_a_head_of_another_width(tmp_path):
    folder = Files("dinov2", width=192).save(tmp_path / "m")
    assert "the head reads tokens of 192 numbers, and those of the backbone have 128" in refused(folder)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("ln_final.weight", "there is no tensor vision_head.norm.weight"),
        ("ln_final.bias", r"1 missing (vision_head.norm.bias)"),
        ("block_list.0.mlp.w3.weight", "there is no tensor vision_head.blocks.0.mlp.fc2.weight"),
        ("block_list.1.attn.qkv.weight", r"1 missing (vision_head.blocks.1.attn.qkv.weight)"),
    ],
)
def test_a_tensor_of_the_head_is_missing(tmp_path, name, sentence):
    files = Files("dinov2")
    del files.head[name]
    assert sentence in refused(files.save(tmp_path / "m"))


def test_a_block_of_the_head_is_missing(tmp_path):
    files = Files("dinov2")
    files.head = {name.replace("block_list.1.", "block_list.2."): tensor for name, tensor in files.head.items()}
    assert "blocks or stages have gaps" in refused(files.save(tmp_path / "m"))


def test_a_head_of_other_parts(tmp_path):
    files = Files("dinov2")
    files.head["block_list.0.attn.qkv.bias"] = torch.zeros(3 * 128)
    assert "1 unexpected (vision_head.blocks.0.attn.qkv.bias)" in refused(files.save(tmp_path / "m"))


def test_numbers_that_are_not_finite(tmp_path):
    files = Files("dinov3")
    files.head["ln_final.bias"][3] = torch.nan
    assert "NaN or infinite" in refused(files.save(tmp_path / "m"))
