"""Forward pass of a batch that computes head statistics while the attention is in the cache.

softmax(scale q k^T + bias) v is computed explicitly, a few images at a time, in place of the fused kernel, and the
weights serve the output and the statistics. The output equals the kernel's up to rounding. Other attention (mixed
heads, unusual layouts, very large matrices) runs as usual; the questions then compute their numbers from the captures.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from vitexplorer.capturing.capture import Capture, ModelInput
from vitexplorer.capturing.capture_batch import capture_inputs, capture_together
from vitexplorer.core.types import BlockSite
from vitexplorer.models.loading import LoadedModel
from vitexplorer.quantities.rollout import push_through, query_shares
from vitexplorer.survey.attention_numbers import LOG2_E, METRICS, ROWWISE, BlockPlaces, places_of
from vitexplorer.tracing.attention_call import WEIGHTS_AT_ONCE, AttentionCall, of_kernel
from vitexplorer.tracing.tap import AttentionTap

IN_CACHE = 1 << 18
"""Number of attention weights that are computed together, a megabyte"""
FAR_BELOW = -125.0
"""Lower bound of the exponent: 2 to it is 2e-38, and smaller numbers (of masked keys) are slow on many processors"""


class WatchedTap(AttentionTap):
    """Tap that computes attention itself and records head statistics, and the mean over heads if `keep_mean`."""

    def __init__(self, model: LoadedModel, sites: tuple[BlockSite, ...], batch: int, keep_mean: bool):
        """Prepare a pass of `batch` images."""
        super().__init__(model.block_of_parameter, sites=sites, parts=model.family.parts)
        self.numbers: dict[int, Tensor] = {}
        """Block -> statistics (metrics, images, heads)"""
        self.mean: dict[int, Tensor] = {}
        """Block -> attention averaged over heads, (images, windows, queries, keys)"""
        self._batch, self._keep_mean = batch, keep_mean
        self._places = [places_of(site, model.prefix_tokens, model.device) for site in sites]

    @property
    def has_seen_all(self) -> bool:
        """True if every block has statistics, and only one attention call."""
        return all(block in self.numbers and len(self.calls[block]) == 1 for block in range(len(self._places)))

    def kernel(self, function: Callable, args: tuple, kwargs: dict[str, Any]) -> Tensor:
        """Compute the attention of a kernel call explicitly."""
        call = of_kernel(*args, **kwargs)
        places = self._places_of(call.query, call.key)
        if places is None:
            return super().kernel(function, args, kwargs)
        self._keep(call)
        many, heads, tokens, dim = call.value.shape
        out = call.value.new_empty(many, tokens, heads, dim).transpose(1, 2)
        bias = None if call.bias is None else call.bias * LOG2_E

        def scores(part: slice, room: Tensor) -> None:
            query, key = call.query[part].flatten(0, 1), call.key[part].flatten(0, 1)
            flat = room.flatten(0, 1)
            torch.baddbmm(flat, query, key.mT, beta=0, alpha=call.scale * LOG2_E, out=flat)
            if bias is not None:
                room += bias[part] if bias.ndim == 4 and len(bias) > 1 else bias

        def use(part: slice, weights: Tensor) -> None:
            out[part] = (weights.flatten(0, 1) @ call.value[part].flatten(0, 1)).unflatten(0, (-1, heads))

        self._watch(places, heads, scores, use, may_hide=bias is not None)
        return out

    def softmax(self, query: Tensor, key: Tensor, function: Callable, args: tuple, kwargs: dict[str, Any]) -> Tensor:
        """Compute the softmax of attention explicitly."""
        scores = args[0]
        places = self._places_of(query, key)
        if places is None or kwargs.get("dtype") is not None or scores.shape[-2:] != (places.tokens, places.tokens):
            return super().softmax(query, key, function, args, kwargs)
        self._keep(AttentionCall(query, key, scores=scores))
        out = torch.empty_like(scores)

        def scaled(part: slice, room: Tensor) -> None:
            torch.mul(scores[part], LOG2_E, out=room)

        self._watch(places, scores.shape[1], scaled, lambda part, weights: None, out)
        return out

    def _places_of(self, query: Tensor, key: Tensor) -> BlockPlaces | None:
        """Return the places of the tokens, for attention of the usual layout and size; None for any other."""
        places = self._places[self.block] if self.block >= 0 else None
        if places is None or query.ndim != 4 or query.shape[:3] != key.shape[:3] or query.dtype != torch.float32:
            return None
        if query.shape[0] != self._batch * places.windows or query.shape[2] != places.tokens:
            return None
        return places if query.shape[1] * places.windows * places.tokens**2 <= WEIGHTS_AT_ONCE else None

    def _watch(
        self,
        places: BlockPlaces,
        heads: int,
        scores: Callable[[slice, Tensor], None],
        use: Callable[[slice, Tensor], None],
        out: Tensor | None = None,
        may_hide: bool = True,
    ) -> None:
        """Compute the weights and statistics of a block, a few images at a time.

        Args:
            places: places of the block's tokens.
            heads: number of heads.
            scores: writes the scores of a part of the windows, times log2 e, into a buffer: 2 ** x is several times
                faster than e ** x on some processors.
            use: receives the weights of each part.
            out: buffer for all weights, or None to discard them.
            may_hide: True if the scores may contain a mask.
        """
        windows, tokens, device = places.windows, places.tokens, places.rows.device
        step = min(self._batch, max(1, IN_CACHE // (heads * windows * tokens**2)))
        space = torch.empty(2, step * windows, heads, tokens, tokens, device=device)
        rows = torch.empty(len(ROWWISE), self._batch * windows, heads, tokens, device=device)
        distance = torch.empty(self._batch, heads, device=device)
        mean = torch.empty(self._batch * windows, tokens, tokens, device=device) if self._keep_mean else None
        for first in range(0, self._batch, step):
            images = slice(first, min(first + step, self._batch))
            part = slice(images.start * windows, images.stop * windows)
            shifted, weights = space[:, : part.stop - part.start]
            if out is not None:
                weights = out[part]
            scores(part, shifted)
            shifted -= shifted.amax(-1, keepdim=True)
            if may_hide:
                shifted.clamp_(min=FAR_BELOW)
            torch.exp2(shifted, out=weights)
            sums = weights.sum(-1)
            weights *= sums.reciprocal()[..., None]
            use(part, weights)
            if mean is not None:
                torch.mean(weights, 1, out=mean[part]) if heads > 1 else mean[part].copy_(weights[:, 0])
            places.take(weights, shifted, sums, rows[:, part], distance[images])
        self.numbers[self.block] = places.means(rows, distance)
        if mean is not None:
            self.mean[self.block] = mean.unflatten(0, (self._batch, windows))


def watched_captures(model: LoadedModel, inputs: Sequence[ModelInput], rollout: bool) -> list[Capture]:
    """Capture inputs like `capture_inputs`, with head statistics (and the rollout) in `Capture.tables` if possible."""
    taps: list[WatchedTap] = []

    def make(model: LoadedModel, sites: tuple[BlockSite, ...]) -> WatchedTap:
        taps.append(WatchedTap(model, sites, len(inputs), rollout))
        return taps[-1]

    captures = capture_together(model, inputs, make) if len(inputs) > 1 else None
    if captures is None:
        return capture_inputs(model, inputs)
    if taps[-1].has_seen_all:
        _note(captures, taps[-1], rollout)
    return captures


def _note(captures: Sequence[Capture], tap: WatchedTap, rollout: bool) -> None:
    depth, most = len(tap.numbers), max(block.shape[-1] for block in tap.numbers.values())
    heads = np.full((len(captures), len(METRICS), depth, most), np.nan)
    for block, numbers in tap.numbers.items():
        heads[:, :, block, : numbers.shape[-1]] = numbers.transpose(0, 1).cpu().numpy()
    for capture, table in zip(captures, heads, strict=True):
        capture.tables["heads"] = table
    if rollout and captures[0].model.family.shows_stream:
        for capture, shares in zip(captures, _rollouts(captures, tap), strict=True):
            capture.tables["rollout"] = shares


def _rollouts(captures: Sequence[Capture], tap: WatchedTap) -> np.ndarray:
    """Compute the rollout of the view `attention_rollout` at its defaults for every image, (images, patches)."""
    first = captures[0]
    query = "cls" if "cls" in first.prefix_tokens else "mean"
    shares = query_shares(first, query).expand(len(captures), -1)
    pushed = push_through(first, shares, lambda block: [(slice(None), tap.mean[block])], push=_push)
    return pushed[:, len(first.prefix_tokens) :].cpu().numpy()


def _push(shares: Tensor, pieces: Any) -> Tensor:
    """Return shares @ (0.5 A + 0.5 I) for each image's A, whose rows sum to 1; (images, windows, tokens)."""
    ((_, weights),) = pieces
    half = 0.5 * shares
    return half + (half[:, :, None] @ weights)[:, :, 0]
