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

from vitexplorer.errors import UnsupportedError
from vitexplorer.follow import OUTSIDE, Args, Function, Kwargs
from vitexplorer.models.wrapping.family import pooled
from vitexplorer.models.wrapping.module import Ending, WrappedModule, answer
from vitexplorer.models.wrapping.places import Places
from vitexplorer.tap import AttentionTap
from vitexplorer.types import Reading
from vitexplorer.words import Text

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
        self.norms: list[str] = []
        """norms after the last block"""
        self.last_linear: tuple[str, Tensor] | None = None
        """the last linear layer after the blocks, and what it gives"""
        self._owner = {id(parameter): name.rpartition(".")[0] for name, parameter in named}
        self._depth = len(blocks)

    def parameter(self, function: Function, args: Args, kwargs: Kwargs) -> Tensor:
        """What comes after the blocks, by name."""
        out = super().parameter(function, args, kwargs)
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
        self._shape = (1, places.grid.num_prefix_tokens + places.grid.num_patches)

    @property
    def width(self) -> int:
        """Of a token."""
        return self._run.read[0].shape[-1]

    @property
    def is_columnar(self) -> bool:
        """Whether blocks read tokens as (batch, tokens, dim), and norm them so."""
        depth = len(self._places.blocks)
        read = [self._run.read.get(block) for block in range(depth)]
        seen = [*read, *(self._run.normed[block] for block in range(depth) if block in self._run.normed)]
        return all(one is not None and one.ndim == 3 and one.shape[:2] == self._shape for one in seen)

    @property
    def sums_are_tokens(self) -> bool:
        """Whether the last sum of each block is what the next reads, and of the last block what it gives."""
        depth = len(self._places.blocks)
        made = [self._run.made.get(block) for block in range(depth)]
        after = [*(self._run.read.get(block) for block in range(1, depth)), self._given.get("tokens")]
        return self.is_columnar and all(
            one is not None and other is not None and one.shape == other.shape and torch.equal(one, other)
            for one, other in zip(made, after, strict=True)
        )

    @property
    def has_classifier(self) -> bool:
        """Whether the answer is called logits, a linear layer gives it, or it is of another width than tokens."""
        return self._places.answers_logits or self._has_linear or self.answer.shape[-1] != self.width

    @torch.no_grad()
    def ending(self, prefix_tokens: tuple[str, ...]) -> Ending | None:
        """The first way that gives the answer from what the last block gives; None where none of them does."""
        if not self.sums_are_tokens:
            return None
        classifier = self._run.last_linear[0] if self._has_linear else ""
        layer, tokens = self._module.part(classifier), self._run.made[len(self._places.blocks) - 1]
        if getattr(layer, "in_features", self.width) != self.width:
            return None
        for norm, pools_first in product(("", *self._run.norms), (False, True)):
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
        last = run.calls[len(self._places.blocks) - 1][0].output
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
