"""Do two models hold the same of an image? Linear CKA between their patch tokens, block by block.

Kornblith et al. 2019 (arXiv 1905.00414, equation 4 with linear kernels): X (patches, dim) and Y (patches, dim') with
the mean of their rows subtracted, |Y^T X|_F^2 / (|X^T X|_F |Y^T Y|_F), in 0-1; 1 if one is a rotated and scaled copy of
the other. It is computed from the patches x patches products X X^T and Y Y^T, which give the same.
Rows are places of the image. Prefix tokens are left out. If the grids differ, both are brought to rows and columns of
the coarser one: each of its patches is compared with the mean of the finer grid's tokens whose centres lie within.
Misleading: with fewer patches than dimensions unrelated tokens are alike too (0.5 and more); stacking the tokens of
several images lowers that. Models that crop differently see different places: capture with fit="squash".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
from jaxtyping import Float

from vitexplorer.capturing.capture import Capture
from vitexplorer.core.text import SettingError, Text
from vitexplorer.core.types import PatchGrid

Captures = Capture | Sequence[Capture]


def cka(one: Captures, other: Captures) -> Float[np.ndarray, "blocks _"]:
    """Compute linear CKA of the residual streams after every block of one model and every block of another.

    Args:
        one: a capture, or several of the same model; their patches are stacked.
        other: captures of the same images in the same order, most often of another model.

    Returns:
        (blocks of one, blocks of the other), in 0-1.

    Raises:
        SettingError: the images differ, in kind or number.
        UnsupportedError: only the attention of a model's blocks is known.
    """
    ones, others = ([captures] if isinstance(captures, Capture) else [*captures] for captures in (one, other))
    _refuse_other_images(ones, others)
    of_one, of_other = _products_of(ones), _products_of(others)
    values = np.empty((ones[0].depth, others[0].depth))
    for a, b in np.ndindex(values.shape):
        shapes = tuple(_coarser(x.grid(a), y.grid(b)) for x, y in zip(ones, others, strict=True))
        values[a, b] = _of_products(of_one(a, shapes), of_other(b, shapes))
    return values


def at_places(
    tokens: Float[np.ndarray, "patches dim"], grid: PatchGrid, rows: int, cols: int
) -> Float[np.ndarray, "_ dim"]:
    """Average the tokens whose centres lie within each cell of a coarser grid, `rows` x `cols`, over the same image."""
    row, col = ((2 * np.arange(side) + 1) * to // (2 * side) for side, to in ((grid.rows, rows), (grid.cols, cols)))
    cell = (row[:, None] * cols + col[None]).ravel()
    sums = np.zeros((rows * cols, tokens.shape[-1]))
    np.add.at(sums, cell, tokens)
    return sums / np.bincount(cell, minlength=rows * cols)[:, None]


def _coarser(one: PatchGrid, other: PatchGrid) -> tuple[int, int]:
    return min(one.rows, other.rows), min(one.cols, other.cols)


def _products_of(captures: list[Capture]) -> Callable[[int, tuple[tuple[int, int], ...]], np.ndarray]:
    """Return a function that computes X X^T of a block on one grid shape for each image, and caches it."""

    @cache
    def product(block: int, shapes: tuple[tuple[int, int], ...]) -> np.ndarray:
        tokens = []
        for capture, (rows, cols) in zip(captures, shapes, strict=True):
            patches = capture.residual_after(block)[len(capture.prefix_tokens) :].double().cpu().numpy()
            tokens.append(at_places(patches, capture.grid(block), rows, cols))
        return _product(np.concatenate(tokens))

    return product


def _product(tokens: np.ndarray) -> np.ndarray:
    centred = tokens - tokens.mean(0)
    return centred @ centred.T


def _of_products(one: np.ndarray, other: np.ndarray) -> float:
    lengths = np.linalg.norm(one) * np.linalg.norm(other)
    return float((one * other).sum() / lengths) if lengths else float("nan")


def _refuse_other_images(ones: list[Capture], others: list[Capture]) -> None:
    if [one.input.image_hash for one in ones] != [other.input.image_hash for other in others] or not ones:
        raise SettingError(
            Text(
                "CKA compares tokens of the same places: give captures of the same images in the same order.",
                "CKA 比较的是相同位置的标记：两侧请给出同一组图像的前向传播记录，且顺序相同。",
            )
        )
