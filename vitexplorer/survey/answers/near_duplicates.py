"""Near-duplicates: pairs of images whose features have a cosine of at least `threshold`.

Up to `MOST_EXACT` images, every pair is compared, block by block. For more, only pairs that meet in one of `TABLES`
tables of random hyperplanes (Charikar 2002, section 3) are compared, by their exact cosine: there are no false pairs,
but some are missed, fewer at higher cosines; `found_share` is the expected share of found pairs just at the threshold.
Of more than `MOST_READ` images a random sample is read, in which pairs are rarer than among all.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from vitexplorer.core.text import SettingError, Text
from vitexplorer.survey.answers.bounds import is_count, is_real
from vitexplorer.survey.answers.chosen import chosen
from vitexplorer.survey.answers.features import all_directions, feature_named
from vitexplorer.survey.answers.gallery import rows_at
from vitexplorer.survey.conditions import Where
from vitexplorer.survey.opened import Survey

MOST_EXACT, MOST_READ, MOST = 20_000, 200_000, 1000
"""Limits for images with all pairs compared, for images that are read, and for pairs of an answer"""
NUMBERS = 150_000_000
"""Limit for the feature values in memory, 600 MB; longer features allow fewer images"""
TABLES, BUCKET, BLOCK = 12, 64, 1024
"""Number of hash tables, intended images of a bucket, images compared at once"""
MISSED = Text(
    "There are too many images to compare each with every other: about {share} % of the pairs just at the threshold "
    "are listed, and more of the closer ones.",
    "图像太多，无法两两比较：恰在阈值处的图像对约能找到 {share} %，更相近的则更多。",
)
TOO_MANY = Text(
    "There are so many pairs that the search was ended: ask for a higher cosine.",
    "符合条件的图像对过多，搜索已提前结束：请提高余弦阈值。",
)
MOST_HELD = 2_000_000
"""Number of pairs at which the search ends"""
ROUNDING = 1e-6
"""Tolerance for rounding of 32-bit products, so that identical features are found at a threshold of 1"""


@dataclass(frozen=True)
class Twins:
    """Pair of images that are alike to the model."""

    row: int
    other: int
    """Row of the later image in the survey"""
    cosine: float
    same_pixels: bool


@dataclass(frozen=True)
class NearDuplicates:
    """Pairs, most similar first."""

    pairs: tuple[Twins, ...]
    total: int
    """Number of pairs found, also beyond the limit"""
    compared: int
    """Number of images compared"""
    found_share: float
    """Expected share of found pairs just at the threshold; 1 if all pairs were compared"""
    notes: tuple[Text, ...]


def near_duplicates(
    survey: Survey,
    feature: str | None = None,
    where: Where = (),
    threshold: float = 0.98,
    limit: int = 200,
    seed: int = 0,
) -> NearDuplicates:
    """Find pairs of images whose features have a cosine of at least `threshold`.

    Args:
        survey: the survey.
        feature: feature_cls, feature_mean or feature_joint; None for the first that exists.
        where: conditions on the images.
        threshold: cosine, 0.5 to 1.
        limit: number of pairs, at most `MOST`.
        seed: seed of the hyperplanes.

    Raises:
        SettingError: `threshold` or `limit` is out of range.
        UnsupportedError: there are no features.
        UnknownNameError: there is no such feature.
    """
    if not (is_real(threshold) and 0.5 <= threshold <= 1) or not is_count(limit, 0, MOST):
        raise SettingError(
            Text(
                "Ask for a cosine from 0.5 to 1 and at most {most} pairs.",
                "余弦阈值应在 0.5 到 1 之间，最多 {most} 对。",
            ).format(most=MOST)
        )
    name = feature_named(survey, feature)
    first = chosen(survey, where, 1)
    width = max(1, survey.lists_at(name, first.rows).shape[1]) if len(first.rows) else 1
    rows = chosen(survey, where, min(MOST_READ, NUMBERS // width))
    numbers, values = all_directions(survey, name, rows)
    exact = len(numbers) <= MOST_EXACT
    bits = 0 if exact else max(1, round(math.log2(len(numbers) / BUCKET)))
    pieces = _pairs_of_blocks(np.arange(len(values))) if exact else _meeting(values, bits, seed)
    cosines, places, whole = _pairs(pieces, values, threshold)
    share = 1.0 if exact else found_share(threshold, bits)
    row_pairs = numbers[places[:limit]]
    pixels = {row["row"]: row["hash"] for row in rows_at(survey, np.unique(row_pairs).tolist())}
    return NearDuplicates(
        pairs=tuple(
            Twins(row, other, float(cosine), pixels[row] is not None and pixels[row] == pixels[other])
            for cosine, (row, other) in zip(cosines[:limit], row_pairs.tolist(), strict=True)
        ),
        total=len(places),
        compared=len(numbers),
        found_share=share,
        notes=(
            *rows.notes,
            *([] if exact else [MISSED.format(share=round(100 * share))]),
            *([] if whole else [TOO_MANY]),
        ),
    )


def found_share(cosine: float, bits: int) -> float:
    """Compute the share of pairs that meet in some table: a hyperplane separates them with probability angle / pi."""
    together = (1 - math.acos(min(1.0, cosine)) / math.pi) ** bits
    return 1 - (1 - together) ** TABLES


Pairs = tuple[Int[np.ndarray, " images"], Int[np.ndarray, " images"]]
"""Two sets of image indices, of which all cross pairs are compared"""


def _pairs_of_blocks(images: Int[np.ndarray, " images"]) -> Iterator[Pairs]:
    for first in range(0, len(images), BLOCK):
        for second in range(first, len(images), BLOCK):
            yield images[first : first + BLOCK], images[second : second + BLOCK]


def _meeting(values: Float[np.ndarray, "images dim"], bits: int, seed: int) -> Iterator[Pairs]:
    """Yield images on the same side of every hyperplane of a table, large buckets in blocks."""
    rng = np.random.default_rng(seed)
    for _ in range(TABLES):
        sides = values @ rng.normal(size=(values.shape[1], bits)).astype(np.float32) > 0
        codes = sides @ (1 << np.arange(bits))
        order = np.argsort(codes, kind="stable")
        starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
        for start, end in zip(starts, [*starts[1:], len(order)], strict=True):
            yield from _pairs_of_blocks(order[start:end])


def _pairs(
    pieces: Iterator[Pairs], values: Float[np.ndarray, "images dim"], threshold: float
) -> tuple[Float[np.ndarray, " entries"], Int[np.ndarray, "entries sides"], bool]:
    """Return cosines and indices of all pairs from `threshold` on, most similar first, and True if none is missing."""
    count, whole = max(1, len(values)), True
    parts = [(np.zeros(0, np.int64), np.zeros(0, np.float32))]
    for images, others in pieces:
        products = values[images] @ values[others].T
        i, j = np.nonzero(products >= threshold - ROUNDING)
        left, right = images[i], others[j]
        apart = left != right
        low, high = np.minimum(left, right)[apart], np.maximum(left, right)[apart]
        parts.append((low * count + high, products[i, j][apart]))
        if sum(len(codes) for codes, _ in parts[1:]) > MOST_HELD:
            parts = [_each_once(parts)]
            if len(parts[0][0]) > MOST_HELD:
                whole = False
                break
    codes, cosines = _each_once(parts)
    order = np.lexsort((codes, -cosines))
    return np.minimum(cosines[order], 1), np.stack(divmod(codes[order], count), axis=1), whole


def _each_once(parts: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Join parts of pairs, each with its cosine, and drop repeated pairs."""
    codes, cosines = (np.concatenate(part) for part in zip(*parts, strict=True))
    codes, first = np.unique(codes, return_index=True)
    return codes, cosines[first]
