"""The same forward pass with another backward pass: relevance rules where plain gradients mislead.

Gradients times inputs add up to the output only if a network is piecewise affine. Softmax, norms, gates and products
are not, and a transformer is made of them. Both methods here replace single functions of an ordinary pass by ones with
the same value and another slope (the operator SwapBackward of LibraGrad, appendix A.1); input times slope is the
relevance.

attn_lrp   AttnLRP (Achtibat et al. 2024, arXiv 2402.05602): products share their relevance evenly (uniform rule,
           equation 7), activations pass it on unchanged (identity rule, equation 9), norms keep their divisor (section
           3.3.3), softmax is expanded to first order at its input (equation 13), which is its gradient, and linear
           layers have the epsilon rule with a vanishing epsilon, which is their gradient
libra      LibraGrad (Mehri et al. 2025, arXiv 2411.16760, section 3.5): attention after softmax, the gate of an
           activation and the divisor of a norm are constants; each side of a product gets half

In both methods parameters are constants, whatever they go through, so a product with a parameter needs no rule.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_map

from vitexplorer.controls import Choice
from vitexplorer.core.text import Text

Rule = Callable[..., Tensor]
"""(torch function, its arguments) -> the function's value, with another slope"""


class SwapBackward(torch.autograd.Function):
    """Operation with the value of one tensor and the slope of another."""

    @staticmethod
    def forward(ctx, value: Float[Tensor, "*shape"], slope_of: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
        """Return the value."""
        return value.clone()

    @staticmethod
    def backward(ctx, gradient: Float[Tensor, "*shape"]) -> tuple[None, Float[Tensor, "*shape"]]:
        """Pass the whole gradient to the tensor that gives the slope."""
        return None, gradient


def swapped(value: Tensor, slope_of: Tensor) -> Tensor:
    """Return `value`, which acts as `slope_of` in the backward pass."""
    return SwapBackward.apply(value.detach(), slope_of)


def scaled(tensor: Float[Tensor, "*shape"], share: float) -> Float[Tensor, "*shape"]:
    """Return the tensor, and let this share of its gradient through."""
    return swapped(tensor, share * tensor)


# ------------------------------------------------------------------------------------------ rules


def layer_norm(function, x, normalized_shape, weight=None, bias=None, eps=1e-5) -> Tensor:
    """Normalise with a constant divisor; the subtracted mean is not constant."""
    dims = tuple(range(-len(normalized_shape), 0))
    centred = x - x.mean(dims, keepdim=True)
    normed = centred / (centred.square().mean(dims, keepdim=True) + eps).sqrt().detach()
    affine = normed if weight is None else normed * weight
    return swapped(function(x, normalized_shape, weight, bias, eps), affine if bias is None else affine + bias)


def rms_norm(function, x, normalized_shape, weight=None, eps=None) -> Tensor:
    """Normalise with a constant divisor."""
    dims = tuple(range(-len(normalized_shape), 0))
    least = torch.finfo(x.dtype).eps if eps is None else eps
    normed = x / (x.square().mean(dims, keepdim=True) + least).sqrt().detach()
    return swapped(function(x, normalized_shape, weight, eps), normed if weight is None else normed * weight)


def group_norm(function, x, num_groups, weight=None, bias=None, eps=1e-5) -> Tensor:
    """Normalise several channels and all places together, with a constant divisor."""
    groups = x.unflatten(1, (num_groups, -1)).flatten(2)
    normed = layer_norm(F.layer_norm, groups, groups.shape[2:], eps=eps).reshape(x.shape)
    per_channel = (1, -1, *[1] * (x.ndim - 2))
    affine = normed if weight is None else normed * weight.reshape(per_channel)
    affine = affine if bias is None else affine + bias.reshape(per_channel)
    return swapped(function(x, num_groups, weight, bias, eps), affine)


def normalize(function, x, p=2.0, dim=1, eps=1e-12, out=None) -> Tensor:
    """Scale vectors to length one, with their length as a constant."""
    return swapped(function(x, p, dim, eps), x / x.norm(p, dim, keepdim=True).clamp_min(eps).detach())


def activation(function, x, *args, **kwargs) -> Tensor:
    """Compute f(x) = x * gate, with the gate as a constant."""
    with torch.no_grad():
        out = function(x, *args, **kwargs)
        gate = torch.where(x == 0, 0, out / x)
    return swapped(out, x * gate)


def product(function, one, other, **kwargs) -> Tensor:
    """Multiply, and give each side half of the gradient if both come from the image."""
    if _comes_from_image(one) and _comes_from_image(other):
        one, other = scaled(one, 0.5), scaled(other, 0.5)
    return function(one, other, **kwargs)


def _comes_from_image(factor: Any) -> bool:
    return isinstance(factor, Tensor) and factor.requires_grad


def shared_attention(function, query, key, value, *args, **kwargs) -> Tensor:
    """Compute softmax(q k) v in one call: half of the relevance to v, a quarter each to q and k."""
    return function(scaled(query, 0.25), scaled(key, 0.25), scaled(value, 0.5), *args, **kwargs)


def constant_attention(function, query, key, value, *args, **kwargs) -> Tensor:
    """Compute softmax(q k) v in one call, with the attention as a constant."""
    return function(query.detach(), key.detach(), value, *args, **kwargs)


def constant(function, *args, **kwargs) -> Tensor:
    """Call the function and pass no gradient back."""
    return function(*args, **kwargs).detach()


_SOFTMAXES = (F.softmax, torch.softmax, Tensor.softmax)
_GATES = (torch.sigmoid, Tensor.sigmoid, F.sigmoid)
_BOTH: dict[Callable, Rule] = {
    F.layer_norm: layer_norm,
    F.rms_norm: rms_norm,
    F.group_norm: group_norm,
    F.normalize: normalize,
    **dict.fromkeys((F.gelu, F.silu, F.relu), activation),
    **dict.fromkeys((torch.mul, Tensor.mul, Tensor.__mul__), product),
    **dict.fromkeys((torch.matmul, Tensor.matmul, Tensor.__matmul__, torch.bmm), product),
}
BACKWARD: Mapping[str, Mapping[Callable, Rule]] = {
    "plain": {},
    "libra": {
        **_BOTH,
        F.scaled_dot_product_attention: constant_attention,
        **dict.fromkeys((*_SOFTMAXES, *_GATES), constant),
    },
    "attn_lrp": {**_BOTH, F.scaled_dot_product_attention: shared_attention, **dict.fromkeys(_GATES, activation)},
}
"""Backward passes by name; "plain" is the gradient itself"""
BACKWARD_PASS = Choice(
    "backward",
    Text("Backward pass", "反向传播"),
    (("plain", Text("gradient", "梯度")), ("libra", Text("LibraGrad", "LibraGrad"))),
)
"""Control that chooses between the gradient and LibraGrad's"""


class RuledPass(TorchFunctionMode):
    """Replaces functions that have a rule. Enter other modes that follow the pass after this one."""

    def __init__(self, rules: Mapping[Callable, Rule]):
        super().__init__()
        self._rules = rules

    def __torch_function__(self, function, types, args=(), kwargs=None):
        args, kwargs = tree_map(_without_parameters, (tuple(args), kwargs or {}))
        rule = self._rules.get(function)
        return function(*args, **kwargs) if rule is None else rule(function, *args, **kwargs)


def _without_parameters(argument: Any) -> Any:
    return argument.detach() if isinstance(argument, nn.Parameter) else argument


def ruled(backward: str) -> AbstractContextManager:
    """Return a context in which a pass gets the named backward pass."""
    return nullcontext() if backward == "plain" else RuledPass(BACKWARD[backward])
