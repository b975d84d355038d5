"""Layout rectangles in pixels, and the place of an image with the cells of its patch grid."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vitexplorer.core.types import PatchGrid


class Box(NamedTuple):
    """Rectangle on the page, in pixels from its upper left corner."""

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """x of the right edge."""
        return self.x + self.width

    @property
    def bottom(self) -> float:
        """y of the lower edge."""
        return self.y + self.height

    @property
    def centre(self) -> tuple[float, float]:
        """x, y of the middle."""
        return self.x + self.width / 2, self.y + self.height / 2

    def part(self, rows: int, cols: int, cells: tuple[int, int, int, int]) -> Box:
        """Return the rectangle of `cells` (top, left, height, width) in this box as a grid of rows x cols."""
        top, left, height, width = cells
        cell_height, cell_width = self.height / rows, self.width / cols
        return Box(self.x + left * cell_width, self.y + top * cell_height, width * cell_width, height * cell_height)

    def cell(self, rows: int, cols: int, row: int, col: int) -> Box:
        """Return the rectangle of one cell of such a grid."""
        return self.part(rows, cols, (row, col, 1, 1))


class Place(NamedTuple):
    """Place of an image on the page, and of the cells of its patch grid."""

    image: Box
    cells: Box

    @property
    def right(self) -> float:
        """x of the right edge of both."""
        return max(self.image.right, self.cells.right)

    @property
    def bottom(self) -> float:
        """y of the lower edge of both."""
        return max(self.image.bottom, self.cells.bottom)

    @property
    def whole(self) -> Box:
        """Box around both."""
        return Box(self.image.x, self.image.y, self.right - self.image.x, self.bottom - self.image.y)

    def moved(self, right: float, down: float = 0) -> Place:
        """Return the same place further to the right and down."""
        return Place(*(box._replace(x=box.x + right, y=box.y + down) for box in self))

    def below(self, gap: float) -> Place:
        """Return a place of the same size under this one."""
        return self.moved(0, self.bottom - self.image.y + gap)


def place(image: np.ndarray, grid: PatchGrid, room: Box) -> Place:
    """Fit the image into the room and the cells onto its pixels, both from the room's upper left corner.

    Patches do not always fill the image (60 pixels in patches of 14), and padded ones reach over its edge.
    """
    cells = (grid.rows * grid.patch_size, grid.cols * grid.patch_size)
    height, width = (max(pair) for pair in zip(image.shape, cells, strict=False))
    scale = min(room.width / width, room.height / height)
    return Place(*(Box(room.x, room.y, wide * scale, tall * scale) for tall, wide in (image.shape[:2], cells)))
