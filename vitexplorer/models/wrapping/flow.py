"""Flow of tokens through the blocks of a wrapped module to its output, found and verified by one further pass."""

from __future__ import annotations

from itertools import product
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from vitexplorer.core.text import Text, UnsupportedError
from vitexplorer.core.types import Reading, Stream
from vitexplorer.models.loading import block_of_parameter
from vitexplorer.models.wrapping.family import pooled
from vitexplorer.models.wrapping.module import Ending, WrappedModule, output_tensor
from vitexplorer.models.wrapping.probing import Probe
from vitexplorer.tracing.follow import OUTSIDE, Args, Function, Kwargs
from vitexplorer.tracing.tap import AttentionTap, batch_first

_CLOSE = 1e-4
"""Largest accepted difference, relative to the output's largest number"""
_NORMS = (F.layer_norm, F.rms_norm)
_CHANGED = Text(
    "{block} changes its weights between softmax and values, so what multiplies the values cannot be shown.",
    "{block} 在 softmax 与值之间改变了权重，因此无法显示真正与值相乘的权重。",
)


class Run(AttentionTap):
    """A pass like that of `capture`, which also records the norms and linear layers after the blocks."""

    def __init__(self, module: nn.Module, blocks: tuple[str, ...], keep_outputs: bool = False):
        super().__init__(block_of_parameter(module, blocks), keep_norms=True, keep_outputs=keep_outputs)
        self.last_norm: dict[int, Tensor] = {}
        """Output of the last norm of each block"""
        self.norms: list[str] = []
        """Names of the norms after the last block"""
        self.last_linear: tuple[str, Tensor] | None = None
        """Name and output of the last linear layer after the blocks"""
        self._owner = {id(parameter): name.rpartition(".")[0] for name, parameter in module.named_parameters()}
        self._depth = len(blocks)

    def parameter(self, function: Function, args: Args, kwargs: Kwargs) -> Tensor:
        """Record the norms of each block, and the norms and linear layers after the blocks."""
        out = super().parameter(function, args, kwargs)
        if function in _NORMS:
            self.last_norm[self.block] = out
        if self.block == OUTSIDE and len(self.calls) >= self._depth:
            owners = [owner for value in (*args, *kwargs.values()) if (owner := self._owner.get(id(value)))]
            if function in _NORMS and owners:
                self.norms.append(owners[0])
            elif function is F.linear and owners:
                self.last_linear = owners[0], out
        return out


class Flow:
    """Flow of tokens in a pass over one image through a module whose blocks are known."""

    @torch.no_grad()
    def __init__(self, module: WrappedModule, images: Float[Tensor, "batch channels height width"], probe: Probe):
        """Run the module once, on a single image.

        Raises:
            UnsupportedError: a block changes its weights after the softmax.
        """
        self._module = module
        self._images = images
        self._probe = probe
        self._run = Run(module, probe.blocks)
        self._last_output: Tensor | None = None
        with module.get_submodule(probe.blocks[-1]).register_forward_hook(self._keep_output), self._run:
            self.answer = module(images)
        for number, block in enumerate(probe.blocks):
            if self._run.calls[number][0].value is None:
                raise UnsupportedError(_CHANGED.format(block=block))
        self._depth = len(probe.blocks)
        self._shape = (1, probe.grid.num_prefix_tokens + probe.grid.num_patches)

    def _keep_output(self, last_block: nn.Module, args: Any, output: Any) -> None:
        self._last_output = output_tensor(output)

    @property
    def width(self) -> int:
        """Numbers per token."""
        return self._run.read[0].shape[-1]

    @property
    def streams(self) -> tuple[Stream, ...]:
        """Layout of each block's input and output tokens."""
        return tuple(
            Stream(
                reads_tokens_first=self._is_tokens_first(self._run.read.get(block)),
                gives_tokens_first=self._is_tokens_first(self._run.made.get(block)),
                ends_with_norm=self._is_output(self._run.last_norm.get(block), block),
            )
            for block in range(self._depth)
        )

    @property
    def is_columnar(self) -> bool:
        """True if blocks read, norm and output tokens as (batch, tokens, dim) or (tokens, batch, dim)."""
        blocks = range(self._depth)
        read = [self._run.read.get(block) for block in blocks]
        made = [self._run.made.get(block) for block in blocks]
        if not all(map(self._is_sequence, (*read, *made))):
            return False
        normed = self._run.normed
        return all(made[block].shape[:2] == normed[block].shape[:2] for block in blocks if block in normed)

    @property
    def gives_sums(self) -> bool:
        """True if each block outputs its last sum, or the norm of it, unchanged to the next block."""
        return self.is_columnar and all(
            stream.ends_with_norm or self._is_output(self._run.made[block], block)
            for block, stream in enumerate(self.streams)
        )

    def _is_output(self, tokens: Tensor | None, block: int) -> bool:
        """Return True if the next block reads these tokens, or the last block outputs them."""
        is_last = block == self._depth - 1
        output = self._last_output if is_last else self._run.read.get(block + 1)
        if tokens is None or output is None or {tokens.ndim, output.ndim} != {3}:
            return False
        tokens = batch_first(tokens, self._is_tokens_first(tokens))
        output = batch_first(output, self._is_tokens_first(output))
        return tokens.shape == output.shape and torch.equal(tokens, output)

    def _is_sequence(self, tokens: Tensor | None) -> bool:
        return tokens is not None and tokens.ndim == 3 and tokens.shape[:2] in (self._shape, self._shape[::-1])

    def _is_tokens_first(self, tokens: Tensor | None) -> bool:
        return tokens is not None and tokens.ndim == 3 and tokens.shape[:2] == self._shape[::-1]

    @property
    def has_classifier(self) -> bool:
        """True if the output is named logits, comes from a linear layer, or differs from the tokens in width."""
        return self._probe.answers_logits or self._has_linear or self.answer.shape[-1] != self.width

    @torch.no_grad()
    def ending(self, prefix_tokens: tuple[str, ...]) -> Ending | None:
        """Return the first combination that computes the output from the last block's tokens; None if none does."""
        if not self.gives_sums or self._last_output is None:
            return None
        classifier = self._run.last_linear[0] if self._has_linear else ""
        layer = self._module.part(classifier)
        tokens = self._last_output
        tokens = batch_first(tokens, self._is_tokens_first(tokens))
        if getattr(layer, "in_features", self.width) != self.width:
            return None
        for norm, pools_first in product((*self._run.norms, ""), (False, True)):
            for reading in ("cls", "mean") if "cls" in prefix_tokens else ("mean",):
                ending = Ending(norm, classifier, reading, pools_first)
                if self._is_close(layer(pooled(self._module, ending, tokens, reading, prefix_tokens))):
                    return ending
        return None

    def own_reading(self, prefix_tokens: tuple[str, ...]) -> Reading:
        """Return the class token or the mean over patches if the output depends on nothing else, otherwise "own"."""
        run = Run(self._module, self._probe.blocks, keep_outputs=True)
        images = self._images.clone().requires_grad_()
        with torch.enable_grad(), run:
            total = self._module(images).pow(2).sum()
        last = run.calls[self._depth - 1][0].output
        (gradient,) = torch.autograd.grad(total, last)
        read = gradient.abs().sum((0, 1, 3)) > 0
        num_prefix = len(prefix_tokens)
        if "cls" in prefix_tokens and read.nonzero().flatten().tolist() == [0]:
            return "cls"
        return "mean" if read[num_prefix:].all() and not read[:num_prefix].any() else "own"

    @property
    def _has_linear(self) -> bool:
        if self._run.last_linear is None:
            return False
        output = self._run.last_linear[1]
        return output.shape == self.answer.shape and output.data_ptr() == self.answer.data_ptr()

    def _is_close(self, output: Tensor) -> bool:
        most = float(self.answer.abs().max())
        return output.shape == self.answer.shape and float((output - self.answer).abs().max()) <= _CLOSE * most
