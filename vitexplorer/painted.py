"""A setting that a person paints on the picture: which patches are hidden from the model.

In the page the patches are painted, in Python and on a command line they are named. While none are, other controls
choose them, and what these chose is where painting begins.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from vitexplorer.controls import Control
from vitexplorer.errors import SettingError
from vitexplorer.explored import Explored
from vitexplorer.types import PatchGrid, ReconstructionResult
from vitexplorer.words import Text

ALL_HIDDEN = Text("At least one patch must stay visible.", "至少要保留一个可见图块。")


@dataclass(frozen=True)
class PaintedControl(Control):
    """Patches to hide: their numbers row by row, or a board of rows x cols true or false."""

    otherwise: Text
    """who chooses where none are named, for captions"""
    release: Text
    """the same for a button that lets go of what was painted"""
    instead_of: tuple[str, ...] = ()
    """names of the controls that then choose, and have no say while patches are named"""

    def default(self, capture: Explored) -> tuple[int, ...]:
        """None named."""
        return ()

    def say(self, value: tuple[int, ...], capture: Explored) -> Text:
        """Who chose; the picture shows which, and they can be too many for a line."""
        return Text("chosen by hand", "手动选定") if value else self.otherwise

    def grid(self, capture: Explored) -> PatchGrid:
        """Where the patches lie: in the image, before any block."""
        return capture.grid(0)

    def hidden(self, result: ReconstructionResult) -> list[int]:
        """Numbers of the patches, ascending, that were hidden in a result, whoever chose them."""
        return np.flatnonzero(result.hidden).tolist()

    def parse(self, value: Any, capture: Explored, settings: Mapping[str, Any]) -> tuple[int, ...]:
        """Numbers of patches, ascending, from "0,1,17", from a list of them, or from (rows, cols) true or false."""
        grid = self.grid(capture)
        patches = _numbers(value, grid)
        if patches and not 0 <= patches[0] <= patches[-1] < grid.num_patches:
            raise SettingError(
                Text(
                    "{name} takes numbers of patches from 0 to {last}, or {rows} x {cols} true or false, not {value}.",
                    "{name} 应为 0 到 {last} 的图块编号，或 {rows} x {cols} 的真假值，而不是 {value}。",
                ).format(name=self.name, last=grid.num_patches - 1, rows=grid.rows, cols=grid.cols, value=repr(value))
            )
        if len(patches) == grid.num_patches:
            raise SettingError(ALL_HIDDEN)
        return patches


def _numbers(value: Any, grid: PatchGrid) -> tuple[int, ...]:
    """Numbers of patches, ascending; (-1,) for what is neither numbers nor a board of the grid's shape."""
    try:
        board = np.asarray(value.replace(" ", "").strip(",").split(",") if isinstance(value, str) else value)
        if board.shape == (grid.rows, grid.cols):
            return tuple(np.flatnonzero(board.astype(bool)).tolist())
        if board.dtype == bool:  # of another shape: nobody can know which patches are meant
            return (-1,)
        given = board.ravel().tolist()
        numbers = [int(one) for one in given]
        are_whole = all(isinstance(one, str) or one == number for one, number in zip(given, numbers, strict=True))
        return tuple(sorted(set(numbers))) if are_whole else (-1,)
    except (TypeError, ValueError, OverflowError):
        return (-1,)
