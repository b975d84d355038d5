"""Description of a control for drawing: on the page, in a form, in the help of the command line.

A new kind of control is one file here and one in `ui/controls/`, named after its `kind`, that draws it. Data that only
this kind needs goes into `more`, `state` and `words`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from vitexplorer.core.text import Text
from vitexplorer.core.types import PatchGrid

Fields = dict[str, Any]
"""Some fields of a `Spec`, by name"""


@dataclass(frozen=True)
class Board:
    """Grid of patches to pick or paint, on the picture that the model saw."""

    rows: int
    cols: int
    covered: tuple[float, float]
    """Shares of the picture's height and width that the patches cover"""

    @classmethod
    def of(cls, grid: PatchGrid, picture: tuple[int, int]) -> Board:
        """Make the board of a grid on a picture of this (height, width) in pixels."""
        height, width = picture
        return cls(grid.rows, grid.cols, (grid.rows * grid.patch_size / height, grid.cols * grid.patch_size / width))


@dataclass(frozen=True)
class Spec:
    """One control, ready to be drawn."""

    kind: str
    """Name of the module that draws it, `ui/controls/<kind>.js`"""
    name: str
    label: Text
    value: str
    """Current value as written; empty also if it is unknown without a capture"""
    takes: Text | None = None
    """Allowed input, if it is the same for every model; None if the label is enough"""
    options: tuple[tuple[str, Text], ...] = ()
    """Options as (as written, in words); empty if there is no short list"""
    low: float | None = None
    high: float | None = None
    step: float | None = None
    board: Board | None = None
    words: Mapping[str, Text] = field(default_factory=dict)
    """Words in its drawing"""
    more: Mapping[str, Any] = field(default_factory=dict)
    """Further data of this kind, constant between answers"""
    state: Mapping[str, Any] = field(default_factory=dict)
    """Further data of this kind, sent with every answer like `value` and `options`"""
