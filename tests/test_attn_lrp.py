"""AttnLRP: a slow twin that propagates relevance rule by rule, what is conserved, and every function with its rule."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils._pytree import tree_leaves

import vitexplorer as vx
from tests.reference_relevance import attn_lrp, patch_sums
from tests.small_models import capture_small
from vitexplorer.quantities import backward_rules
from vitexplorer.quantities.backward_rules import BACKWARD, RuledPass, ruled

TARGET = 3
AFFINE = {
    *(getattr(torch.Tensor, name) for name in (
        "__getitem__", "__setitem__", "add", "sub", "div", "mean", "neg", "chunk", "contiguous", "expand", "flatten",
        "permute", "reshape", "reshape_as", "repeat_interleave", "to", "type_as", "transpose", "unbind", "unsqueeze",
        "view", "float", "masked_fill", "clone",
    )),
    torch.cat, torch.stack, torch.roll, torch.functional.split, F.linear, F.conv2d, F.pad, F.dropout, F.batch_norm,
    F.max_pool2d,
}  # fmt: skip
"""functions that are affine where their input stands, so that gradient times input is LRP's epsilon rule"""
READS = {torch.Tensor.shape.__get__, torch.Tensor.dtype.__get__, torch.Tensor.device.__get__, torch.Tensor.size}
"""what asks a tensor something and makes none"""


@pytest.fixture(scope="module")
def twin() -> tuple[np.ndarray, dict[str, float]]:
    captured = capture_small("vit_not_square")
    return attn_lrp(captured.model.module, captured.input.tensor, TARGET)


def test_it_is_the_papers_rules_one_by_one(twin):
    captured = capture_small("vit_not_square")
    grid, (pixels, _) = captured.grid(0), twin
    expected = patch_sums(pixels, grid.rows, grid.cols, grid.patch_size)
    values = vx.compute("attn_lrp", captured, target=TARGET).values
    np.testing.assert_allclose(values, expected, rtol=0, atol=2e-4 * np.abs(expected).max())


def test_what_patches_and_other_parts_hold_is_the_logit(twin):
    """Rule by rule relevance is conserved: pixels, biases, softmax, positions and prefix tokens hold all of it."""
    captured, (pixels, kept) = capture_small("vit_not_square"), twin
    assert pixels.sum() + sum(kept.values()) == pytest.approx(float(captured.logits[TARGET]), abs=1e-5)
    held = vx.compute("attn_lrp", captured, target=TARGET).notes[-1].en
    assert held.startswith(f"The patches hold {pixels.sum():+.3f}".replace("-", "−"))


@pytest.mark.parametrize(("backward", "whole"), [("libra", 1), ("attn_lrp", 0.5)])
def test_a_product_of_values_conserves(backward, whole):
    """Attention is even here, its scores zero: the values hold all of A V under LibraGrad and half by LRP."""
    torch.manual_seed(0)
    value = torch.randn(1, 2, 5, 4, dtype=torch.float64, requires_grad=True)
    nothing = torch.zeros_like(value, requires_grad=True)
    with torch.enable_grad(), RuledPass(BACKWARD[backward]):
        out = F.scaled_dot_product_attention(nothing, nothing, value)
    given = torch.randn_like(out)
    (slope,) = torch.autograd.grad(out, value, given)
    torch.testing.assert_close((slope * value).sum(), whole * (out * given).sum())


RULES = [
    (F.layer_norm, lambda x: (x, (6,), torch.ones(6).double() + 1, None, 0.0)),
    (F.rms_norm, lambda x: (x, (6,), None, 0.0)),
    (F.group_norm, lambda x: (x.transpose(1, 2), 2, torch.ones(6).double(), None, 0.0)),
    (F.normalize, lambda x: (x, 2.0, -1)),
    (F.gelu, lambda x: (x,)),
    (F.silu, lambda x: (x,)),
    (torch.mul, lambda x: (x, x + 0)),
    (torch.matmul, lambda x: (x, x.transpose(1, 2))),
]


@pytest.mark.parametrize(("function", "arguments"), RULES, ids=lambda part: getattr(part, "__name__", ""))
@pytest.mark.parametrize("backward", ["attn_lrp", "libra"])
def test_each_rule_conserves_and_leaves_the_value_alone(function, arguments, backward):
    torch.manual_seed(1)
    x = torch.randn(1, 5, 6, dtype=torch.float64, requires_grad=True)
    with torch.enable_grad(), RuledPass(BACKWARD[backward]):
        out = function(*arguments(x))
    assert torch.equal(out, function(*arguments(x)))
    given = torch.randn_like(out)
    (slope,) = torch.autograd.grad(out, x, given)
    torch.testing.assert_close((slope * x).sum(), (out * given).sum())


def test_softmax_is_expanded_to_first_order_or_held():
    x = torch.tensor([[1.0, 2.0, 4.0]], requires_grad=True)
    with torch.enable_grad(), RuledPass(BACKWARD["attn_lrp"]):
        free = x.softmax(-1)
    s = free.detach()
    (slope,) = torch.autograd.grad(free[0, 2], x)
    torch.testing.assert_close(slope, s * (torch.tensor([[0.0, 0, 1]]) - s[0, 2]))
    with torch.enable_grad(), RuledPass(BACKWARD["libra"]):
        assert not x.softmax(-1).requires_grad


class Noting(RuledPass):
    """Notes the functions that are given something made from the image."""

    met: set

    def __torch_function__(self, function, types, args=(), kwargs=None):
        given = [one for one in tree_leaves((args, kwargs)) if isinstance(one, torch.Tensor)]
        if any(one.requires_grad and not isinstance(one, nn.Parameter) for one in given):
            self.met.add(function)
        return super().__torch_function__(function, types, args, kwargs)


def test_every_function_that_meets_the_image_has_a_rule_or_is_affine():
    """Of the small models that together call all functions of the ruled families."""
    softmaxes = set(backward_rules._SOFTMAXES)
    for key in ("vit", "hybrid", "parallel_rms", "siglip", "beit", "eva02", "rope_mixed", "swin", "swinv2"):
        captured, noting = capture_small(key), Noting(BACKWARD["attn_lrp"])
        noting.met = set()
        assert captured.model.family.key in backward_rules.RULED
        with torch.enable_grad(), noting:
            captured.model.module(captured.input.tensor.clone().requires_grad_())
        unknown = noting.met - set(BACKWARD["attn_lrp"]) - AFFINE - READS - softmaxes
        assert not {getattr(one, "__name__", str(one)) for one in unknown} - {"_assert"}, key


@pytest.mark.parametrize("key", ["vit", "swin", "swinv2", "beit", "eva02", "hybrid", "rms"])
def test_the_pass_forward_is_the_plain_one(key):
    captured = capture_small(key)
    for backward in ("libra", "attn_lrp"):
        with torch.no_grad(), ruled(captured, backward):
            assert torch.equal(captured.run(captured.input.tensor)[0], captured.output[0])
