"""Tap of a forward pass: attention calls, and the residual stream around each block, without touching the model.

timm computes attention with `F.scaled_dot_product_attention`, which never shows its weights, or with an explicit
softmax. `AttentionTap` follows one ordinary forward pass (`follow.py` says how) and keeps the arguments of each
attention call and the sums between them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor

from vitexplorer.core.capture_protocol import PARTS, Part
from vitexplorer.core.types import BlockSite, Stream
from vitexplorer.tracing.attention_call import AttentionCall, of_kernel
from vitexplorer.tracing.follow import Args, FollowedPass, Function, Kwargs

_NORMS = {F.layer_norm, F.rms_norm}
SUMS = (torch.add, Tensor.add, Tensor.add_, Tensor.__add__, Tensor.__iadd__, Tensor.__radd__)

_USUAL = Stream()


def batch_first(tensor: Tensor, is_tokens_first: bool) -> Tensor:
    """View (tokens, batch, dim) as (batch, tokens, dim) in the same memory; return any other as it is."""
    return tensor.transpose(0, 1) if is_tokens_first else tensor


class AttentionTap(FollowedPass):
    """Follower that keeps each block's attention calls and the residual stream on both sides of it.

    The first operation in a block that uses a parameter reads the residual stream (in its norm, or in the projection
    to q, k and v where the norm comes last); the last sum in a block makes it, or the norm of that sum. Whatever the
    module's own axes, what is kept is (batch, tokens, dim), or a grid of tokens, and part of the graph of the pass.
    """

    def __init__(
        self,
        block_of: Mapping[int, int],
        keep_norms: bool = False,
        keep_outputs: bool = False,
        sites: Sequence[BlockSite] = (),
        parts: Collection[Part] = PARTS,
    ):
        """Choose what to keep: `normed`, the output of each attention call, and parts of each block."""
        super().__init__(block_of, sites)
        self.calls: dict[int, list[AttentionCall]] = {}
        self.read: dict[int, Tensor] = {}
        """Input of each block's first operation"""
        self.made: dict[int, Tensor] = {}
        """Output of each block: its last sum, or the norm of it"""
        self.normed: dict[int, Tensor] = {}
        """Output of each block's first norm; kept only on request"""
        self._keep_norms = keep_norms
        self._keep_attention = "attention" in parts
        self._keep_values = "values" in parts
        self._keep_stream = "stream" in parts
        self._keep_outputs = keep_outputs
        self._streams = {block: site.stream for block, site in enumerate(sites)}
        self._last: AttentionCall

    def without_graph(self) -> AttentionTap:
        """Copy the tap without a graph, outputs of attention calls and norms."""
        tap = AttentionTap(self._block_of)
        for block, calls in self.calls.items():
            tap.calls[block] = [replace(call.arranged(Tensor.detach), output=None) for call in calls]
        tap.read = {block: tensor.detach() for block, tensor in self.read.items()}
        tap.made = {block: tensor.detach() for block, tensor in self.made.items()}
        return tap

    def parameter(self, function: Function, args: Args, kwargs: Kwargs) -> Tensor:
        """Keep the input of a block's first operation and the output of its first norm."""
        stream = self._streams.get(self.block, _USUAL)
        if self._keep_stream and self.block not in self.read:
            stream_input = batch_first(args[0] if args else kwargs["input"], stream.reads_tokens_first)
            self.read[self.block] = stream_input
            if stream.reads_tokens_first:
                args = (stream_input.transpose(0, 1), *args[1:])
                kwargs = {name: value for name, value in kwargs.items() if name != "input"}
        out = function(*args, **kwargs)
        if function not in _NORMS:
            return out
        normed = batch_first(out, stream.gives_tokens_first)
        if self._keep_norms:
            self.normed.setdefault(self.block, normed)
        if self._keep_stream and stream.ends_with_norm:
            self.made[self.block] = normed
        return normed.transpose(0, 1) if stream.gives_tokens_first else out

    def _keep_sum(self, function: Function, args: Args, kwargs: Kwargs) -> Tensor:
        out = function(*args, **kwargs)
        if self._keep_stream and out.ndim > 2:  # a model that pools before its last norm adds up features, not tokens
            stream = self._streams.get(self.block, _USUAL)
            self.made[self.block] = batch_first(out, stream.gives_tokens_first)
        return out

    def kernel(self, function: Function, args: Args, kwargs: Kwargs) -> Tensor:
        """Keep the call with all its arguments."""
        out = function(*args, **kwargs)
        call = of_kernel(*args, **kwargs)
        call.output = out if self._keep_outputs else None
        self._keep(call)
        return out

    def softmax(self, query: Tensor, key: Tensor, function: Function, args: Args, kwargs: Kwargs) -> Tensor:
        """Keep the call with its scores; its values come later."""
        self._keep(AttentionCall(query, key, scores=args[0]))
        return function(*args, **kwargs)

    def mixture(self, mixed: Tensor | None, values: Tensor, of_values: Callable[[Tensor], Tensor]) -> Tensor:
        """Keep the values, and the output, of the last softmax."""
        out = of_values(values)
        call = self._last
        call.mixed = mixed
        call.value = values if self._keep_values else None
        call.output = out if self._keep_outputs else None
        return out

    def _keep(self, call: AttentionCall) -> None:
        if self._keep_attention:
            call = call if self._keep_values else call.attention_alone()
            self.calls.setdefault(self.block, []).append(call)
        self._last = call

    FOLLOWED: ClassVar[dict[Callable, Callable]] = {**FollowedPass.FOLLOWED, **dict.fromkeys(SUMS, _keep_sum)}
    """Sums are followed too"""
