"""Halves of a dino.txt's vectors: maps of texts against a slow twin, and what has no meaning for two halves."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import vitexplorer as vx
from tests.helpers.reference_dino_txt import Twin
from tests.helpers.small_dino_txt import BACKBONES, GRID, PATCH, WIDTH, Files
from tests.helpers.small_models import picture
from vitexplorer.capturing.capture import Capture
from vitexplorer.controls.explained import LikeText, TextVector
from vitexplorer.core.text import SettingError, UnsupportedError
from vitexplorer.quantities.scores import score_of_block
from vitexplorer.quantities.texts.block_arithmetic import BlockArithmetic

DRAW = np.random.default_rng(5)


@pytest.fixture(scope="module", params=BACKBONES)
def halves(request, tmp_path_factory) -> tuple[Capture, Twin]:
    files, side = Files(request.param), GRID * PATCH[request.param]
    folder = files.save(tmp_path_factory.mktemp("dino_txt") / "m", texts=False)
    captured = vx.capture(vx.load_model(folder, device="cpu", size=side), picture(side, side), fit="squash")
    return captured, Twin(files, captured.input.tensor[0])


def test_patches_are_compared_with_the_second_half(halves):
    captured, twin = halves
    vector = DRAW.standard_normal(2 * WIDTH).astype(np.float32)
    first, second = torch.from_numpy(vector).double().chunk(2)
    right, wrong = twin.cosine_map(second), twin.cosine_map(first)
    for method, expected in {"dino_txt": right, "raw": right, "class_half": wrong}.items():
        result = vx.compute("text_map", captured, text=vector, method=method)
        np.testing.assert_allclose(result.values, expected, atol=1e-5)
    assert vx.compute("text_map", captured, text=vector).settings["method"] == "dino_txt"
    assert abs(np.corrcoef(right.flatten(), wrong.flatten())[0, 1]) < 0.9  # another map
    for method, alone, expected in (("dino_txt", [second, second], right), ("class_half", [first, first], wrong)):
        values = vx.compute("text_map", captured, text=torch.cat(alone), method=method).values
        np.testing.assert_allclose(values, expected, atol=1e-5)


def test_each_patch_takes_the_best_second_half(halves):
    captured, twin = halves
    vectors = DRAW.standard_normal((3, 2 * WIDTH)).astype(np.float32)
    maps = torch.stack([twin.cosine_map(torch.from_numpy(vector[WIDTH:]).double()) for vector in vectors])
    result = vx.compute("text_segmentation", captured, texts=list(vectors))
    np.testing.assert_array_equal(result.values, maps.argmax(0))


def test_the_last_block_of_the_head_in_other_ways(halves):
    captured, _ = halves
    vector = DRAW.standard_normal(2 * WIDTH).astype(np.float32)
    block = BlockArithmetic(captured, captured.depth - 1)
    tokens = block.plus_mlp(block.stream + block.projected(block.value))[len(captured.prefix_tokens) :]
    head = captured.model.module
    expected = F.cosine_similarity(head.vision_head.norm(tokens), torch.from_numpy(vector[WIDTH:])[None], dim=-1)
    values = vx.compute("text_map", captured, text=vector, method="maskclip").values
    np.testing.assert_allclose(values, expected.detach().reshape(GRID, GRID), atol=1e-5)


@torch.no_grad()
def test_the_score_of_a_block_takes_the_second_half(halves):
    captured, _ = halves
    vector = DRAW.standard_normal(2 * WIDTH).astype(np.float32)
    text = TextVector("text", vector)
    last = captured.residual_after(captured.depth - 1)
    mean = captured.model.module.vision_head.norm(last.mean(0))
    expected = F.cosine_similarity(mean, torch.from_numpy(vector[WIDTH:]), dim=0)
    assert float(score_of_block(captured, LikeText(text), last)) == pytest.approx(float(expected), abs=1e-6)


@pytest.mark.parametrize(
    ("method", "sentence"),
    [
        *((method, "Between the blocks of .* stands a norm") for method in ("clip_surgery", "gem")),
        *((method, "does not read a class token alone") for method in ("text_decomposition", "bimodal", "grad_eclip")),
        ("siglip_pooling", "has no pooling head"),
    ],
)
def test_what_has_no_meaning_for_two_halves(halves, method, sentence):
    captured, _ = halves
    with pytest.raises(UnsupportedError, match=sentence):
        vx.compute("text_map", captured, text=np.ones(2 * WIDTH), method=method)


@pytest.mark.parametrize("vector", [np.zeros(2 * WIDTH), np.full(2 * WIDTH, np.nan), np.ones(WIDTH)])
def test_odd_vectors_of_two_halves(halves, vector):
    captured, _ = halves
    with pytest.raises(SettingError, match=r"has no direction|both must come from one model"):
        vx.compute("text_map", captured, text=vector)
