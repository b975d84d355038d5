"""One attention call of a module: the arguments of its kernel or softmax, and the weights that follow from them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor

from vitexplorer.core.types import BlockSite

WEIGHTS_AT_ONCE = 1 << 24
"""Attention weights computed in one piece, 64 MiB of float32"""


@dataclass
class AttentionCall:
    """The arguments and the output of one attention call, axes (batch or windows, heads, tokens, head dim)."""

    query: Tensor | None
    key: Tensor | None
    """None, as `query`, where the scores alone are kept"""
    value: Tensor | None = None
    output: Tensor | None = None
    """Attention times values; kept only on request, as it can be computed"""
    bias: Tensor | None = None
    """Added to the scaled scores: mask, relative positions"""
    scale: float = 1.0
    scores: Tensor | None = None
    """Input of an explicit softmax: scale, bias and mask are already in it, and `query` may hold the scale"""
    mixed: Tensor | None = None
    """Weights that multiplied the values, where the module changed the output of its softmax"""

    @property
    def num_heads(self) -> int:
        """Number of attention heads."""
        return self.rows.shape[1]

    @property
    def rows(self) -> Tensor:
        """Scores where there are any, else queries: (windows, heads, queries, ...)."""
        return self.query if self.scores is None else self.scores

    @property
    def num_tokens(self) -> int:
        """Number of keys of each query."""
        return self.key.shape[-2] if self.scores is None else self.scores.shape[-1]

    @property
    def tensors(self) -> tuple[Tensor | None, ...]:
        """All tensors of the call but the output."""
        return self.query, self.key, self.value, self.bias, self.scores, self.mixed

    def weights(self, queries: slice | Tensor = slice(None)) -> Float[Tensor, "windows heads queries keys"]:
        """Compute the attention of the chosen query rows; each sums to 1 unless the module mixed it afterwards."""
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
        """Yield all weights, a few query rows at a time, so that the whole matrix is never in memory."""
        windows, heads, queries = self.rows.shape[:3]
        step = max(1, WEIGHTS_AT_ONCE // (windows * heads * self.num_tokens))
        for start in range(0, queries, step):
            rows = slice(start, start + step)
            yield rows, self.weights(rows)

    def attention_alone(self) -> AttentionCall:
        """Drop what the weights do not follow from, and copy queries and keys out of a tensor that holds more."""
        if self.scores is not None:
            return replace(self, query=None, key=None, value=None)
        return replace(self, query=_copied_out(self.query), key=_copied_out(self.key), value=None)

    def arranged(self, arrange: Callable[[Tensor], Tensor] | None) -> AttentionCall:
        """Bring every tensor to (windows, heads, tokens, dim); see `BlockSite.arrange`."""
        if arrange is None:
            return self
        tensors = {name: value for name, value in vars(self).items() if isinstance(value, Tensor)}
        return replace(self, **{name: arrange(value) for name, value in tensors.items()})

    def from_shares(self, shares: Float[Tensor, "windows queries"]) -> Float[Tensor, "windows heads keys"]:
        """Compute shares @ attention for each head: the attention of a mixture of queries."""
        return sum(torch.einsum("wq,whqk->whk", shares[:, rows], weights) for rows, weights in self.in_pieces())


def _copied_out(tensor: Tensor) -> Tensor:
    return tensor if tensor.untyped_storage().nbytes() <= tensor.nbytes else tensor.clone()


def view_layout(calls: Sequence[AttentionCall], site: BlockSite) -> tuple[AttentionCall, ...]:
    """Lay out a block's calls as the views read them; calls of single heads become one of all heads."""
    arranged = tuple(call.arranged(site.arrange) for call in calls)
    return (_heads_together(arranged),) if site.heads_apart and arranged else arranged


def _heads_together(calls: Sequence[AttentionCall]) -> AttentionCall:
    names = [name for name, value in vars(calls[0]).items() if isinstance(value, Tensor)]
    return replace(calls[0], **{name: torch.cat([getattr(call, name) for call in calls], dim=1) for name in names})


def held_bytes(tensors: Iterable[Tensor | None]) -> int:
    """Count the bytes that tensors keep alive; storage shared by several of them counts once."""
    storages = [tensor.untyped_storage() for tensor in tensors if tensor is not None]
    return sum({storage._cdata: storage.nbytes() for storage in storages}.values())


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
    """Make a call from the arguments of `F.scaled_dot_product_attention`, in its own signature."""
    bias = attn_mask
    if is_causal:
        bias = torch.ones(query.shape[-2], key.shape[-2], dtype=torch.bool, device=query.device).tril()
    if bias is not None and bias.dtype == torch.bool:
        bias = torch.zeros_like(bias, dtype=query.dtype).masked_fill(~bias, float("-inf"))
    if enable_gqa:
        groups = query.shape[1] // key.shape[1]
        key, value = key.repeat_interleave(groups, 1), value.repeat_interleave(groups, 1)
    return AttentionCall(query, key, value, bias=bias, scale=query.shape[-1] ** -0.5 if scale is None else scale)
