"""The classifier as an affine map of the residual stream: its norms keep the scale that they had for one stream.

A norm divides a token by its length (RMSNorm), or by its standard deviation after subtracting its mean (LayerNorm).
With the divisor fixed at its value for one stream, the rest (mean, gain, bias, pooling, classifier) is affine, so each
term of a sum has its own part in the result: the convention of direct logit attribution (Elhage et al. 2021,
"Handling Layer Normalization", https://transformer-circuits.pub/2021/framework). Everything is computed in float64.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_map

AffineMap = Callable[[Float[Tensor, "batch tokens dim"]], Float[Tensor, "batch classes"]]


class _Norms(TorchFunctionMode):
    """Mode in which norms record their divisors in a list, or take them one by one from an iterator."""

    def __init__(self, divisors: list[Tensor] | Iterator[Tensor]):
        super().__init__()
        self._divisors = divisors

    def __torch_function__(self, function, types, args=(), kwargs=None):
        args, kwargs = tree_map(_to_double, (tuple(args), kwargs or {}))
        if function is F.layer_norm:
            return self._layer_norm(*args, **kwargs)
        if function is F.rms_norm:
            return self._rms_norm(*args, **kwargs)
        return function(*args, **kwargs)

    def _layer_norm(self, x, normalized_shape, weight=None, bias=None, eps=1e-5) -> Tensor:
        centred = x - x.mean(-1, keepdim=True)
        normed = centred / self._divisor(centred, eps)
        normed = normed if weight is None else normed * weight
        return normed if bias is None else normed + bias

    def _rms_norm(self, x, normalized_shape, weight=None, eps=None) -> Tensor:
        normed = x / self._divisor(x, torch.finfo(torch.float32).eps if eps is None else eps)
        return normed if weight is None else normed * weight

    def _divisor(self, x: Tensor, eps: float) -> Tensor:
        if not isinstance(self._divisors, list):
            return next(self._divisors)
        self._divisors.append((x.square().mean(-1, keepdim=True) + eps).sqrt())
        return self._divisors[-1]


def _to_double(value: Any) -> Any:
    return value.double() if isinstance(value, Tensor) and value.is_floating_point() else value


def frozen_at(read_out: AffineMap, stream: Float[Tensor, "batch tokens dim"]) -> AffineMap:
    """Return `read_out` with its norms fixed at their divisors for `stream`; affine if only norms are not."""
    divisors: list[Tensor] = []
    with torch.no_grad(), _Norms(divisors):
        read_out(stream)

    def frozen(other: Float[Tensor, "batch tokens dim"]) -> Tensor:
        with torch.no_grad(), _Norms(iter(divisors)):
            return read_out(other)

    return frozen
