"""See the attention of a forward pass, and the residual stream on both sides of each block, without touching the model.

timm computes attention with `F.scaled_dot_product_attention`, which never shows its weights, or with an explicit
softmax. `AttentionTap` is a `TorchFunctionMode` around one ordinary forward pass: it sees every torch function the
pass calls, keeps the arguments of each attention call, and touches neither the module nor any global flag. Being a
mode it is local to its thread, so that many threads can share one module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor
from torch.overrides import TorchFunctionMode

WEIGHTS_AT_ONCE = 1 << 24
"""attention weights computed in one piece, 64 MiB of float32"""

# ------------------------------------------------------------------------------------------ one attention call


@dataclass
class AttentionCall:
    """The arguments and the output of one attention call, axes (batch or windows, heads, tokens, head dim)."""

    query: Tensor
    key: Tensor
    value: Tensor | None = None
    output: Tensor | None = None
    """attention times values; kept only when asked for, as it can be computed"""
    bias: Tensor | None = None
    """added to the scaled scores: mask, relative positions"""
    scale: float = 1.0
    scores: Tensor | None = None
    """what an explicit softmax read: scale, bias and mask are already in it, and `query` may hold the scale"""
    mixed: Tensor | None = None
    """what multiplied the values, where the module changed the answer of its softmax before it used it"""

    @property
    def num_heads(self) -> int:
        """Attention heads."""
        return self.query.shape[1]

    @property
    def num_tokens(self) -> int:
        """Keys of each query."""
        return self.key.shape[-2] if self.scores is None else self.scores.shape[-1]

    def weights(self, queries: slice | Tensor = slice(None)) -> Float[Tensor, "windows heads queries keys"]:
        """Attention of the chosen query rows; every row sums to 1 unless the module mixed it afterwards."""
        if self.mixed is not None:
            return self.mixed[:, :, queries]
        if self.scores is not None:
            return self.scores[:, :, queries].softmax(-1)
        scores = self.query[:, :, queries] @ self.key.transpose(-2, -1) * self.scale
        if self.bias is not None:
            rows = self.bias if self.bias.shape[-2] == 1 else self.bias[..., queries, :]
            scores = scores + rows
        return scores.softmax(-1)

    def in_pieces(self) -> Iterator[tuple[slice, Float[Tensor, "windows heads queries keys"]]]:
        """All weights, a few query rows at a time, so that the whole matrix never has to be in memory."""
        windows, heads, queries = (self.query if self.scores is None else self.scores).shape[:3]
        step = max(1, WEIGHTS_AT_ONCE // (windows * heads * self.num_tokens))
        for start in range(0, queries, step):
            rows = slice(start, start + step)
            yield rows, self.weights(rows)

    def arranged(self, arrange: Callable[[Tensor], Tensor] | None) -> AttentionCall:
        """The same call with every tensor brought to (windows, heads, tokens, dim); see `BlockSite.arrange`."""
        if arrange is None:
            return self
        tensors = {name: value for name, value in vars(self).items() if isinstance(value, Tensor)}
        return replace(self, **{name: arrange(value) for name, value in tensors.items()})

    def from_shares(self, shares: Float[Tensor, "windows queries"]) -> Float[Tensor, "windows heads keys"]:
        """shares @ attention for each head: where a mixture of queries looks."""
        return sum(torch.einsum("wq,whqk->whk", shares[:, rows], weights) for rows, weights in self.in_pieces())


def of_kernel(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> AttentionCall:
    """A call from the arguments of `F.scaled_dot_product_attention`, in its own signature."""
    bias = attn_mask
    if is_causal:
        bias = torch.ones(query.shape[-2], key.shape[-2], dtype=torch.bool, device=query.device).tril()
    if bias is not None and bias.dtype == torch.bool:
        bias = torch.zeros_like(bias, dtype=query.dtype).masked_fill(~bias, float("-inf"))
    if enable_gqa:
        groups = query.shape[1] // key.shape[1]
        key, value = key.repeat_interleave(groups, 1), value.repeat_interleave(groups, 1)
    return AttentionCall(query, key, value, bias=bias, scale=query.shape[-1] ** -0.5 if scale is None else scale)


# ------------------------------------------------------------------------------------------ the tap

PARAMETER_AT = {F.linear: 1, F.conv2d: 1, F.layer_norm: 2, F.rms_norm: 2}
"""operations whose weight tells where the pass is, and which argument it is"""
_NORMS = {F.layer_norm, F.rms_norm}
_SUMS = {torch.add, Tensor.add, Tensor.add_, Tensor.__add__, Tensor.__iadd__, Tensor.__radd__}
SOFTMAXES = {F.softmax, torch.softmax, Tensor.softmax}
PRODUCTS = {torch.matmul, torch.bmm, Tensor.matmul, Tensor.__matmul__, Tensor.bmm}

OUTSIDE = -1
"""in place of a block's number: before, between and after the blocks"""


class AttentionTap(TorchFunctionMode):
    """Keeps, for each block, its attention calls and the residual stream on both sides of it.

    No hook says where the pass is: the parameter that was used last does. The first operation in a block that uses a
    parameter reads the residual stream (in its norm, or in the projection to q, k and v where the norm comes last);
    the last sum in a block makes it.
    """

    def __init__(
        self,
        block_of: Mapping[int, int],
        keep_norms: bool = False,
        keep_stream: bool = True,
        keep_outputs: bool = False,
        mixing: frozenset[int] = frozenset(),
    ):
        """What to keep.

        Args:
            block_of: id of every parameter -> number of its block, or `OUTSIDE`.
            keep_norms: see `normed`.
            keep_stream: whether to keep `read` and `made`.
            keep_outputs: whether to keep the output of each attention call.
            mixing: the blocks that change their weights between softmax and values.
        """
        super().__init__()
        self.calls: dict[int, list[AttentionCall]] = {}
        self.read: dict[int, Tensor] = {}
        """what the first operation of each block reads"""
        self.made: dict[int, Tensor] = {}
        """the last sum of each block"""
        self.normed: dict[int, Tensor] = {}
        """what the first norm of each block gives; kept only when asked for"""
        self._keep_norms = keep_norms
        self._keep_stream = keep_stream
        self._keep_outputs = keep_outputs
        self._mixing = mixing
        self._block_of = block_of
        self._block = OUTSIDE
        self._product: tuple[Tensor, Tensor] | None = None  # the last q, k^T
        self._open: tuple[AttentionCall, Tensor] | None = None  # a softmax that has not met its values

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        out = function(*args, **kwargs)
        see = self._WATCHED.get(function)  # one look-up: a pass calls hundreds of functions that do not matter
        if see is not None:
            see(self, function, args, kwargs, out)
        return out

    def _see_parameter(self, function, args, kwargs, out: Tensor) -> None:
        place = PARAMETER_AT[function]
        weight = args[place] if len(args) > place else kwargs.get("weight")
        self._block = self._block_of.get(id(weight), self._block)
        if self._keep_stream and self._block not in self.read:
            self.read[self._block] = args[0] if args else kwargs["input"]
        if self._keep_norms and function in _NORMS:
            self.normed.setdefault(self._block, out)

    def _see_sum(self, function, args, kwargs, out: Tensor) -> None:
        if self._keep_stream and out.ndim > 2:  # a model that pools before its last norm adds up features, not tokens
            self.made[self._block] = out

    def _see_kernel(self, function, args, kwargs, out: Tensor) -> None:
        call = of_kernel(*args, **kwargs)
        call.output = self._kept_output(out)
        self._keep(call)

    def _see_softmax(self, function, args, kwargs, out: Tensor) -> None:
        dim = args[1] if len(args) > 1 else kwargs.get("dim")
        if self._product is None or dim not in (-1, args[0].ndim - 1) or args[0].ndim not in (4, 5):
            return
        query, key = self._product
        call = AttentionCall(query, key.transpose(-2, -1), scores=args[0])
        self._keep(call)
        self._open = (call, out)

    def _see_dropout(self, function, args, kwargs, out: Tensor) -> None:
        if self._open and args[0] is self._open[1]:
            self._open = (self._open[0], out)

    def _see_product(self, function, args, kwargs, out: Tensor) -> None:
        if self._open and self._is_applied(args[0]):
            call, weights = self._open
            call.mixed = None if args[0] is weights else args[0]
            call.value, call.output, self._open = args[1], self._kept_output(out), None
        elif self._open and _is_transposed(args[1], self._open[1]):  # values v^T: v^T A^T = (A v)^T
            call, _ = self._open
            call.value, call.output = args[0].transpose(-2, -1), self._kept_output(out.transpose(-2, -1))
            self._open = None
        else:
            self._product = (args[0], args[1])

    def _is_applied(self, weights: Tensor) -> bool:
        """Whether these weights are the last softmax, or in a block that mixes it what has become of it."""
        known = self._open[1]
        return weights is known or (self._block in self._mixing and weights.shape == known.shape)

    def _kept_output(self, out: Tensor) -> Tensor | None:
        return out if self._keep_outputs else None

    def _keep(self, call: AttentionCall) -> None:
        self.calls.setdefault(self._block, []).append(call)
        self._product = None

    _WATCHED: ClassVar[dict[Callable, Callable]] = {
        **dict.fromkeys(PARAMETER_AT, _see_parameter),
        **dict.fromkeys(_SUMS, _see_sum),
        **dict.fromkeys(SOFTMAXES, _see_softmax),
        **dict.fromkeys(PRODUCTS, _see_product),
        F.scaled_dot_product_attention: _see_kernel,
        F.dropout: _see_dropout,
    }


def _is_transposed(tensor: Tensor, other: Tensor) -> bool:
    return (
        tensor.mT.shape == other.shape
        and tensor.mT.stride() == other.stride()
        and (tensor.data_ptr() == other.data_ptr())
    )
