"""Batched captures: each equals the capture of its image alone."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

import vitexplorer as vx
from tests.helpers.small_families import CASES, load_case
from tests.helpers.small_models import CAPTURES, RECIPES, load_small, picture
from tests.helpers.thorough import later, quick
from vitexplorer.capturing.batch_cuts import Cut, cuts_of
from vitexplorer.capturing.capture import Capture, capture_input, prepare
from vitexplorer.capturing.capture_batch import capture_inputs
from vitexplorer.core.capture_protocol import PARTS
from vitexplorer.core.text import SettingError
from vitexplorer.models.images import ImageError
from vitexplorer.models.loading import LoadedModel

UNLIKE = [("vit", "squash"), ("beit", "squash"), ("dinov2_registers", "native"), ("parallel", "native")]
UNLIKE += [("swin_padded", "native"), ("swinv2", "squash")]
CONVOLVED = {"hybrid_deep": 3e-6}
"""Models whose rounding grows over 26 layers of convolutions, summed in another order in a batch"""
ROUGH = {"efficientformer_v2": 1e-3, "visformer": 2e-5, "maxvit_parallel": 2e-5}
"""Models with scores in the thousands and more convolutions: single passes round like this against float64 too"""


def tensors_of(captured: Capture) -> dict[tuple, Tensor]:
    """Return all tensors of a capture."""
    names = ("query", "key", "value", "bias", "scores", "mixed")
    result = {("output",): captured.output}
    for block in range(captured.depth):
        result |= {(kind, block): getattr(captured, kind).get(block) for kind in ("read", "made")}
        for at, call in enumerate(captured.calls[block]):
            result |= {(name, block, at): getattr(call, name) for name in names}
    return {place: tensor.double().clamp(min=-1e9) for place, tensor in result.items() if tensor is not None}


def check_each(model: LoadedModel, size: tuple[int, int], fit: str, within: float) -> None:
    images = [picture(*size, seed=seed) for seed in range(3)]
    for image, one in zip(images, vx.capture_batch(model, images, fit=fit), strict=True):
        alone = vx.capture(model, image, fit=fit)
        assert torch.equal(one.input.tensor, alone.input.tensor)
        assert one.provenance == alone.provenance
        expected, result = tensors_of(alone), tensors_of(one)
        assert result.keys() == expected.keys()
        for place, tensor in expected.items():
            assert result[place].shape == tensor.shape, place
            assert (result[place] - tensor).abs().max() <= within * tensor.abs().max(), place


@pytest.mark.parametrize("made", quick(CAPTURES, keep=UNLIKE))
def test_each_is_the_capture_of_its_image(made):
    key, fit = made
    model = load_small(key)
    size = RECIPES[key].native_size if fit == "native" else model.preprocessing.input_size
    check_each(model, size, fit, CONVOLVED.get(key, 1e-6))
    assert cuts_of(model, model.blocks(size), size, frozenset(PARTS)) is not None, "one after the other"


@pytest.mark.parametrize("key", [later(key) for key in CASES])
def test_each_is_the_capture_of_its_image_in_every_family(key):
    check_each(load_case(key), CASES[key].size, "squash", ROUGH.get(key, 5e-6))


@pytest.mark.parametrize("does", ["subtract their mean", "drop a token of many"])
def test_images_that_a_module_does_not_keep_apart_run_alone(does):
    """Module that subtracts 0.9 times the mean of the batch, or drops its last token in batches of more than two."""

    def mix(block, given):
        tokens = given[0]
        if does == "subtract their mean":
            return (tokens - tokens.mean(0) * 0.9,)
        return (tokens[:, : 17 - (len(tokens) > 2)],)

    small = load_small("vit")
    module = copy.deepcopy(small.module)
    module.blocks[1].register_forward_pre_hook(mix)
    model = replace(small, module=module)
    images = [picture(64, 64, seed=seed) for seed in range(3)]
    for image, one in zip(images, vx.capture_batch(model, images, fit="squash"), strict=True):
        assert torch.equal(one.output, vx.capture(model, image, fit="squash").output)
    if does == "subtract their mean":
        assert cuts_of(model, model.blocks((64, 64)), (64, 64), frozenset(PARTS)) is None


def test_native_images_of_one_size_go_together_and_come_back_in_their_order():
    sizes = [(64, 64), (64, 96), (64, 64), (32, 64)]
    images = [picture(*size, seed=seed) for seed, size in enumerate(sizes)]
    captures = vx.capture_batch(load_small("vit"), images, fit="native")
    assert [one.input.pixels.shape[:2] for one in captures] == sizes
    assert all(np.array_equal(one.input.pixels, image) for one, image in zip(captures, images, strict=True))
    assert captures[0].output.untyped_storage().data_ptr() == captures[2].output.untyped_storage().data_ptr()
    assert captures[0].nbytes > 1.3 * vx.capture(load_small("vit"), images[0], fit="native").nbytes
    with pytest.raises(SettingError, match="native"):
        vx.capture_batch(load_small("vit"), images, fit="native", size=64)


def test_an_image_that_cannot_be_read_is_an_error_of_its_own(tmp_path):
    model, good = load_small("vit"), picture(64, 64)
    images = [good, tmp_path / "missing.png", good]
    with pytest.raises(ImageError, match=r"missing\.png"):
        vx.capture_batch(model, images, fit="squash")
    first, error, last = vx.capture_batch(model, images, fit="squash", on_error="return")
    assert isinstance(error, ImageError)
    assert torch.equal(first.output, last.output)
    assert vx.capture_batch(model, []) == []


@pytest.mark.parametrize("key", ["vit", "swin"])
@pytest.mark.parametrize("keep", [(), "attention", "stream"])
def test_parts_of_a_batch_are_those_of_single_captures(key, keep):
    model = load_small(key)
    images = [picture(64, 64, seed) for seed in range(2)]
    for image, one in zip(images, vx.capture_batch(model, images, fit="squash", keep=keep), strict=True):
        expected = tensors_of(vx.capture(model, image, fit="squash", keep=keep))
        result = tensors_of(one)
        assert result.keys() == expected.keys()
        for place, tensor in expected.items():
            torch.testing.assert_close(result[place], tensor, rtol=0, atol=1e-5)


def test_a_tensor_of_another_shape_is_not_cut():
    cut = Cut(torch.Size([4, 2]), 0)
    assert [part.tolist() for part in cut.of(torch.arange(16).view(8, 2), 2)] == [
        [[0, 1], [2, 3], [4, 5], [6, 7]],
        [[8, 9], [10, 11], [12, 13], [14, 15]],
    ]
    assert cut.of(torch.zeros(8, 3), 2) is cut.of(torch.zeros(12, 2), 2) is None


def test_half_precision():
    """Captures in a batch equal single ones in bfloat16 too."""
    small = load_small("vit")
    model = replace(small, module=copy.deepcopy(small.module).bfloat16())
    given = [prepare(model, picture(64, 64, seed), fit="squash") for seed in range(2)]
    given = [replace(one, tensor=one.tensor.bfloat16()) for one in given]
    for one, together in zip(given, capture_inputs(model, given), strict=True):
        alone = capture_input(model, one)
        torch.testing.assert_close(together.attention(0), alone.attention(0), atol=0.02, rtol=0)
        assert together.logits.dtype == torch.bfloat16
