"""Slow twin of matching a patch to another grid, in exact fractions."""

from __future__ import annotations

from fractions import Fraction

from vitexplorer.capturing.capture import Capture


def slow_place(row: int, col: int, one: Capture, block: int, other: Capture, to: int) -> tuple[int, int]:
    """Return the patch of the other grid that contains the centre of a patch's visible part, by trying all."""
    found = []
    for at, axis in ((row, 0), (col, 1)):
        long, wide = one.input.pixels.shape[axis], other.input.pixels.shape[axis]
        side, other_side = one.grid(block).patch_size, other.grid(to).patch_size
        middle = Fraction(at * side + min(long, (at + 1) * side), 2 * long)
        many = (other.grid(to).rows, other.grid(to).cols)[axis]
        inside = [
            n for n in range(many) if Fraction(n * other_side, wide) <= middle < Fraction((n + 1) * other_side, wide)
        ]
        found.append(inside[0] if inside else many - 1)
    return found[0], found[1]
