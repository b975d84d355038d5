"""Tiny pictures of results, for choosing a view: colours and shapes alone, no letters, no scale.

They appear on light and dark pages, so empty places are transparent and lines have a medium colour.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from functools import singledispatch

import numpy as np
from jaxtyping import UInt8
from PIL import Image, ImageDraw

from vitexplorer.core.types import (
    BeforeAfterResult,
    BoardResult,
    ColoursResult,
    ContributionsResult,
    CountResult,
    CurvesResult,
    DotProductResult,
    FaithfulnessResult,
    FiltersResult,
    GalleryResult,
    GrowthResult,
    LensResult,
    MapResult,
    MatrixResult,
    MethodsResult,
    OffsetsResult,
    PairResult,
    PicturesResult,
    ReconstructionResult,
    Result,
    SequenceResult,
    SidesResult,
    TokenStepsResult,
    TreeResult,
)
from vitexplorer.figures.colors import EASE, lookup_table, scale_of
from vitexplorer.figures.meanings import CATEGORIES, part_color
from vitexplorer.figures.renderers.board import sheet
from vitexplorer.figures.renderers.sequence import painted_rows
from vitexplorer.figures.scaling import painted_each

SIDE, WIDE = 96, 144
"""Pixels, twice the size on the page, for high-resolution screens"""
LINES = ("#4f86c6", "#e0803f", "#3fa283", "#a274b8", "#c8587c", "#a3932f")
OPACITY = 0.85


def preview(result: Result) -> bytes | None:
    """Return a PNG of at most 144 x 96 pixels; None for a kind of result without a preview."""
    pixels = _pixels(result)
    if pixels is None:
        return None
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG")
    return buffer.getvalue()


@singledispatch
def _pixels(result: Result) -> UInt8[np.ndarray, "height width channels"] | None:
    return None


def heat(values: np.ndarray, size: tuple[int, int] = (SIDE, SIDE)) -> np.ndarray:
    """Draw (rows, cols) in the colours of the figure, RGBA of (width, height), transparent at NaN."""
    scale = scale_of(values, None)
    share = np.nan_to_num((values - scale.low) / ((scale.high - scale.low) or 1)).clip(0, 1)
    colors = lookup_table(scale.colormap)[(255 * share).round().astype(int)]
    alpha = np.where(np.isfinite(values), 255, 0).astype(np.uint8)
    return _sized(np.concatenate([colors, alpha[..., None]], axis=-1), size, Image.Resampling.NEAREST)


def lines(curves: np.ndarray | Sequence[np.ndarray]) -> np.ndarray:
    """Draw every curve from left to right, all on one scale that includes zero."""
    together = np.concatenate([np.ravel(curve) for curve in curves]).astype(float)
    finite = together[np.isfinite(together)]
    low, high = min(0.0, finite.min(initial=0)), max(0.0, finite.max(initial=0))
    picture = Image.new("RGBA", (WIDE, SIDE))
    pen = ImageDraw.Draw(picture)
    for number, curve in enumerate(curves):
        at = np.linspace(5, WIDE - 6, len(curve))
        down = SIDE - 6 - (np.asarray(curve, float) - low) / ((high - low) or 1) * (SIDE - 12)
        points = [(x, y) for x, y in zip(at.tolist(), down.tolist(), strict=True) if np.isfinite(y)]
        pen.line(points, fill=LINES[number % len(LINES)], width=4, joint="curve")
    return np.asarray(picture)


def bars(values: np.ndarray, most: int = 8) -> np.ndarray:
    """Draw the largest values as bars from the left."""
    largest = np.sort(values[np.isfinite(values)].astype(float))[::-1][:most]
    step = SIDE / max(len(largest), 4)
    longest = largest.max(initial=0) or 1.0
    picture = Image.new("RGBA", (WIDE, SIDE))
    pen = ImageDraw.Draw(picture)
    for number, value in enumerate(largest.tolist()):
        top = number * step + 2
        box = (2, top, 3 + (WIDE - 6) * max(value, 0) / longest, top + step - 5)
        pen.rectangle(box, fill=CATEGORIES[number % len(CATEGORIES)])
    return np.asarray(picture)


def _sized(pixels: np.ndarray, size: tuple[int, int], how: Image.Resampling = Image.Resampling.BILINEAR) -> np.ndarray:
    return np.asarray(Image.fromarray(np.ascontiguousarray(pixels)).resize(size, how))


def _picture(pixels: np.ndarray) -> np.ndarray:
    """Convert uint8 pictures, or colours in 0-1."""
    return _sized(
        pixels if pixels.dtype == np.uint8 else (255 * pixels.clip(0, 1)).round().astype(np.uint8), (SIDE, SIDE)
    )


@_pixels.register
def _(result: MapResult) -> np.ndarray:
    image, cells = _picture(result.image).astype(float), heat(result.values).astype(float)
    largest = float(np.abs(result.values[np.isfinite(result.values)]).max(initial=0)) or 1.0
    strength = OPACITY * (np.abs(np.nan_to_num(result.values)) / largest).clip(0, 1) ** EASE
    share = _sized((255 * strength).round().astype(np.uint8), (SIDE, SIDE), Image.Resampling.NEAREST)[..., None] / 255
    return (image * (1 - share) + cells[..., :3] * share).round().astype(np.uint8)


@_pixels.register
def _(result: GalleryResult) -> np.ndarray:
    return (
        heat(sheet(result.values[:4].reshape(-1, 2, *result.values.shape[1:])))
        if len(result.values) >= 4
        else heat(result.values[0])
    )


@_pixels.register
def _(result: MethodsResult) -> np.ndarray:
    maps = painted_each(result.values).values[np.arange(4) % len(result.values)]
    return heat(sheet(maps.reshape(2, 2, *maps.shape[1:])))


@_pixels.register
def _(result: MatrixResult) -> np.ndarray:
    return heat(result.values, (WIDE, SIDE))


@_pixels.register
def _(result: SequenceResult) -> np.ndarray:
    every = -(-len(result.values) // SIDE)
    return heat(painted_rows(result, every), (SIDE, SIDE))


@_pixels.register
def _(result: OffsetsResult) -> np.ndarray:
    return heat(result.values[0])


@_pixels.register
def _(result: BoardResult) -> np.ndarray:
    every = -(-max(result.grid.rows, result.grid.cols) // 4)
    return heat(sheet(result.values[every // 2 :: every, every // 2 :: every]))


@_pixels.register
def _(result: BeforeAfterResult) -> np.ndarray:
    return heat(result.values)


@_pixels.register
def _(result: ColoursResult) -> np.ndarray:
    colours = (255 * result.values.clip(0, 1)).round().astype(np.uint8)
    return _sized(colours, (SIDE, SIDE), Image.Resampling.NEAREST)


@_pixels.register
def _(result: PairResult) -> np.ndarray:
    halves = [_half(result.values[0]), _half(result.other)]
    return np.concatenate([halves[0], np.zeros((SIDE, 4, 4), np.uint8), halves[1]], 1)


@_pixels.register
def _(result: PicturesResult) -> np.ndarray:
    one, other = (_half(picture.values) for picture in result.pictures[:2])
    return np.concatenate([one, np.zeros((SIDE, 4, 4), np.uint8), other], 1)


def _half(values: np.ndarray) -> np.ndarray:
    size = ((WIDE - 4) // 2, SIDE)
    if values.ndim == 2:
        return heat(values, size)
    colours = _sized((255 * values.clip(0, 1)).round().astype(np.uint8), size, Image.Resampling.NEAREST)
    return np.concatenate([colours, np.full((*colours.shape[:2], 1), 255, np.uint8)], -1)


@_pixels.register
def _(result: SidesResult) -> np.ndarray:
    largest = np.nanmax(result.values, axis=1, keepdims=True)
    return bars((result.values / np.where(largest > 0, largest, 1)).ravel())


@_pixels.register
def _(result: ReconstructionResult) -> np.ndarray:
    return _picture(result.values)


@_pixels.register
def _(result: TokenStepsResult) -> np.ndarray:
    return np.concatenate(
        [_picture(result.patch)[:, : SIDE // 2], heat(result.values[None])[:, : WIDE - SIDE // 2, :3]], 1
    )


@_pixels.register
def _(result: FiltersResult) -> np.ndarray:
    side = 3 if len(result.values) >= 9 else 1
    tall = result.values[: side * side].reshape(side, side, *result.values.shape[1:])
    return _picture(np.nan_to_num(sheet(tall), nan=1.0))


@_pixels.register
def _(result: CurvesResult) -> np.ndarray:
    return lines(np.atleast_2d(result.values)[: len(LINES)])


@_pixels.register
def _(result: FaithfulnessResult) -> np.ndarray:
    return lines(result.values[: len(LINES), 0])


@_pixels.register
def _(result: GrowthResult) -> np.ndarray:
    return lines(result.values.sum(1))


@_pixels.register
def _(result: LensResult) -> np.ndarray:
    if not result.top:
        return heat(np.unique(result.values[-1], return_inverse=True)[1].reshape(result.values.shape[1:]).astype(float))
    ranks = max(map(len, result.top))
    shares = np.full((len(result.top), ranks), np.nan)
    for row, top in enumerate(result.top):
        shares[row, : len(top)] = [one.probability for one in top]
    return heat(shares, (WIDE, SIDE))


@_pixels.register
def _(result: DotProductResult) -> np.ndarray:
    return bars(result.values)


@_pixels.register
def _(result: CountResult) -> np.ndarray:
    return bars(result.values)


@_pixels.register
def _(result: ContributionsResult) -> np.ndarray:
    step = WIDE / len(result.values)
    largest = np.abs(result.values).max() or 1.0
    picture = Image.new("RGBA", (WIDE, SIDE))
    pen = ImageDraw.Draw(picture)
    for number, (part, value) in enumerate(zip(result.parts, result.values.tolist(), strict=True)):
        end = SIDE / 2 - (SIDE / 2 - 2) * value / largest
        box = (number * step, min(end, SIDE / 2), max((number + 1) * step - 2, number * step), max(end, SIDE / 2))
        pen.rectangle(box, fill=part_color(part))
    return np.asarray(picture)


@_pixels.register
def _(result: TreeResult) -> np.ndarray:
    leaves = [count for index, count in enumerate(result.values.tolist()) if index not in result.parents]
    return bars(np.array(leaves))
