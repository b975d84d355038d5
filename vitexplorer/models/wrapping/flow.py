"""How the tokens of a wrapped module go through its blocks and become its answer: one pass more, each claim tried."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from vitexplorer.core.text import Text, UnsupportedError
from vitexplorer.core.types import Reading, Stream
from vitexplorer.models.wrapping.family import pooled
from vitexplorer.models.wrapping.module import Ending, WrappedModule, answer
from vitexplorer.models.wrapping.places import Places
from vitexplorer.tracing.follow import OUTSIDE, Args, Function, Kwargs
from vitexplorer.tracing.tap import AttentionTap, batch_first

_CLOSE = 1e-4
"""of the answer's largest number"""
_NORMS = (F.layer_norm, F.rms_norm)
_CHANGED = Text(
    "{block} changes its weights between softmax and values, so what multiplies the values cannot be shown.",
    "{block} 在 softmax 与值之间改变了权重，因此无法显示真正与值相乘的权重。",
)


class Run(AttentionTap):
    """A pass as `capture` makes it, and what comes after the blocks."""

    def __init__(self, module: nn.Module, blocks: tuple[str, ...], keep_outputs: bool = False):
        starts = [f"{block}." for block in blocks]
        named = list(module.named_parameters())
        place = {name: next((i for i, at in enumerate(starts) if name.startswith(at)), OUTSIDE) for name, _ in named}
        super().__init__(
            {id(parameter): place[name] for name, parameter in named}, keep_norms=True, keep_outputs=keep_outputs
        )
        self.last_norm: dict[int, Tensor] = {}
        """what the last norm of each block gives"""
        self.norms: list[str] = []
        """norms after the last block"""
        self.last_linear: tuple[str, Tensor] | None = None
        """the last linear layer after the blocks, and what it gives"""
        self._owner = {id(parameter): name.rpartition(".")[0] for name, parameter in named}
        self._depth = len(blocks)

    def parameter(self, function: Function, args: Args, kwargs: Kwargs) -> Tensor:
        """What comes after the blocks, by name."""
        out = super().parameter(function, args, kwargs)
        if function in _NORMS:
            self.last_norm[self.block] = out
        if self.block == OUTSIDE and len(self.calls) >= self._depth:
            weights = [owner for one in (*args, *kwargs.values()) if (owner := self._owner.get(id(one)))]
            if function in _NORMS and weights:
                self.norms.append(weights[0])
            elif function is F.linear and weights:
                self.last_linear = weights[0], out
        return out


class Flow:
    """What a pass over one image told of a module whose blocks are known."""

    @torch.no_grad()
    def __init__(self, module: WrappedModule, images: Float[Tensor, "batch channels height width"], places: Places):
        """Raises UnsupportedError for a block whose weights are changed after its softmax."""
        self._module, self._images, self._places = module, images, places
        run = Run(module, places.blocks)
        with _listening(module.get_submodule(places.blocks[-1])) as given, run:
            self.answer = module(images)
        for number, block in enumerate(places.blocks):
            if run.calls[number][0].value is None:
                raise UnsupportedError(_CHANGED.format(block=block))
        self._run, self._given = run, given
        self._depth = len(places.blocks)
        self._shape = (1, places.grid.num_prefix_tokens + places.grid.num_patches)

    @property
    def width(self) -> int:
        """Of a token."""
        return self._run.read[0].shape[-1]

    @property
    def streams(self) -> tuple[Stream, ...]:
        """How each block reads and gives tokens."""
        return tuple(
            Stream(
                reads_tokens_first=self._is_tokens_first(self._run.read.get(block)),
                gives_tokens_first=self._is_tokens_first(self._run.made.get(block)),
                ends_with_norm=self._hands_on(self._run.last_norm.get(block), block),
            )
            for block in range(self._depth)
        )

    @property
    def is_columnar(self) -> bool:
        """Whether blocks read tokens as (batch, tokens, dim) or (tokens, batch, dim), and norm and give them so."""
        blocks, axes = range(self._depth), (self._shape, self._shape[::-1])
        read, made = ([kept.get(block) for block in blocks] for kept in (self._run.read, self._run.made))
        normed = [(made[block], self._run.normed[block]) for block in blocks if block in self._run.normed]
        return all(one is not None and one.ndim == 3 and one.shape[:2] in axes for one in (*read, *made)) and all(
            sum_.shape[:2] == norm.shape[:2] for sum_, norm in normed
        )

    @property
    def gives_sums(self) -> bool:
        """Whether each block gives its last sum, or the norm of it: the next reads that, and the last gives it."""
        return self.is_columnar and all(
            stream.ends_with_norm or self._hands_on(self._run.made[block], block)
            for block, stream in enumerate(self.streams)
        )

    def _hands_on(self, given: Tensor | None, block: int) -> bool:
        """Whether this is what the next block reads, or what the last one gives."""
        is_last = block == self._depth - 1
        after = self._given.get("tokens") if is_last else self._run.read.get(block + 1)
        if given is None or after is None or {given.ndim, after.ndim} != {3}:
            return False
        one, other = (batch_first(tokens, self._is_tokens_first(tokens)) for tokens in (given, after))
        return one.shape == other.shape and torch.equal(one, other)

    def _is_tokens_first(self, tokens: Tensor | None) -> bool:
        return tokens is not None and tokens.ndim == 3 and tokens.shape[:2] == self._shape[::-1]

    @property
    def has_classifier(self) -> bool:
        """Whether the answer is called logits, a linear layer gives it, or it is of another width than tokens."""
        return self._places.answers_logits or self._has_linear or self.answer.shape[-1] != self.width

    @torch.no_grad()
    def ending(self, prefix_tokens: tuple[str, ...]) -> Ending | None:
        """The first way that gives the answer from what the last block gives; None where none of them does."""
        if not self.gives_sums:
            return None
        classifier = self._run.last_linear[0] if self._has_linear else ""
        layer, tokens = self._module.part(classifier), self._given["tokens"]
        tokens = batch_first(tokens, self._is_tokens_first(tokens))
        if getattr(layer, "in_features", self.width) != self.width:
            return None
        for norm, pools_first in product((*self._run.norms, ""), (False, True)):
            for reading in ("cls", "mean") if "cls" in prefix_tokens else ("mean",):
                one = Ending(norm, classifier, reading, pools_first)
                if self._is_close(layer(pooled(self._module, one, tokens, reading, prefix_tokens))):
                    return one
        return None

    def own_reading(self, prefix_tokens: tuple[str, ...]) -> Reading:
        """The class token or the mean over patches where the answer depends on nothing else; otherwise "own"."""
        run = Run(self._module, self._places.blocks, keep_outputs=True)
        given = self._images.clone().requires_grad_()
        with torch.enable_grad(), run:
            total = self._module(given).pow(2).sum()
        last = run.calls[self._depth - 1][0].output
        (slope,) = torch.autograd.grad(total, last)
        read = slope.abs().sum((0, 1, 3)) > 0
        num_prefix = len(prefix_tokens)
        if "cls" in prefix_tokens and read.nonzero().flatten().tolist() == [0]:
            return "cls"
        return "mean" if read[num_prefix:].all() and not read[:num_prefix].any() else "own"

    @property
    def _has_linear(self) -> bool:
        if self._run.last_linear is None:
            return False
        given = self._run.last_linear[1]
        return given.shape == self.answer.shape and given.data_ptr() == self.answer.data_ptr()

    def _is_close(self, found: Tensor) -> bool:
        most = float(self.answer.abs().max())
        return found.shape == self.answer.shape and float((found - self.answer).abs().max()) <= _CLOSE * most


@contextmanager
def _listening(block: nn.Module) -> Iterator[dict[str, Tensor]]:
    """What a block gives, under "tokens", of a pass inside."""
    given: dict[str, Tensor] = {}

    def keep(module: nn.Module, args: Any, output: Any) -> None:
        given["tokens"] = answer(output)

    hook = block.register_forward_hook(keep)
    try:
        yield given
    finally:
        hook.remove()
