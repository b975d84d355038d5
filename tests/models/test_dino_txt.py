"""Image half of dino.txt against a slow twin, and every view on it, for both backbones."""

from __future__ import annotations

import copy
import pickle
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
import torch

import vitexplorer as vx
from tests.helpers.reference_dino_txt import Twin
from tests.helpers.small_dino_txt import (
    BACKBONES,
    DEPTH,
    GRID,
    HEAD_DEPTH,
    HEAD_HIDDEN,
    PATCH,
    REGISTERS,
    WIDTH,
    Files,
    Release,
)
from tests.helpers.small_models import attention_outputs, picture
from vitexplorer.capturing.capture import Capture
from vitexplorer.models.outline import outline
from vitexplorer.views import VIEWS, refusal

REFUSED = {
    "before_after",  # nothing is changed
    "caption",  # there is no captioner
    "logit_attribution",
    "logit_lens",  # there is no classifier
    "mae_reconstruction",
    "relative_position_bias",
}
BY_TARGET = ("attn_lrp", "generic_relevance", "grad_rollout", "integrated_gradients", "legrad", "occlusion")
TARGETS = ("patch 1,2", "patch 1,2 vs 3,0", "region 0.0+1.1", "text: a red gear")

each_release = pytest.mark.parametrize("release", BACKBONES)


@cache
def captured(release: Release, projection: int | None = None) -> tuple[Files, Capture]:
    files, side = Files(release, projection=projection), PATCH[release] * GRID
    with TemporaryDirectory() as folder:
        model = vx.load_model(files.save(Path(folder) / "m", texts=False), device="cpu", size=side)
    return files, vx.capture(model, picture(side, side), fit="squash")


@each_release
@pytest.mark.parametrize("projection", [None, 48])
def test_the_image_is_that_of_the_twin(release, projection):
    files, capture = captured(release, projection)
    twin = Twin(files, capture.input.tensor[0])
    vector = capture.joint_embedding.double()
    assert len(vector) == 2 * (projection or WIDTH)
    torch.testing.assert_close(vector / vector.norm(), twin.vector, rtol=0, atol=1e-5)
    family, module = capture.model.family, capture.model.module
    last = capture.residual_after(capture.depth - 1)[None]
    torch.testing.assert_close(family.final_norm(module, last)[0].double(), twin.tokens, rtol=0, atol=1e-5)
    torch.testing.assert_close(capture.embedding, capture.output[0])
    assert torch.equal(module(capture.input.tensor), capture.output)


@each_release
def test_the_head_reads_the_normed_tokens_of_the_backbone_with_registers(release):
    files, capture = captured(release)
    assert [site.name for site in capture.sites] == [
        *(f"blocks.{n}" for n in range(DEPTH)),
        *(f"vision_head.blocks.{n}" for n in range(HEAD_DEPTH)),
    ]
    assert capture.prefix_tokens == ("cls", "reg1", "reg2", "reg3", "reg4")
    twin = Twin(files, capture.input.tensor[0])
    torch.testing.assert_close(capture.residual(DEPTH).double(), twin.of_backbone, rtol=0, atol=1e-5)
    assert not torch.allclose(capture.residual_after(DEPTH - 1), capture.residual(DEPTH), atol=0.1)
    for block, output in enumerate(attention_outputs(capture)):
        torch.testing.assert_close(capture.attention(block) @ capture.call(block).value[0], output[0])


@each_release
def test_every_view_answers_or_says_why_not(release):
    _, capture = captured(release)
    assert {view for view in VIEWS if refusal(view, capture)} == REFUSED
    texts = {"text": np.arange(1, 2 * WIDTH + 1), "texts": np.eye(2, 2 * WIDTH)}
    for view in set(VIEWS) - REFUSED:
        own = {control.name for control in VIEWS[view].controls}
        values = np.asarray(vx.compute(view, capture, **{name: texts[name] for name in texts if name in own}).values)
        assert values.dtype.kind != "f" or np.isfinite(values).all(), view


@each_release
def test_targets_of_the_vector_and_of_patches(release, tmp_path):
    side = PATCH[release] * GRID
    model = vx.load_model(Files(release).save(tmp_path / "m"), device="cpu", size=side)
    capture = vx.capture(model, picture(side, side), fit="squash")
    for target in TARGETS:
        for view in BY_TARGET:
            values = vx.compute(view, capture, target=target).values
            assert np.isfinite(values).all()
            assert values.any()


@each_release
def test_copies_and_the_callers_random_numbers(release):
    files, capture = captured(release)
    before = torch.get_rng_state()
    with TemporaryDirectory() as folder:
        vx.load_model(files.save(Path(folder) / "m", texts=False), device="cpu")
    assert torch.equal(torch.get_rng_state(), before)
    for copied in (copy.deepcopy(capture.model), pickle.loads(pickle.dumps(capture.model))):
        assert torch.equal(copied.module(capture.input.tensor), capture.output)


@each_release
def test_the_head_counts_as_the_last_blocks(release):
    _, capture = captured(release)
    module = capture.model.module
    parts = outline(module)
    assert parts.blocks == tuple(site.name for site in capture.sites)
    assert parts.leading == {DEPTH: ("norm",)}
    assert parts.place("norm.weight") == DEPTH
    assert parts.place("vision_head.norm.weight") == len(parts.blocks)
    counted, costs = vx.compute("parameters", capture), vx.compute("cost", capture)
    assert counted.total == sum(parameter.numel() for parameter in module.parameters())
    last = f"block {DEPTH + HEAD_DEPTH - 1}"
    tokens, pairs = 1 + REGISTERS + GRID**2, (1 + REGISTERS + GRID**2) ** 2
    products = 4 * tokens * WIDTH**2 + 3 * tokens * WIDTH * HEAD_HIDDEN + 2 * pairs * WIDTH
    assert dict(zip(costs.parts, costs.values.tolist(), strict=True))[last] == products
    assert last in counted.parts


@pytest.mark.parametrize("projection", [None, 48])
def test_a_classifier_reads_the_whole_vector(projection):
    _, capture = captured("dinov2", projection)
    tuned = vx.attach(capture.model, "linear", num_classes=3)
    assert tuned.module(capture.input.tensor).shape == (1, 3)
    assert tuned.module.head.in_features == 2 * (projection or WIDTH)


def test_another_size(tmp_path):
    model = vx.load_model(Files("dinov2").save(tmp_path / "m", texts=False), device="cpu", size=(42, 70))
    capture = vx.capture(model, picture(42, 70), fit="squash")
    assert {(site.grid.rows, site.grid.cols) for site in capture.sites} == {(3, 5)}
    vector = np.arange(1, 2 * WIDTH + 1)
    assert vx.compute("text_map", capture, text=vector).values.shape == (3, 5)


def test_no_single_token_is_read_in_place_of_both_halves():
    _, capture = captured("dinov2")
    family, module = capture.model.family, capture.model.module
    assert family.readings(module) == (family.own_reading(module),) == ("own",)
    last = capture.residual_after(capture.depth - 1)[None]
    assert torch.equal(family.read_out(module, last, "own"), capture.output)
