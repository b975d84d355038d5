"""What a control looks like to whoever draws it: a page, a form, a help text of the command line.

A new kind of control is one file here and one in `ui/controls/` that is called like its `kind` and draws it; what only
that kind needs travels in `more`, `state` and `words`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from vitexplorer.core.text import Text
from vitexplorer.core.types import PatchGrid


@dataclass(frozen=True)
class Board:
    """Where patches that can be picked or painted lie on the picture that the model saw."""

    rows: int
    cols: int
    covered: tuple[float, float]
    """shares of the picture's height and width that the patches cover"""

    @classmethod
    def of(cls, grid: PatchGrid, picture: tuple[int, int]) -> Board:
        """The board of a grid on a picture of this height and width in pixels."""
        height, width = picture
        return cls(grid.rows, grid.cols, (grid.rows * grid.patch_size / height, grid.cols * grid.patch_size / width))


@dataclass(frozen=True)
class Spec:
    """One control, ready to be drawn."""

    kind: str
    """names the module that draws it, `ui/controls/<kind>.js`"""
    name: str
    label: Text
    value: str
    """as written; empty where it is not known without a capture, too"""
    takes: Text | None = None
    """what may be written, as far as it is the same for every model; None where the label has to do"""
    options: tuple[tuple[str, Text], ...] = ()
    """(as written, in words) of what can be chosen; empty where that is no short list"""
    low: float | None = None
    high: float | None = None
    step: float | None = None
    board: Board | None = None
    words: Mapping[str, Text] = field(default_factory=dict)
    """what its drawing says"""
    more: Mapping[str, Any] = field(default_factory=dict)
    """what only this kind needs and stays as it is from answer to answer"""
    state: Mapping[str, Any] = field(default_factory=dict)
    """what only this kind needs and comes with every answer, like `value` and `options`"""
