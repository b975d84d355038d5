"""Slow twins for tokens, heads, positions and cost: loops and float64, written from the definitions.

Nothing here looks at the package. Attention of a window is `A[head][query][key]`; the cells of a window say for each of
its tokens what it is: (row, col) of a patch, the name of a prefix token, or None for padding.
"""

from __future__ import annotations

import math

import numpy as np
from torch import nn

Cell = tuple[int, int] | str | None


def dot(a: np.ndarray, b: np.ndarray) -> float:
    """Compute the sum of products."""
    return math.fsum(float(x) * float(y) for x, y in zip(a, b, strict=True))


def norm(a: np.ndarray) -> float:
    """Compute the Euclidean length."""
    return math.sqrt(dot(a, a))


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    """Compute a . b / (|a| |b|)."""
    return dot(a, b) / (norm(a) * norm(b))


def softmax(scores: np.ndarray) -> np.ndarray:
    """Compute the exponentials, divided by their sum."""
    exponentials = [math.exp(score - max(scores)) for score in scores]
    return np.array([e / math.fsum(exponentials) for e in exponentials])


def of_row(metric: str, row: np.ndarray, query: int, cells: list[Cell], size: int) -> float:
    """Compute one number for one row of attention."""
    is_patch = [isinstance(cell, tuple) for cell in cells]
    if metric in ("distance", "raw", "renormalised"):
        total = 0.0
        for j, cell in enumerate(cells):
            if is_patch[j]:
                total += row[j] * size * math.hypot(cells[query][0] - cell[0], cells[query][1] - cell[1])
        return total / sum(row[j] for j in range(len(row)) if is_patch[j]) if metric == "renormalised" else total
    if metric == "entropy":
        return -sum(a * math.log(a) for a in row if a > 0)
    if metric == "class_mass":
        return row[cells.index("cls")]
    if metric == "prefix_mass":
        return sum(a for a, cell in zip(row, cells, strict=True) if isinstance(cell, str))
    if metric == "self_mass":
        return row[query]
    return {"peak": max(row)}[metric]


def of_heads(metric: str, A: np.ndarray, windows: list[list[Cell]], size: int) -> list[float]:
    """Compute the mean over all patches as queries, for each head of a block: A (windows, heads, T, T)."""
    numbers = []
    for h in range(A.shape[1]):
        found = [
            of_row(metric, A[w, h, i], i, cells, size)
            for w, cells in enumerate(windows)
            for i, cell in enumerate(cells)
            if isinstance(cell, tuple)
        ]
        numbers.append(sum(found) / len(found))
    return numbers


def layer_norm(x: np.ndarray, gain: np.ndarray, bias: np.ndarray, eps: float) -> np.ndarray:
    """Compute (x - mean) / sqrt(variance + eps) * gain + bias of one token."""
    mean = math.fsum(x) / len(x)
    variance = math.fsum((float(v) - mean) ** 2 for v in x) / len(x)
    return np.array(
        [(float(v) - mean) / math.sqrt(variance + eps) * g + b for v, g, b in zip(x, gain, bias, strict=True)]
    )


def linear(x: np.ndarray, weight: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """Compute W x + b of one token."""
    return np.array([dot(row, x) + b for row, b in zip(weight, bias, strict=True)])


def sincos(place: float, dim: int) -> list[float]:
    """Compute sin and cos of place / 10000^(2f / dim) for f = 0 ... dim / 2 - 1 (Vaswani et al. 2017, section 3.5)."""
    angles = [place / 10000 ** (2 * f / dim) for f in range(dim // 2)]
    return [math.sin(a) for a in angles] + [math.cos(a) for a in angles]


def sincos_2d(row: int, col: int, dim: int) -> list[float]:
    """Encode the row in half of the width and the column in the other half."""
    return sincos(row, dim // 2) + sincos(col, dim // 2)


def vit_macs(
    rows: int, cols: int, patch: int, prefix: int, dim: int, depth: int, hidden: int, classes: int
) -> dict[str, int]:
    """Count multiply-accumulates of a plain ViT, one product at a time: (m x k) times (k x n) is m k n."""
    n, macs = rows * cols + prefix, {"projections": 0, "products": 0, "mlp": 0}
    macs["patches"] = rows * cols * (3 * patch * patch) * dim
    for _ in range(depth):
        for _projection in ("q", "k", "v", "out"):
            macs["projections"] += n * dim * dim
        macs["products"] += n * dim * n  # q k^T, all heads together
        macs["products"] += n * n * dim  # A v
        macs["mlp"] += n * dim * hidden + n * hidden * dim
    macs["classifier"] = dim * classes
    return macs


def read_slowly(module: nn.Module, token: np.ndarray) -> np.ndarray:
    """Apply the final LayerNorm and the classifier to one token, in float64."""
    final = module.norm if isinstance(module.norm, nn.LayerNorm) else module.fc_norm
    gain, bias = (parameter.detach().double().numpy() for parameter in (final.weight, final.bias))
    head = (parameter.detach().double().numpy() for parameter in (module.head.weight, module.head.bias))
    return linear(layer_norm(token, gain, bias, final.eps), *head)
