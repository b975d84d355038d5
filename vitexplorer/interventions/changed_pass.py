"""Changed forward pass that leaves the module itself untouched.

An intervention describes its effect on a pass (`Effect`): other pixels, replacements for tensors of the module, edited
scores or values of an attention call. `ChangedPass` follows one ordinary pass and edits its calls, whether the module
computes attention in one kernel or as an explicit softmax. A call that no edit changes runs as it is, so its result is
the same bit for bit.

An `AttentionTap` around it sees the edited calls: a capture of a changed run shows the attention that was used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor, nn

from vitexplorer.capturing.capture import Capture, Moved
from vitexplorer.controls import Control
from vitexplorer.core.paper import Paper
from vitexplorer.core.summaries import Summarised
from vitexplorer.core.text import Text
from vitexplorer.core.types import PatchGrid
from vitexplorer.tracing.attention_call import AttentionCall, of_kernel
from vitexplorer.tracing.follow import AXES, OUTSIDE, Args, FollowedPass, Function, Kwargs

Edit = Callable[[int, Tensor], Tensor]
"""(block, tensor) -> tensor; returns the same tensor if nothing changes"""


@dataclass(frozen=True)
class Registers:
    """Added token, zero at the first block, that receives what MLPs would write into patches."""

    place: int
    """Index of the token in the sequence: after the prefix tokens"""
    hidden: Edit
    """Edit of the activations (batch, tokens, neurons) within an MLP"""
    name: str
    """Name of the token"""


@dataclass(frozen=True)
class Effect:
    """Effect of an intervention on a forward pass; fields that are left out change nothing."""

    pixels: Callable[[np.ndarray], np.ndarray] | None = None
    """Function that replaces the fitted image, uint8 (height, width, 3)"""
    moved: Moved | None = None
    """Origin of that image's patches, if they were moved"""
    tensors: tuple[tuple[Tensor, Tensor], ...] = ()
    """Tensors of the module, each with its replacement"""
    temperature: float = 1.0
    """Divisor of q . k"""
    scores: Edit | None = None
    """Edit of scores (*windows, heads, queries, keys)"""
    values: Edit | None = None
    """Edit of values (*windows, heads, keys, head dim)"""
    registers: Registers | None = None


@dataclass(frozen=True)
class Intervention(Summarised):
    """A change with its question. A new one is one file in `interventions/`."""

    title: Text
    question: Text
    misleads: Text
    """Warning against a wrong conclusion from a difference"""
    acts: int
    """Order in the pass: lower numbers are applied first and come first in the menu"""
    effect: Callable[..., Effect]
    """effect(capture, **settings)"""
    says: Callable[..., Text]
    """says(capture, **settings) describes the change, for captions"""
    controls: tuple[Control, ...] = ()
    paper: Paper | None = None
    refuses: Callable[[Capture], Text | None] = lambda capture: None
    """Reason why the change has no meaning for this model, or None"""

    _see_more = "vx.intervene(capture, {key: {control: value}}) applies it; vx.interventions() lists the keys"


class ChangedPass(FollowedPass):
    """Forward pass with some effects, in the order in which they act; each pass needs its own."""

    def __init__(self, block_of: Mapping[int, int], effects: tuple[Effect, ...]):
        swaps = [swap for effect in effects for swap in effect.tensors]
        super().__init__({**block_of, **{id(new): block_of[id(old)] for old, new in swaps if id(old) in block_of}})
        self._replacements = {id(old): new for old, new in swaps}
        self._temperature = float(np.prod([effect.temperature for effect in effects]))
        self._score_edits = [effect.scores for effect in effects if effect.scores]
        self._value_edits = [effect.values for effect in effects if effect.values]
        self._registers = next((effect.registers for effect in effects if effect.registers), None)
        self._entered: Tensor | None = None  # input of the first block

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if self._replacements:
            args = tuple(self._replaced(arg) for arg in args)
            kwargs = {name: self._replaced(arg) for name, arg in kwargs.items()}
        return super().__torch_function__(function, types, args, kwargs)

    def _replaced(self, arg: Any) -> Any:
        if isinstance(arg, Tensor):
            return self._replacements.get(id(arg), arg)
        if isinstance(arg, list | tuple) and any(isinstance(part, Tensor) for part in arg):
            return type(arg)(map(self._replaced, arg))
        return arg

    def _edited(self, tensor: Tensor, edits: list[Edit]) -> Tensor:
        edits = [] if self.block == OUTSIDE else edits
        return reduce(lambda changed, edit: edit(self.block, changed), edits, tensor)

    # -------------------------------------------------------------------------------------- one more token

    def parameter(self, function: Function, args: Args, kwargs: Kwargs) -> Tensor:
        """Insert the register at the first operation of the first block and remove it after the last block."""
        if self._registers is None:
            return function(*args, **kwargs)
        given, place = args[0], self._registers.place
        if self._entered is None and self.block == 0:
            register = given.new_zeros(given.shape[0], 1, given.shape[2])
            self._entered = given
            given = torch.cat([given[:, :place], register, given[:, place:]], dim=1)
            self._replacements[id(self._entered)] = given  # the sum after the first attention reads it again
        elif self._entered is not None and self.block == OUTSIDE and given.shape[1] == self._entered.shape[1] + 1:
            given = torch.cat([given[:, :place], given[:, place + 1 :]], dim=1)  # the norm after the last block
        return function(given, *args[1:], **kwargs)

    def activation(self, function: Function, args: Args, kwargs: Kwargs) -> Tensor:
        """Edit the activations of a block's MLP."""
        out = function(*args, **kwargs)
        if self._registers is None or self.block == OUTSIDE or out.ndim != 3:
            return out
        return self._registers.hidden(self.block, out)

    # -------------------------------------------------------------------------------------- one kernel

    def kernel(self, function: Function, args: Args, kwargs: Kwargs) -> Tensor:
        """Call the kernel with an edited bias and values, or unchanged where no edit applies."""
        if self.block == OUTSIDE:
            return function(*args, **kwargs)
        call = of_kernel(*args, **kwargs)
        scale = call.scale / self._temperature
        bias, values = self._bias(call, scale), self._edited(call.value, self._value_edits)
        if bias is call.bias and values is call.value and scale == call.scale:
            return function(*args, **kwargs)
        return function(call.query, call.key, values, attn_mask=bias, scale=scale)

    def _bias(self, call: AttentionCall, scale: float) -> Tensor | None:
        """Compute the bias with which the kernel's own q . k becomes the edited scores."""
        if not self._score_edits:
            return call.bias
        product = call.query @ call.key.transpose(-2, -1) * scale
        scores = product if call.bias is None else product + call.bias
        edited = self._edited(scores, self._score_edits)
        if edited is scores:
            return call.bias
        before = torch.zeros_like(product) if call.bias is None else call.bias
        return torch.where(edited == scores, before, edited - product)

    # -------------------------------------------------------------------------------------- an explicit softmax

    def product(self, function: Function, args: Args, kwargs: Kwargs) -> Tensor:
        """Divide the product of queries and keys by the temperature."""
        out = function(*args, **kwargs)
        if self._temperature == 1 or self.block == OUTSIDE or out.ndim not in AXES:
            return out
        return out / self._temperature

    def softmax(self, query: Tensor, key: Tensor, function: Function, args: Args, kwargs: Kwargs) -> Tensor:
        """Take the softmax of the edited scores."""
        return function(self._edited(args[0], self._score_edits), *args[1:], **kwargs)

    def mixture(self, mixed: Tensor | None, values: Tensor, of_values: Callable[[Tensor], Tensor]) -> Tensor:
        """Multiply by the edited values."""
        return of_values(self._edited(values, self._value_edits))


@dataclass(frozen=True)
class ChangedNetwork:
    """Module with effects, as a function of images. Safe to share between threads."""

    module: nn.Module
    block_of: Mapping[int, int]
    effects: tuple[Effect, ...]

    def __call__(self, images: Tensor) -> Tensor:
        """Run the changed module."""
        with ChangedPass(self.block_of, self.effects):
            return self.module(images)


def came_from(moved: Moved, grid: PatchGrid) -> Int[np.ndarray, " patches"]:
    """Return the original index of each patch of a block's grid, which may be finer than the grid of the move."""
    finer = moved.grid.patch_size // grid.patch_size
    row, col = np.divmod(np.arange(grid.num_patches), grid.cols)
    source = moved.order[row // finer * moved.grid.cols + col // finer]
    from_row, from_col = np.divmod(source, moved.grid.cols)
    return (from_row * finer + row % finer) * grid.cols + from_col * finer + col % finer


def attention_cannot_change(capture: Capture) -> Text | None:
    """Refuse a change of attention for models with an unusual token layout; else None."""
    sites = capture.sites
    if not any(site.layout or site.arrange or site.mixes for site in sites):
        return None
    return Text(
        "The attention of {model} can be shown, but not changed: its module arranges tokens in its own way.",
        "{model} 的注意力可以显示，但无法更改：其模块以特有的方式排列标记。",
    ).format(model=capture.model.title)
