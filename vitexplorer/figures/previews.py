"""Tiny pictures of results, for choosing a view: colours and shapes alone, no letters, no scale.

They appear on light and dark pages, so empty places are transparent and lines have a medium colour.
"""

from __future__ import annotations

import io
from collections.abc import Sequence

import numpy as np
from jaxtyping import UInt8
from PIL import Image, ImageDraw

from vitexplorer.core.network_result import NetworkPairResult, NetworkResult
from vitexplorer.core.stacking import stacked
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
from vitexplorer.figures.colors import EASE, Scale, grey_of, lookup_table, map_scale, scale_of
from vitexplorer.figures.meanings import CATEGORIES, part_color
from vitexplorer.figures.renderers.gallery import sheet
from vitexplorer.figures.renderers.head import painted_rows
from vitexplorer.figures.renderers.methods import share_of_scale

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


def _pixels(result: Result) -> UInt8[np.ndarray, "height width channels"] | None:
    match result:
        case MapResult():
            return _map(result)
        case GalleryResult():
            heads = result.values
            return heat(_four(heads) if len(heads) >= 4 else heads[0])
        case MethodsResult():
            shares = [share_of_scale(result.values[number % len(result.values)]).clip(-1, 1) for number in range(4)]
            return heat(_four(np.stack(shares)))
        case MatrixResult():
            return heat(result.values, (WIDE, SIDE))
        case SequenceResult():
            return heat(painted_rows(result, every=-(-len(result.values) // SIDE)))
        case OffsetsResult():
            return heat(result.values[0])
        case BoardResult():
            every = -(-max(result.grid.rows, result.grid.cols) // 4)
            return heat(sheet(result.values[every // 2 :: every, every // 2 :: every]))
        case BeforeAfterResult():
            return heat(result.values, scale=map_scale(result.values, None))
        case ColoursResult():
            return _colours(result.values, (SIDE, SIDE))
        case PairResult():
            return _halves(result.values[0], result.other)
        case NetworkPairResult():
            return _halves(*map(_last_tokens, result.passes))
        case PicturesResult():
            return _halves(*(picture.values for picture in result.pictures[:2]))
        case SidesResult():
            longer = np.nanmax(result.values, axis=1, keepdims=True)
            return bars((result.values / np.where(longer > 0, longer, 1)).ravel())
        case ReconstructionResult():
            return _picture(result.values)
        case TokenStepsResult():
            numbers = heat(result.values[None])[:, : WIDE - SIDE // 2, :3]
            return np.concatenate([_picture(result.patch)[:, : SIDE // 2], numbers], 1)
        case FiltersResult():
            side = 3 if len(result.values) >= 9 else 1
            tall = result.values[: side * side].reshape(side, side, *result.values.shape[1:])
            return _picture(_bytes(np.nan_to_num(sheet(tall), nan=1.0)))
        case CurvesResult():
            return lines(np.atleast_2d(result.values)[: len(LINES)])
        case FaithfulnessResult():
            return lines(result.values[: len(LINES), 0])
        case GrowthResult():
            return lines(result.values.sum(1))
        case LensResult():
            return _lens(result)
        case DotProductResult() | CountResult():
            return bars(result.values)
        case ContributionsResult():
            return _contributions(result)
        case TreeResult():
            leaves = [count for index, count in enumerate(result.values.tolist()) if index not in result.parents]
            return bars(np.array(leaves))
    return None


def heat(values: np.ndarray, size: tuple[int, int] = (SIDE, SIDE), scale: Scale | None = None) -> np.ndarray:
    """Draw (rows, cols) in the colours of the figure, RGBA of (width, height), transparent at NaN."""
    scale = scale or scale_of(values, None)
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
    return _sized(pixels, (SIDE, SIDE))


def _bytes(colours: np.ndarray) -> np.ndarray:
    """Convert colours in 0-1 to uint8; patches without one become black."""
    return (255 * np.nan_to_num(colours).clip(0, 1)).round().astype(np.uint8)


def _colours(colours: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    return _sized(_bytes(colours), size, Image.Resampling.NEAREST)


def _map(result: MapResult) -> np.ndarray:
    scale = (map_scale if result.query is None else scale_of)(result.values, None)
    image, cells = grey_of(_picture(result.image)).astype(float), heat(result.values, scale=scale).astype(float)
    strength = OPACITY * (np.abs(np.nan_to_num(result.values)) / scale.high).clip(0, 1) ** EASE
    share = _sized(_bytes(strength), (SIDE, SIDE), Image.Resampling.NEAREST)[..., None] / 255
    return (image * (1 - share) + cells[..., :3] * share).round().astype(np.uint8)


def _four(maps: np.ndarray) -> np.ndarray:
    """Lay the first four maps on one plane."""
    return sheet(maps[:4].reshape(2, 2, *maps.shape[1:]))


def _halves(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Draw two maps, or colours of patches, side by side."""
    return np.concatenate([_half(left), np.zeros((SIDE, 4, 4), np.uint8), _half(right)], 1)


def _half(values: np.ndarray) -> np.ndarray:
    size = ((WIDE - 4) // 2, SIDE)
    if values.ndim == 2:
        return heat(values, size, map_scale(values, None))
    colours = _colours(values, size)
    return np.concatenate([colours, np.full((*colours.shape[:2], 1), 255, np.uint8)], -1)


def _last_tokens(result: NetworkResult) -> np.ndarray:
    """Return the colours of the tokens that leave the last block, (rows, cols, 3)."""
    grid = result.grids[-1]
    return result.values[-1, : grid.num_patches].reshape(grid.rows, grid.cols, 3)


def _lens(result: LensResult) -> np.ndarray:
    if not result.top:
        return heat(np.unique(result.values[-1], return_inverse=True)[1].reshape(result.values.shape[1:]).astype(float))
    shares = stacked([answer.probability for answer in top] for top in result.top)
    return heat(shares, (WIDE, SIDE))


def _contributions(result: ContributionsResult) -> np.ndarray:
    step = WIDE / len(result.values)
    largest = np.abs(result.values).max() or 1.0
    picture = Image.new("RGBA", (WIDE, SIDE))
    pen = ImageDraw.Draw(picture)
    for number, (part, value) in enumerate(zip(result.parts, result.values.tolist(), strict=True)):
        end = SIDE / 2 - (SIDE / 2 - 2) * value / largest
        box = (number * step, min(end, SIDE / 2), max((number + 1) * step - 2, number * step), max(end, SIDE / 2))
        pen.rectangle(box, fill=part_color(part))
    return np.asarray(picture)
