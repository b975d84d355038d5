"""What other input sizes would cost, told from shapes before anything runs: tokens, multiplications, memory, time.

Multiplications are counted as the view Cost counts them, in a pass through a copy without numbers; memory is that of
the capture. Time is told by the multiplications alone, as a multiple of the model's own size: a guess, since memory
traffic decides as well.
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
"""times the sides of the model's own input"""

_SAID = Text(
    "{size} px: {tokens:,} tokens, {macs:.3g} GMACs ({times:.1f} times those of {own} px), {megabytes:,.0f} MB",
    "{size} 像素：{tokens:,} 个标记，{macs:.3g} GMACs（{own} 像素时的 {times:.1f} 倍），{megabytes:,.0f} MB",
)


@dataclass(frozen=True)
class SizeCost(Summarised):
    """What one image of a size costs a model."""

    size: Size
    factor: float
    """its height in heights of the model's own input"""
    memory: CaptureMemory
    macs: int
    """multiply-accumulates of one pass"""
    times: float
    """multiply-accumulates in those of a pass at the model's own size: about as many times longer"""
    said: Text
    """all of it in words"""
    refusal: Text | None
    """why this installation does not allow it, with its cost; None where it does"""

    @property
    def tokens(self) -> int:
        """Of the block that has most."""
        return self.memory.tokens

    def _summary(self) -> Summary:
        return Summary(self.said.en, (("refused", self.refusal),))


def size_cost(model: LoadedModel, size: int | Size | str) -> SizeCost:
    """The cost of one image of a size; nothing runs.

    Raises SettingError and UnsupportedError where the model does not take it, as `at_size` does. What is more than
    this installation allows is told in `refusal`.
    """
    own = weightless(model.unsized or model)
    return _cost(own, sides(size), _counted(own))


def size_choices(model: LoadedModel, factors: tuple[float, ...] = FACTORS) -> tuple[SizeCost, ...]:
    """The costs of some multiples of the model's own size, each side at the nearest one that it takes.

    Its own size alone for a model that takes no other; sizes at which some of its blocks could not be shown are left
    out.
    """
    own, found = weightless(model.unsized or model), {}
    own_count = _counted(own)
    for size in _possible(own, factors):
        try:
            found[size] = _cost(own, size, own_count)
        except UnsupportedError:
            continue
    return tuple(found.values())


def _cost(own: LoadedModel, size: Size, own_count: tuple[CaptureMemory, int]) -> SizeCost:
    own_size, own_macs = own.preprocessing.input_size, own_count[1]
    memory, macs = own_count if size == own_size else _counted(shapes_at(own, size))
    said = _SAID.format(
        size=by(size),
        tokens=memory.tokens,
        macs=macs / 1e9,
        times=macs / own_macs,
        own=by(own_size),
        megabytes=(memory.kept + memory.attention) / 1e6,
    )
    refusal = too_much(own.name, size, memory) if memory.refused and size != own_size else None
    return SizeCost(size, size[0] / own_size[0], memory, macs, macs / own_macs, said, refusal)


def _counted(shapes: LoadedModel) -> tuple[CaptureMemory, int]:
    """Memory and multiply-accumulates of one pass."""
    with counting({}) as found:
        memory = memory_of(shapes)
    return memory, found.total


def _possible(own: LoadedModel, factors: tuple[float, ...]) -> list[Size]:
    sides_, step = own.preprocessing.input_size, own.family.size_step(own.module)
    if step is None:
        return [sides_]
    rounded = [tuple(max(1, round(f * side / of)) * of for side, of in zip(sides_, step, strict=True)) for f in factors]
    sizes = [tuple(sides_) if factor == 1 else size for factor, size in zip(factors, rounded, strict=True)]
    return [size for size in sizes if max(size) <= LARGEST]
