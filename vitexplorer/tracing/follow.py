"""Follow a forward pass: its current block, and which of its calls are attention.

A `TorchFunctionMode` sees every torch function that an ordinary pass calls; no hook, flag or parameter of the module is
touched, and since a mode is local to its thread many threads can share one module. The parameter used last tells the
block. Attention is one call of `F.scaled_dot_product_attention`, or a product of queries and keys, a softmax over its
last axis, perhaps a dropout, and a product with the values, which some modules write transposed. A subclass decides
what becomes of each: it may keep the tensors, or return others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.overrides import TorchFunctionMode

from vitexplorer.core.types import BlockSite

_PARAMETER_AT = {F.linear: 1, F.conv2d: 1, F.layer_norm: 2, F.rms_norm: 2}
"""Operations whose weight tells the block, and the position of that argument"""
_SOFTMAXES = (F.softmax, torch.softmax, Tensor.softmax)
_PRODUCTS = (torch.matmul, torch.bmm, Tensor.matmul, Tensor.__matmul__, Tensor.bmm)
_ACTIVATIONS = (F.gelu, F.relu, F.silu)

_OPENED = FunctionType(
    F.multi_head_attention_forward.__code__,
    {**vars(F), "has_torch_function": lambda tensors: False},  # else the mode would get it as one call again
    argdefs=F.multi_head_attention_forward.__defaults__,
)
"""`F.multi_head_attention_forward`, whose inner calls a mode sees"""

_PRODUCT_OF_LETTERS = re.compile(
    r"(?P<outer>\w\w)(?P<row>\w)(?P<inner>\w),"
    r"(?P=outer)((?P<col>\w)(?P<feature>(?P=inner))->(?P=outer)(?P=row)(?P=col)|"
    r"(?P=inner)(?P<other>\w)->(?P=outer)(?P=row)(?P=other))"
)
"""An einsum of (batch, heads, queries, dim) with keys, or of (batch, heads, queries, keys) with values"""

AXES = (4, 5)
"""Axes of scores: (batch or windows, heads, queries, keys), with an axis of windows in some modules"""
OUTSIDE = -1
"""Stands for a block's number before, between and after the blocks"""

Function = Callable[..., Tensor]
Args = tuple[Any, ...]
Kwargs = dict[str, Any]
Factors = tuple[Tensor, Tensor]


class FollowedPass(TorchFunctionMode):
    """Follower of one forward pass; each pass needs its own.

    `block_of` gives the block of every parameter, by id, or `OUTSIDE`; `sites` are the blocks, needed where some of
    them compute attention in an unusual way. The methods without underscore are called for the operations of the pass.
    Each gets a torch function with its arguments and returns what the module receives; here that is the function's own
    result.
    """

    def __init__(self, block_of: Mapping[int, int], sites: Sequence[BlockSite] = ()):
        super().__init__()
        self.block = OUTSIDE
        """Current block of the pass"""
        self._block_of = block_of
        self._mixing = {block for block, site in enumerate(sites) if site.mixes}
        self._flat = {block for block, site in enumerate(sites) if site.flat}
        self._factors: dict[torch.Size, Factors] = {}  # by shape, of products that no softmax has read yet
        self._weights: Tensor | None = None  # of a softmax whose product with the values is still to come

    # ------------------------------------------------------------------------------------------ what it meets

    def parameter(self, function: Function, args: Args, kwargs: Kwargs) -> Tensor:
        """Run an operation with a parameter, in that parameter's block."""
        return function(*args, **kwargs)

    def kernel(self, function: Function, args: Args, kwargs: Kwargs) -> Tensor:
        """Run attention that is one call."""
        return function(*args, **kwargs)

    def product(self, function: Function, args: Args, kwargs: Kwargs) -> Tensor:
        """Run a product of two tensors, which a softmax may read."""
        return function(*args, **kwargs)

    def softmax(self, query: Tensor, key: Tensor, function: Function, args: Args, kwargs: Kwargs) -> Tensor:
        """Run the softmax of the scores, the first argument; `query` and `key` (..., keys, head dim) made them."""
        return function(*args, **kwargs)

    def mixture(self, mixed: Tensor | None, values: Tensor, of_values: Callable[[Tensor], Tensor]) -> Tensor:
        """Multiply attention weights and values.

        Args:
            mixed: the weights, where the module changed the softmax's output; else None.
            values: (..., keys, head dim).
            of_values: multiplies the weights with these or other values.

        Returns:
            (..., queries, head dim).
        """
        return of_values(values)

    def activation(self, function: Function, args: Args, kwargs: Kwargs) -> Tensor:
        """Run an activation function, such as that between the two layers of an MLP."""
        return function(*args, **kwargs)

    # ------------------------------------------------------------------------------------------ following

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        follow = self.FOLLOWED.get(function)  # one look-up: a pass calls hundreds of functions that do not matter
        return function(*args, **kwargs) if follow is None else follow(self, function, args, kwargs)

    def _follow_parameter(self, function: Function, args: Args, kwargs: Kwargs) -> Tensor:
        place = _PARAMETER_AT[function]
        weight = args[place] if len(args) > place else kwargs.get("weight")
        self.block = self._block_of.get(id(weight), self.block)
        return self.parameter(function, args, kwargs)

    def _follow_kernel(self, function: Function, args: Args, kwargs: Kwargs) -> Tensor:
        self._factors = {}
        return self.kernel(function, args, kwargs)

    def _follow_multi_head(self, function: Function, args: Args, kwargs: Kwargs) -> tuple[Tensor, Tensor | None]:
        with self:
            attended, _ = _OPENED(*args, **{**kwargs, "need_weights": False})
        return attended, function(*args, **kwargs)[1] if kwargs.get("need_weights", True) else None

    def _follow_softmax(self, function: Function, args: Args, kwargs: Kwargs) -> Tensor:
        dim = args[1] if len(args) > 1 else kwargs.get("dim")
        known = args[0].ndim in AXES or (args[0].ndim == 3 and self.block in self._flat)
        if not self._factors or dim not in (-1, args[0].ndim - 1) or not known:
            return function(*args, **kwargs)
        last = next(reversed(self._factors.values()))
        (query, key), self._factors = self._factors.get(args[0].shape, last), {}  # positions may be a product too
        self._weights = self.softmax(query, key.transpose(-2, -1), function, args, kwargs)
        return self._weights

    def _follow_dropout(self, function: Function, args: Args, kwargs: Kwargs) -> Tensor:
        out = function(*args, **kwargs)
        if self._weights is not None and args[0] is self._weights:
            self._weights = out
        return out

    def _follow_product(self, function: Function, args: Args, kwargs: Kwargs) -> Tensor:
        weights = self._weights
        if weights is not None and self._is_applied(args[0]):
            return self._mix(args[0], args[1], lambda values: function(args[0], values, *args[2:], **kwargs))
        if weights is not None and _is_transposed(args[1], weights):  # values^T A^T = (A values)^T
            return self._mix(weights, args[0].mT, lambda values: function(values.mT, *args[1:], **kwargs).mT).mT
        return self._multiplied((args[0], args[1]), self.product(function, args, kwargs))

    def _follow_einsum(self, function: Function, args: Args, kwargs: Kwargs) -> Tensor:
        letters = _PRODUCT_OF_LETTERS.fullmatch(str(args[0]).replace(" ", "")) if len(args) == 3 else None
        if letters is None:
            return function(*args, **kwargs)
        if letters["feature"]:  # bhid,bhjd->bhij
            return self._multiplied((args[1], args[2].mT), self.product(function, args, kwargs))
        if self._weights is None or not self._is_applied(args[1]):
            return function(*args, **kwargs)
        return self._mix(args[1], args[2], lambda values: function(args[0], args[1], values))

    def _follow_activation(self, function: Function, args: Args, kwargs: Kwargs) -> Tensor:
        return self.activation(function, args, kwargs)

    def _multiplied(self, factors: Factors, product: Tensor) -> Tensor:
        self._factors.pop(product.shape, None)  # so that the newest comes last
        self._factors[product.shape] = factors
        return product

    def _mix(self, weights: Tensor, values: Tensor, of_values: Callable[[Tensor], Tensor]) -> Tensor:
        mixed = None if weights is self._weights else weights
        self._weights = None
        return self.mixture(mixed, values, of_values)

    def _is_applied(self, factor: Tensor) -> bool:
        """Return True for the last softmax's output or, in a block that mixes it, for the mixture."""
        return factor is self._weights or (self.block in self._mixing and factor.shape == self._weights.shape)

    FOLLOWED: ClassVar[dict[Callable, Callable]] = {
        **dict.fromkeys(_PARAMETER_AT, _follow_parameter),
        **dict.fromkeys(_SOFTMAXES, _follow_softmax),
        **dict.fromkeys(_PRODUCTS, _follow_product),
        F.scaled_dot_product_attention: _follow_kernel,
        F.multi_head_attention_forward: _follow_multi_head,
        torch.einsum: _follow_einsum,
        F.dropout: _follow_dropout,
        **dict.fromkeys(_ACTIVATIONS, _follow_activation),
    }
    """Functions that matter for following a pass"""


def _is_transposed(tensor: Tensor, other: Tensor) -> bool:
    return (
        tensor.mT.shape == other.shape
        and tensor.mT.stride() == other.stride()
        and (tensor.data_ptr() == other.data_ptr())
    )
