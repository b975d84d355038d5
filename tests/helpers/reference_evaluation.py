"""Slow twins of the protocols, written from the papers with loops and float64. Nothing here looks at the package."""

from __future__ import annotations

import itertools
import math

import numpy as np


def on_pixels(values: np.ndarray, side: int) -> np.ndarray:
    """Spread a map of patches over pixels: each pixel gets its share of its patch."""
    out = np.zeros((len(values) * side, values.shape[1] * side))
    for y, x in np.ndindex(out.shape):
        out[y, x] = values[y // side, x // side] / side**2
    return out


def mass_accuracy(pixels: np.ndarray, mask: np.ndarray) -> float:
    """Compute positive relevance inside the mask over all positive relevance (arXiv 2003.07258, equation 1)."""
    inside = total = 0.0
    for place in np.ndindex(pixels.shape):
        total += max(pixels[place], 0.0)
        inside += max(pixels[place], 0.0) if mask[place] else 0.0
    return inside / total if total else 0.0


def rank_accuracy(pixels: np.ndarray, mask: np.ndarray, rng: np.random.Generator) -> float:
    """Compute the share of the K highest pixels in the mask (arXiv 2003.07258, equation 2), ties in random order."""
    places = list(np.ndindex(pixels.shape))
    rng.shuffle(places)
    places.sort(key=lambda place: -pixels[tuple(place)])
    count = int(mask.sum())
    return sum(bool(mask[tuple(place)]) for place in places[:count]) / count


def imputed(image: np.ndarray, missing: np.ndarray) -> np.ndarray:
    """Impute linearly without noise (arXiv 2202.00449, section 4.2), all equations as one dense matrix."""
    height, width = missing.shape
    unknown = [place for place in np.ndindex(missing.shape) if missing[place]]
    number = {place: at for at, place in enumerate(unknown)}
    matrix, right = np.zeros((len(unknown), len(unknown))), np.zeros((len(unknown), len(image)))
    for (y, x), at in number.items():
        for dy, dx in itertools.product((-1, 0, 1), repeat=2):
            weight = {0: 0.0, 1: 1 / 6, 2: 1 / 12}[abs(dy) + abs(dx)]
            near = y + dy, x + dx
            if not (0 <= near[0] < height and 0 <= near[1] < width) or weight == 0:
                continue
            matrix[at, at] += weight
            if near in number:
                matrix[at, number[near]] -= weight
            else:
                right[at] += weight * image[:, near[0], near[1]]
    out = image.astype(float).copy()
    for (y, x), found in zip(unknown, np.linalg.solve(matrix, right), strict=True):
        out[:, y, x] = found
    return out


def saco(salience: list[float], falls: list[float]) -> float:
    """Compute Algorithm 1 of arXiv 2404.01415; groups come most salient first."""
    score = total = 0.0
    for i in range(len(salience) - 1):
        for j in range(i + 1, len(salience)):
            weight = salience[i] - salience[j] if falls[i] >= falls[j] else -(salience[i] - salience[j])
            score += weight
            total += abs(weight)
    return score / total


def ranks(values: list[float]) -> list[float]:
    """Return the rank of each value; ties share their mean rank."""
    return [
        sum(other < value for other in values) + (sum(other == value for other in values) - 1) / 2 for value in values
    ]


def spearman(one: list[float], other: list[float]) -> float:
    """Compute Pearson's correlation of the ranks."""
    a, b = ranks(one), ranks(other)
    mean_a, mean_b = sum(a) / len(a), sum(b) / len(b)
    together = sum((x - mean_a) * (y - mean_b) for x, y in zip(a, b, strict=True))
    return together / math.sqrt(sum((x - mean_a) ** 2 for x in a) * sum((y - mean_b) ** 2 for y in b))


def sufficient(classes: list[dict[str, str]], label: int) -> set[frozenset[str]]:
    """Return the minimal sets of parts that no other class shares (arXiv 2308.06248, section 4.1)."""
    parts = list(classes[label])
    every = [frozenset(c) for n in range(1, len(parts) + 1) for c in itertools.combinations(parts, n)]
    distinctive = []
    for chosen in every:
        others = [o for o in range(len(classes)) if o != label]
        if all(any(classes[o][p] != classes[label][p] for p in chosen) for o in others):
            distinctive.append(chosen)
    return {chosen for chosen in distinctive if not any(other < chosen for other in distinctive)}


def widened(mask: np.ndarray, around: int) -> np.ndarray:
    """Return the pixels at most `around` rows and columns from a pixel of the mask."""
    out = np.zeros_like(mask)
    for y, x in np.argwhere(mask):
        out[max(0, y - around) : y + around + 1, max(0, x - around) : x + around + 1] = True
    return out
