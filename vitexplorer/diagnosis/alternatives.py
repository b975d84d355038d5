"""Other readings of a model's weights: the mistakes that a conversion of a checkpoint makes, undone.

Each alternative says what it would mend. Queries, keys and values may be stored in another order, or head by head; the
scores may lack their scale; the heads may be counted wrongly; the table of positions may be transposed, moved by a
prefix token, or resampled as a sequence instead of a grid.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import permutations

import torch
from torch import Tensor, nn
from torch.nn import functional

from vitexplorer.diagnosis.answers import Run, run_of
from vitexplorer.models.loading import LoadedModel

GRIDS = (7, 8, 10, 12, 14, 16, 18, 20, 24, 27, 32)
"""Sides of the grids of published models, from which a table may have been resampled"""
_HEAD_WIDTHS = (16, 24, 32, 48, 64, 80, 96, 128)
_SPLIT = (("q", "k", "v"), ("query", "key", "value"), ("q_proj", "k_proj", "v_proj"))
_JOINED = ("qkv", "in_proj_weight")


@dataclass(frozen=True)
class Alternative:
    """Another reading of the weights."""

    cause: str
    name: str
    tensors: dict[str, Tensor] = field(default_factory=dict)
    """New values of parameters by name"""
    set_up: Callable[[nn.Module], None] | None = None
    """Change of a copy of the module, where tensors are not enough"""


def alternatives(model: LoadedModel) -> Iterator[Alternative]:
    """List all that can be tried on a model."""
    yield from _of_positions(model)
    yield from _of_attention(model.module)


def run_with(module: nn.Module, alternative: Alternative) -> Run:
    """Return the forward pass of a copy of the module with an alternative."""
    return run_of(changed_copy(module, alternative))


def changed_copy(module: nn.Module, alternative: Alternative) -> nn.Module:
    """Return a copy of the module with an alternative."""
    copied = copy.deepcopy(module)
    parameters = dict(copied.named_parameters())
    with torch.no_grad():
        for name, tensor in alternative.tensors.items():
            parameters[name].copy_(tensor)
    if alternative.set_up is not None:
        alternative.set_up(copied)
    return copied


# ----------------------------------------------------------------------------------------------- positions


def position_table(model: LoadedModel) -> tuple[str, Tensor, tuple[int, int]] | None:
    """Return the name, the values (1, tokens, dim) and the grid of the learned position embedding; None without one."""
    grid = model.family.learned_grid(model.module)
    if grid is None:
        return None
    count = grid[0] * grid[1]
    changed = model.family.shuffled_positions(model.module, torch.arange(count))
    if changed is None:
        return None
    held = changed[0]
    name = next((name for name, tensor in model.module.named_parameters() if tensor is held), None)
    return None if name is None or held.ndim != 3 else (name, held.detach(), grid)


def _of_positions(model: LoadedModel) -> Iterator[Alternative]:
    table = position_table(model)
    if table is None:
        return
    name, values, (rows, cols) = table
    prefix = values.shape[1] - rows * cols
    before, patches = values[:, :prefix], values[:, prefix:]

    def with_patches(changed: Tensor) -> dict[str, Tensor]:
        return {name: torch.cat([before, changed], 1)}

    places = torch.arange(rows * cols).reshape(rows, cols)
    if rows == cols:
        yield Alternative("positions_transposed", "transposed", with_patches(patches[:, places.T.flatten()]))
    for by in {1, max(prefix, 1)}:
        for sign in (1, -1):
            yield Alternative("prefix_tokens_among_patches", f"moved by {sign * by}", {name: values.roll(sign * by, 1)})
    for side in GRIDS:
        if side != rows or rows != cols:
            yield Alternative(
                "positions_badly_resampled", f"from {side} x {side}", with_patches(_as_grid(patches, side, rows, cols))
            )
    mean = patches.mean(1, keepdim=True).expand_as(patches)
    yield Alternative("positions_shuffled", "the same everywhere", with_patches(mean))


def _as_grid(patches: Tensor, side: int, rows: int, cols: int) -> Tensor:
    """Undo a resampling as a sequence from side x side places, and resample as a grid instead."""
    sequence = functional.interpolate(patches.transpose(1, 2), side * side, mode="linear", align_corners=False)
    grid = sequence.reshape(1, -1, side, side)
    resized = functional.interpolate(grid, (rows, cols), mode="bicubic", antialias=True, align_corners=False)
    return resized.flatten(2).transpose(1, 2)


# ----------------------------------------------------------------------------------------------- attention


@dataclass(frozen=True)
class Attention:
    """Queries, keys and values of one block."""

    path: str
    module: nn.Module
    heads: int
    names: tuple[str, ...]
    """Names of the parameters: three weights and perhaps three biases, or one of each that holds all three"""
    is_joined: bool


def _of_attention(module: nn.Module) -> Iterator[Alternative]:
    parts = list(attentions(module))
    if not parts:
        return
    state = dict(module.named_parameters())
    for order in permutations(range(3)):
        if order != (0, 1, 2):
            yield Alternative(
                "qkv_misordered", "".join("qkv"[place] for place in order), _reordered(parts, state, order)
            )
    if all(part.is_joined for part in parts):
        yield Alternative("qkv_misordered", "head by head", _regrouped(parts, state, True))
        yield Alternative("qkv_misordered", "queries, keys, values", _regrouped(parts, state, False))
    for power, name in ((-0.5, "divided by the root of the head's width"), (0.5, "multiplied by it")):
        yield Alternative("scale_missing", name, _scaled(parts, state, power))
    width = state[parts[0].names[0]].shape[1]
    counts = [width // wide for wide in _HEAD_WIDTHS if width % wide == 0]
    if len({part.heads for part in parts}) == 1 and all(hasattr(part.module, "head_dim") for part in parts):
        for count in counts:
            if count != parts[0].heads:
                yield Alternative("heads_miscounted", str(count), set_up=_with_heads(count))


def attentions(module: nn.Module) -> Iterator[Attention]:
    """Yield the attention modules whose parts have known names."""
    for path, part in module.named_modules():
        heads = next(
            (getattr(part, word) for word in ("num_heads", "num_attention_heads") if hasattr(part, word)), None
        )
        if not isinstance(heads, int):
            continue
        own = {name for name, _ in part.named_parameters()}
        joined = next((word for word in _JOINED if {word, f"{word}.weight"} & own), None)
        split = next((words for words in _SPLIT if all(f"{word}.weight" in own for word in words)), None)
        if joined is not None:
            names = [joined, "in_proj_bias"] if joined in own else [f"{joined}.weight", f"{joined}.bias"]
        elif split is not None:
            names = [f"{word}.{kind}" for kind in ("weight", "bias") for word in split]
        else:
            continue
        names = [f"{path}.{name}" if path else name for name in names if name in own]
        yield Attention(path, part, heads, tuple(names), joined is not None)


def _reordered(parts: list[Attention], state: dict[str, Tensor], order: tuple[int, ...]) -> dict[str, Tensor]:
    """Return the parameters with queries, keys and values taken from each other's place."""
    changed = {}
    for part in parts:
        if part.is_joined:
            for name in part.names:
                thirds = state[name].detach().chunk(3)
                changed[name] = torch.cat([thirds[place] for place in order])
        else:
            for start in range(0, len(part.names) - len(part.names) % 3, 3):
                three = part.names[start : start + 3]
                changed |= {name: state[three[place]].detach() for name, place in zip(three, order, strict=True)}
    return changed


def _regrouped(parts: list[Attention], state: dict[str, Tensor], by_head: bool) -> dict[str, Tensor]:
    """Return the parameters read as (heads, 3, width) in place of (3, heads, width), or the other way round."""
    changed = {}
    for part in parts:
        for name in part.names:
            rows = state[name].detach()
            first = (part.heads, 3) if by_head else (3, part.heads)
            grouped = rows.reshape(*first, len(rows) // (3 * part.heads), *rows.shape[1:])
            changed[name] = grouped.transpose(0, 1).reshape(rows.shape)
    return changed


def _scaled(parts: list[Attention], state: dict[str, Tensor], power: float) -> dict[str, Tensor]:
    """Return the parameters with the queries multiplied by a power of the head's width."""
    changed = {}
    for part in parts:
        width = state[part.names[0]].shape[1] // part.heads
        names = part.names if part.is_joined else part.names[::3]
        for name in names:
            rows = state[name].detach().clone()
            rows[: len(rows) // 3 if part.is_joined else len(rows)] *= math.pow(width, power)
            changed[name] = rows
    return changed


def _with_heads(count: int) -> Callable[[nn.Module], None]:
    def set_up(module: nn.Module) -> None:
        for part in attentions(module):
            dim = next(tensor for tensor in part.module.parameters() if tensor.ndim == 2).shape[1]
            part.module.num_heads = count
            part.module.head_dim = dim // count
            if hasattr(part.module, "scale"):
                part.module.scale = (dim // count) ** -0.5

    return set_up
