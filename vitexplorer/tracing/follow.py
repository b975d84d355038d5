"""Follow a forward pass: where it is, and which of its calls are attention.

A `TorchFunctionMode` sees every torch function that an ordinary pass calls; no hook, flag or parameter of the module is
touched, and being local to its thread it lets many threads share one module. The parameter that was used last says in
which block the pass is. Attention is one call of `F.scaled_dot_product_attention`, or a product of queries and keys, a
softmax of it over the last of its axes, perhaps a dropout, and a product with the values, which some modules
write transposed. Whoever follows a pass says what becomes of each: it may keep what it sees, or answer otherwise.
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
"""operations whose weight tells where the pass is, and which argument it is"""
_SOFTMAXES = (F.softmax, torch.softmax, Tensor.softmax)
_PRODUCTS = (torch.matmul, torch.bmm, Tensor.matmul, Tensor.__matmul__, Tensor.bmm)
_ACTIVATIONS = (F.gelu, F.relu, F.silu)

_OPENED = FunctionType(
    F.multi_head_attention_forward.__code__,
    {**vars(F), "has_torch_function": lambda tensors: False},  # it would be handed to the mode as one call again
    argdefs=F.multi_head_attention_forward.__defaults__,
)
"""`F.multi_head_attention_forward`, whose inner calls a mode sees"""

_PRODUCT_OF_LETTERS = re.compile(
    r"(?P<outer>\w\w)(?P<row>\w)(?P<inner>\w),"
    r"(?P=outer)((?P<col>\w)(?P<feature>(?P=inner))->(?P=outer)(?P=row)(?P=col)|"
    r"(?P=inner)(?P<other>\w)->(?P=outer)(?P=row)(?P=other))"
)
"""an einsum of (batch, heads, queries, dim) with keys, or of (batch, heads, queries, keys) with values"""

AXES = (4, 5)
"""of scores: (batch or windows, heads, queries, keys), some modules have the windows before or after the heads"""
OUTSIDE = -1
"""in place of a block's number: before, between and after the blocks"""

Function = Callable[..., Tensor]
Args = tuple[Any, ...]
Kwargs = dict[str, Any]
Factors = tuple[Tensor, Tensor]


class FollowedPass(TorchFunctionMode):
    """Follows one forward pass; each pass needs its own. The methods without underscore are called for what it meets:

    each is given a torch function with its arguments and returns what the module gets; here that is the answer of the
    function itself.
    """

    def __init__(self, block_of: Mapping[int, int], sites: Sequence[BlockSite] = ()):
        """What is known of the module.

        Args:
            block_of: id of every parameter -> number of its block, or `OUTSIDE`.
            sites: the blocks, where some of them write their attention in a way of their own.
        """
        super().__init__()
        self.block = OUTSIDE
        """where the pass is"""
        self._block_of = block_of
        self._mixing = {block for block, site in enumerate(sites) if site.mixes}
        self._flat = {block for block, site in enumerate(sites) if site.flat}
        self._factors: dict[torch.Size, Factors] = {}  # of the products that no softmax has read, by their shape
        self._weights: Tensor | None = None  # of a softmax that has not met its values

    # ------------------------------------------------------------------------------------------ what it meets

    def parameter(self, function: Function, args: Args, kwargs: Kwargs) -> Tensor:
        """An operation with a parameter, in the block that the parameter is of."""
        return function(*args, **kwargs)

    def kernel(self, function: Function, args: Args, kwargs: Kwargs) -> Tensor:
        """Attention in one call."""
        return function(*args, **kwargs)

    def product(self, function: Function, args: Args, kwargs: Kwargs) -> Tensor:
        """A product of two tensors, which a softmax may read."""
        return function(*args, **kwargs)

    def softmax(self, query: Tensor, key: Tensor, function: Function, args: Args, kwargs: Kwargs) -> Tensor:
        """Attention's softmax of the scores, the first argument; `query` and `key` (..., keys, head dim) made them."""
        return function(*args, **kwargs)

    def mixture(self, mixed: Tensor | None, values: Tensor, of_values: Callable[[Tensor], Tensor]) -> Tensor:
        """The attention's weights times the values, (..., queries, head dim).

        Args:
            mixed: what multiplies the values, where it is no longer what the softmax gave.
            values: (..., keys, head dim).
            of_values: the product with them, or with others.
        """
        return of_values(values)

    def activation(self, function: Function, args: Args, kwargs: Kwargs) -> Tensor:
        """The function between the two layers of an MLP, or another of its kind."""
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
            self._weights, mixed = None, None if args[0] is weights else args[0]
            return self.mixture(mixed, args[1], lambda values: function(args[0], values, *args[2:], **kwargs))
        if weights is not None and _is_transposed(args[1], weights):  # values^T A^T = (A values)^T
            self._weights = None
            return self.mixture(None, args[0].mT, lambda values: function(values.mT, *args[1:], **kwargs).mT).mT
        return self._multiplied((args[0], args[1]), self.product(function, args, kwargs))

    def _follow_einsum(self, function: Function, args: Args, kwargs: Kwargs) -> Tensor:
        meant = _PRODUCT_OF_LETTERS.fullmatch(str(args[0]).replace(" ", "")) if len(args) == 3 else None
        if meant is None:
            return function(*args, **kwargs)
        if meant["feature"]:  # bhid,bhjd->bhij
            return self._multiplied((args[1], args[2].mT), self.product(function, args, kwargs))
        if self._weights is None or not self._is_applied(args[1]):
            return function(*args, **kwargs)
        mixed = None if args[1] is self._weights else args[1]
        self._weights = None
        return self.mixture(mixed, args[2], lambda values: function(args[0], args[1], values))

    def _follow_activation(self, function: Function, args: Args, kwargs: Kwargs) -> Tensor:
        return self.activation(function, args, kwargs)

    def _multiplied(self, factors: Factors, product: Tensor) -> Tensor:
        self._factors.pop(product.shape, None)  # the last one stands last
        self._factors[product.shape] = factors
        return product

    def _is_applied(self, factor: Tensor) -> bool:
        """Whether this is what the last softmax gave, or in a block that mixes it what has become of it."""
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
    """the functions that matter"""


def _is_transposed(tensor: Tensor, other: Tensor) -> bool:
    return (
        tensor.mT.shape == other.shape
        and tensor.mT.stride() == other.stride()
        and (tensor.data_ptr() == other.data_ptr())
    )
