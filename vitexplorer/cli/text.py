"""Terminal output: a result in words and numbers, aligned columns, a bar of progress."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from rich.cells import cell_len
from tqdm import tqdm

from vitexplorer.core.text import Language, Text
from vitexplorer.core.types import Result, SidesResult

Reading = Callable[[Result, Language], str]
"""Function that words the reading of a result"""
FITS = 32
"""Most rows or columns of numbers that are printed"""

_NUMBERS = Text("Numbers", "数值")
_AXES = {
    "heads": "头",
    "queries": "查询",
    "keys": "键",
    "tokens": "标记",
    "patches": "图块",
    "rows": "行",
    "cols": "列",
    "windows": "窗口",
    "blocks": "块",
    "classes": "类别",
    "channels": "通道",
    "parts": "部分",
    "height": "高",
    "width": "宽",
    "sides": "侧",
    "quantities": "个量",
}
"""Axis names of the glossary in Chinese"""


class ProgressBar(tqdm):
    """Bar on stderr, which only a terminal shows; its options are tqdm's."""

    _has_begun = False

    def __init__(self, **options: Any):
        super().__init__(disable=None, **options)

    def report(self, done: int, total: int) -> None:
        """Move to the work done. The work before the first report, an earlier run's, does not count for the speed."""
        if not self._has_begun:
            self._has_begun = True
            self.initial = self.n = done
        self.total = total or None
        self.update(done - self.n)
        self.n = done  # a bar that is not shown does not count


def table(rows: Sequence[Sequence[str]]) -> str:
    """Align columns; a Chinese character is two wide."""
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    padded = ([cell + " " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True)] for row in rows)
    return "\n".join("  ".join(row).rstrip() for row in padded)


def summary(result: Result, language: Language, reading: Reading) -> str:
    """Return the caption of a result, its numbers if they fit on a screen, and its reading."""
    from vitexplorer.figures.caption import facts

    values = np.asarray(result.values)
    rows = [(fact.label.in_(language), fact.value.in_(language)) for fact in facts(result)]
    rows.append((_NUMBERS.in_(language), _extent(values, result.axes, language)))
    return "\n".join(
        [result.title.in_(language), table(rows), *_numbers(result, values, language), "", reading(result, language)]
    )


def _extent(values: np.ndarray, axes: Sequence[str], language: Language) -> str:
    """Format the length of each axis and the range of the values."""
    words = (Text(axis, _AXES.get(axis, axis)).in_(language) for axis in axes)
    shape = " × ".join(f"{length} {word}" for word, length in zip(words, values.shape, strict=True))
    if not values.size or not np.issubdtype(values.dtype, np.number):
        return shape
    return f"{shape}: {_number(np.nanmin(values))} – {_number(np.nanmax(values))}"


def _numbers(result: Result, values: np.ndarray, language: Language) -> list[str]:
    """Format the values row by row, with names if the result has them; empty if there are too many."""
    if values.ndim not in (1, 2) or values.size == 0 or max(values.shape) > FITS:
        return []
    names = getattr(result, result.axes[0], None)
    if isinstance(result, SidesResult):
        names = tuple(entry.in_(language) for entry in result.entries)
    if not isinstance(names, tuple):
        names = [str(index) for index in range(len(values))]
    rows = ([_number(value) for value in np.atleast_1d(row)] for row in values)
    return ["", table([(name, *row) for name, row in zip(names, rows, strict=True)])]


def _number(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, (float, np.floating)) else str(value)
