"""Control for patches that a person paints on the picture.

They are written 3.4+3.5 (row.column), or as row-by-row numbers 0,1,17; in Python also as pairs, numbers or a boolean
array (rows, cols). Every such control accepts all of these forms.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from vitexplorer.controls.control import Control
from vitexplorer.controls.number import whole_number
from vitexplorer.controls.query import WORDS as PATCH_WORDS
from vitexplorer.controls.query import check_patches
from vitexplorer.controls.spec import Board, Fields
from vitexplorer.core.capture_protocol import CaptureProtocol
from vitexplorer.core.text import SettingError, Text
from vitexplorer.core.types import PatchGrid, Result

Cell = tuple[int, int]
"""(row, col)"""

WORDS = {
    "patch": PATCH_WORDS["patch"],
    "count": Text("{hidden} of {all:patch} ({share} %)", "{all} 个图块中的 {hidden} 个（{share} %）"),
    "hidden": Text("hidden", "已遮住"),
    "visible": Text("visible", "可见"),
    "undo": Text("Undo", "撤销"),
    "redo": Text("Redo", "重做"),
    "none": Text("none", "清空"),
    "help": Text(
        "Click patches or drag over them; arrow keys and space work too.", "点击或拖动选择图块；也可用方向键和空格键。"
    ),
}
WORDS_INSTEAD = {
    "none": Text("Show all", "全部可见"),
    "help": Text(
        "Drag across visible patches to hide them, across hidden ones to show them. "
        "Keyboard: arrow keys move, space changes a patch.",
        "拖过可见图块可将其遮住，拖过被遮图块可使其恢复可见。键盘：方向键移动，空格键切换图块。",
    ),
    "bare": Text("Nothing is hidden yet: the figure is still the earlier one.", "尚未遮住任何图块：下方仍是之前的图。"),
    "full": Text("At least one patch must stay visible.", "至少要保留一个可见图块。"),
}
"""Words of a control with `others`"""


@dataclass(frozen=True)
class Others:
    """Other controls that choose the patches while none are painted; ignored once some are."""

    names: tuple[str, ...]
    says: Text
    """Name of that choice, for captions"""
    release: Text
    """Label of the button that discards the painted patches"""


@dataclass(frozen=True)
class PatchesControl(Control):
    """Any patches of the last block's grid.

    With `others` it is the first block's grid; no patches are a valid choice, all patches are not.
    """

    name: str = "patches"
    label: Text = Text("Patches (row.col)", "图块（行.列）")
    others: Others | None = None

    kind: ClassVar[str] = "patches"
    words: ClassVar[Mapping[str, Text]] = WORDS

    def default(self, capture: CaptureProtocol) -> tuple[Cell, ...]:
        """Return the middle third of the image in each direction; none if others choose."""
        if self.others:
            return ()
        grid = self.grid(capture)
        rows, cols = (range(side // 3, max(side - side // 3, side // 3 + 1)) for side in (grid.rows, grid.cols))
        return tuple((row, col) for row in rows for col in cols)

    def grid(self, capture: CaptureProtocol) -> PatchGrid:
        """Return the patch grid of the last block, or of the first if others choose."""
        return capture.grid(0 if self.others else capture.depth - 1)

    def say(self, value: tuple[Cell, ...] | tuple[int, ...], capture: CaptureProtocol) -> Text:
        """List the patches; with `others`, name only who chose, as the picture shows which and they may be many."""
        if self.others is None:
            return super().say(value, capture)
        return Text("chosen by hand", "手动选定") if value else self.others.says

    def parse(self, value: Any, capture: CaptureProtocol, settings: Mapping[str, Any]) -> tuple[Cell, ...]:
        """Return existing patches, each once, row by row. Raises SettingError for any other value."""
        grid = self.grid(capture)
        try:
            cells = sorted(set(cells_of(value, grid)))
        except (TypeError, ValueError, OverflowError):
            raise self._unreadable(value, grid) from None
        check_patches(cells, grid)
        if self.others and len(cells) == grid.num_patches:
            raise SettingError(WORDS_INSTEAD["full"])
        return tuple(cells)

    def details(self, capture: CaptureProtocol | None, settings: Mapping[str, Any], result: Result | None) -> Fields:
        """Return a board that starts with the patches that the result hides."""
        fields: Fields = {}
        if self.others:
            fields = {
                "takes": Text("numbers row by row, such as 0,1,17", "逐行编号，如 0,1,17"),
                "words": WORDS | WORDS_INSTEAD | {"release": self.others.release},
                "more": {"instead_of": list(self.others.names)},
            }
        if capture is None:
            return fields
        hidden = None if result is None else np.flatnonzero(result.hidden).tolist()
        board = Board.of(self.grid(capture), capture.input.pixels.shape[:2])
        return fields | {"board": board, "state": {"hidden": hidden}}

    def _unreadable(self, value: Any, grid: PatchGrid) -> SettingError:
        if self.others is None:
            text = Text("A patch is row.col, such as 3.4, not {value}.", "图块应写作“行.列”，如 3.4，而不是 {value}。")
            return SettingError(text.format(value=repr(value)))
        return SettingError(
            Text(
                "{name} takes numbers of patches from 0 to {last}, or {rows} x {cols} true or false, not {value}.",
                "{name} 应为 0 到 {last} 的图块编号，或 {rows} x {cols} 个真假值，而不是 {value}。",
            ).format(name=self.name, last=grid.num_patches - 1, rows=grid.rows, cols=grid.cols, value=repr(value))
        )


def cells_of(value: Any, grid: PatchGrid) -> list[Cell]:
    """Read cells in any of the forms above; they may lie outside the grid.

    Raises TypeError, ValueError or OverflowError for a value in another form.
    """
    if isinstance(value, str):
        parts = [part for part in re.split("[+,]", value.replace(" ", "")) if part]
        return [_pair(part.split(".")) if "." in part else _numbered(part, grid) for part in parts]
    if isinstance(value, set | frozenset):
        value = tuple(value)
    board = np.asarray(value)
    has_grid_shape = board.shape == (grid.rows, grid.cols)
    if board.dtype == bool and not has_grid_shape:
        raise ValueError(board.shape)
    if has_grid_shape and (board.dtype == bool or not isinstance(value, tuple)):  # tuples are pairs, even for 2 x 2
        return [_pair(pair) for pair in np.argwhere(board.astype(bool)).tolist()]
    if board.ndim == 2:
        return [_pair(pair) for pair in board.tolist()]
    return [_numbered(number, grid) for number in board.ravel().tolist()]


def _pair(pair: Any) -> Cell:
    row, col = pair
    return whole_number("row", row), whole_number("col", col)


def _numbered(number: Any, grid: PatchGrid) -> Cell:
    """Return the patch with a number, counted row by row."""
    number = whole_number("patch", number)
    if not 0 <= number < grid.num_patches:
        raise ValueError(number)
    return divmod(number, grid.cols)
