"""Costs of other input sizes, from shapes before anything runs: tokens, multiplications, memory, time.

Multiplications are counted as in the view Cost, in a pass through a copy without numbers; memory is the capture's.
Time is estimated from the multiplications alone, as a multiple of the model's own size: a guess, since memory traffic
decides as well.
"""

from __future__ import annotations

from dataclasses import dataclass

from vitexplorer.core.summaries import Summarised, Summary
from vitexplorer.core.text import Text, UnsupportedError
from vitexplorer.core.types import Size
from vitexplorer.models.capture_memory import CaptureMemory, memory_of, too_much
from vitexplorer.models.input_size import LARGEST, by, shapes_at, sides
from vitexplorer.models.loading import LoadedModel
from vitexplorer.models.weightless import weightless
from vitexplorer.quantities.multiplications import counting

FACTORS = (1.0, 1.5, 2.0, 3.0)
"""Factors of the sides of the model's own input"""

_SUMMARY = Text(
    "{size} px: {tokens:,} tokens, {macs:.3g} GMACs ({times:.1f} times those of {own} px), {megabytes:,.0f} MB",
    "{size} 像素：{tokens:,} 个标记，{macs:.3g} GMACs（{own} 像素时的 {times:.1f} 倍），{megabytes:,.0f} MB",
)


@dataclass(frozen=True)
class SizeCost(Summarised):
    """Cost of one image of a size for a model."""

    size: Size
    factor: float
    """Height as a multiple of the model's own input height"""
    memory: CaptureMemory
    macs: int
    """Multiply-accumulates of one pass"""
    times: float
    """Multiply-accumulates as a multiple of a pass at the model's own size, a rough multiple of its time"""
    text: Text
    """All costs in words"""
    refusal: Text | None
    """Reason why this installation does not allow the size, with its cost; None if it does"""

    @property
    def tokens(self) -> int:
        """Number of tokens of the block that has most."""
        return self.memory.tokens

    def _summary(self) -> Summary:
        return Summary(self.text.en, (("refused", self.refusal),))


def size_cost(model: LoadedModel, size: int | Size | str) -> SizeCost:
    """Compute the cost of one image of a size; nothing runs. `refusal` explains sizes beyond the limits.

    Raises:
        SettingError: no such size, as in `at_size`.
        UnsupportedError: the model does not take this size, as in `at_size`.
    """
    own = weightless(model.unsized or model)
    return _cost(own, sides(size), _counted(own))


def size_choices(model: LoadedModel, factors: tuple[float, ...] = FACTORS) -> tuple[SizeCost, ...]:
    """Compute the costs of some multiples of the model's own size, each side rounded to one that the model takes.

    A model that takes no other size has only its own. Sizes at which some of its blocks cannot be shown are left out.
    """
    own = weightless(model.unsized or model)
    costs = {}
    own_count = _counted(own)
    for size in _possible(own, factors):
        try:
            costs[size] = _cost(own, size, own_count)
        except UnsupportedError:
            continue
    return tuple(costs.values())


def _cost(own: LoadedModel, size: Size, own_count: tuple[CaptureMemory, int]) -> SizeCost:
    own_size, own_macs = own.preprocessing.input_size, own_count[1]
    memory, macs = own_count if size == own_size else _counted(shapes_at(own, size))
    summary = _SUMMARY.format(
        size=by(size),
        tokens=memory.tokens,
        macs=macs / 1e9,
        times=macs / own_macs,
        own=by(own_size),
        megabytes=(memory.capture_bytes + memory.attention) / 1e6,
    )
    refusal = too_much(own.name, size, memory) if memory.refused and size != own_size else None
    return SizeCost(size, size[0] / own_size[0], memory, macs, macs / own_macs, summary, refusal)


def _counted(shapes: LoadedModel) -> tuple[CaptureMemory, int]:
    """Count memory and multiply-accumulates of one pass."""
    with counting({}) as counts:
        memory = memory_of(shapes)
    return memory, counts.total


def _possible(own: LoadedModel, factors: tuple[float, ...]) -> list[Size]:
    own_size = own.preprocessing.input_size
    step = own.family.size_step(own.module)
    if step is None:
        return [own_size]
    rounded = [
        tuple(max(1, round(f * side / of)) * of for side, of in zip(own_size, step, strict=True)) for f in factors
    ]
    sizes = [tuple(own_size) if factor == 1 else size for factor, size in zip(factors, rounded, strict=True)]
    return [size for size in sizes if max(size) <= LARGEST]
