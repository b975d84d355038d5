"""AttnLRP and LibraGrad: slow twins, conservation, and the rule of every function."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils._pytree import tree_leaves

import vitexplorer as vx
from tests.helpers.reference_relevance import attn_lrp, patch_sums
from tests.helpers.small_models import capture_small
from tests.helpers.unfused_attention import with_fused_attention
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
"""Functions affine in their input, so that gradient times input is LRP's epsilon rule"""
READS = {torch.Tensor.shape.__get__, torch.Tensor.dtype.__get__, torch.Tensor.device.__get__, torch.Tensor.size}
"""Functions that query a tensor and make none"""


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
    captured, (pixels, parts) = capture_small("vit_not_square"), twin
    assert pixels.sum() + sum(parts.values()) == pytest.approx(float(captured.logits[TARGET]), abs=1e-5)
    held = vx.compute("attn_lrp", captured, target=TARGET).notes[-1].en
    assert held.startswith(f"The patches receive {pixels.sum():+.3f}".replace("-", "−"))


@pytest.mark.parametrize(("backward", "whole"), [("libra", 1), ("attn_lrp", 0.5)])
def test_a_product_of_values_conserves(backward, whole):
    """With zero scores attention is uniform: the values hold all of A V under LibraGrad and half under LRP."""
    draw = torch.Generator().manual_seed(0)
    value = torch.randn(1, 2, 5, 4, dtype=torch.float64, requires_grad=True, generator=draw)
    nothing = torch.zeros_like(value, requires_grad=True)
    with torch.enable_grad(), RuledPass(BACKWARD[backward]):
        out = F.scaled_dot_product_attention(nothing, nothing, value)
    given = torch.randn(out.shape, dtype=out.dtype, generator=draw)
    (slope,) = torch.autograd.grad(out, value, given)
    torch.testing.assert_close((slope * value).sum(), whole * (out * given).sum())


def quick_gelu(x: torch.Tensor) -> torch.Tensor:
    """Activation as CLIP writes it: a product with a gate."""
    return x * torch.sigmoid(1.702 * x)


RULES = [
    (F.layer_norm, lambda x: (x, (6,), torch.ones(6).double() + 1, None, 0.0)),
    (F.rms_norm, lambda x: (x, (6,), None, 0.0)),
    (F.group_norm, lambda x: (x.transpose(1, 2), 2, torch.ones(6).double(), None, 0.0)),
    (F.normalize, lambda x: (x, 2.0, -1)),
    (F.gelu, lambda x: (x,)),
    (F.silu, lambda x: (x,)),
    (quick_gelu, lambda x: (x,)),
    (torch.mul, lambda x: (x, x + 0)),
    (torch.matmul, lambda x: (x, x.transpose(1, 2))),
]


@pytest.mark.parametrize(("function", "arguments"), RULES, ids=lambda part: getattr(part, "__name__", ""))
@pytest.mark.parametrize("backward", ["attn_lrp", "libra"])
def test_each_rule_conserves_and_leaves_the_value_alone(function, arguments, backward):
    draw = torch.Generator().manual_seed(1)
    x = torch.randn(1, 5, 6, dtype=torch.float64, requires_grad=True, generator=draw)
    with torch.enable_grad(), RuledPass(BACKWARD[backward]):
        out = function(*arguments(x))
    assert torch.equal(out, function(*arguments(x)))
    given = torch.randn(out.shape, dtype=out.dtype, generator=draw)
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
    """Record the functions that receive something computed from the image."""

    met: set

    def __torch_function__(self, function, types, args=(), kwargs=None):
        given = [one for one in tree_leaves((args, kwargs)) if isinstance(one, torch.Tensor)]
        if any(one.requires_grad and not isinstance(one, nn.Parameter) for one in given):
            self.met.add(function)
        return super().__torch_function__(function, types, args, kwargs)


def test_every_function_that_meets_the_image_has_a_rule_or_is_affine():
    """Return records for small models that together call all functions of the ruled families."""
    softmaxes = set(backward_rules._SOFTMAXES)
    for key in ("vit", "hybrid", "parallel_rms", "siglip", "beit", "eva02", "rope_mixed", "swin", "swinv2"):
        captured, noting = capture_small(key), Noting(BACKWARD["attn_lrp"])
        noting.met = set()
        with torch.enable_grad(), noting:
            captured.model.module(captured.input.tensor.clone().requires_grad_())
        unknown = noting.met - set(BACKWARD["attn_lrp"]) - AFFINE - READS - softmaxes
        assert not {getattr(one, "__name__", str(one)) for one in unknown} - {"_assert"}, key


@pytest.mark.parametrize("key", ["vit", "swin", "swinv2", "beit", "eva02", "hybrid", "rms"])
def test_the_pass_forward_is_the_plain_one(key):
    captured = capture_small(key)
    for backward in ("libra", "attn_lrp"):
        with torch.no_grad(), ruled(backward):
            assert torch.equal(captured.run(captured.input.tensor)[0], captured.output[0])


# ------------------------------------------------------------------------------------------------ LibraGrad


def pruned(module: nn.Module) -> nn.Module:
    """Rewrite a float64 copy of a plain ViT as in LibraGrad's section 3.5, with constants in place."""
    twin = with_fused_attention(module, False).double()

    def norm(layer, x):
        centred = x - x.mean(-1, keepdim=True)
        return centred / (centred.var(-1, unbiased=False, keepdim=True) + layer.eps).sqrt().detach()

    for part in twin.modules():
        if isinstance(part, nn.LayerNorm):
            part.forward = lambda x, layer=part: layer.weight * norm(layer, x) + layer.bias
        if isinstance(part, nn.GELU):
            part.forward = lambda x: x * (0.5 * (1 + torch.erf(x / 2**0.5))).detach()
    for block in twin.blocks:
        block.attn.attn_drop.forward = lambda attention: attention.detach()
    return twin


def test_libragrad_is_the_gradient_of_the_network_with_its_gates_held():
    captured = capture_small("vit_not_square")
    grid, image = captured.grid(0), captured.input.tensor.double().requires_grad_()
    twin = pruned(captured.model.module)
    logit = twin(image)[0, TARGET]
    parameters = [one for name, one in twin.named_parameters() if "weight" not in name]
    slope, *others = torch.autograd.grad(logit, [image, *parameters], allow_unused=True, materialize_grads=True)
    expected = patch_sums((image * slope)[0].detach().numpy(), grid.rows, grid.cols, grid.patch_size)
    result = vx.compute("input_x_gradient", captured, target=TARGET, backward="libra")
    np.testing.assert_allclose(result.values, expected, rtol=0, atol=2e-4 * np.abs(expected).max())
    held = [float((one * by).sum().detach()) for one, by in zip(parameters, others, strict=True)]
    assert expected.sum() + sum(held) == pytest.approx(float(logit.detach()), abs=1e-9)  # complete: theorem 2


@pytest.mark.parametrize("view", ["generic_relevance", "grad_rollout", "grad_cam", "legrad", "input_x_gradient"])
def test_another_way_back_and_both_signs_are_settings(view):
    captured = capture_small("vit")
    plain, libra = (vx.compute(view, captured, target=TARGET, backward=name) for name in ("plain", "libra"))
    assert not np.allclose(plain.values, libra.values)
    np.testing.assert_array_equal(plain.values, vx.compute(view, captured, target=TARGET).values)
    if view != "input_x_gradient":
        both = vx.compute(view, captured, target=TARGET, sign="both")
        assert both.values.min() < 0 <= plain.values.min()
        assert "against it" in vx.reading(both)
