"""Slow twins: what the package computes, written again from the definitions with loops and float64.

Nothing here looks at the package. Attention is `A[head][query][key]`; prefix tokens come first; a patch is (row, col).
"""

from __future__ import annotations

import math

import numpy as np

PADDING = -32768

# ------------------------------------------------------------------------------------------------ attention


def attention(q: np.ndarray, k: np.ndarray, bias: np.ndarray, scale: float) -> np.ndarray:
    """Compute softmax(scale q k^T + bias) for q, k (heads, tokens, dim) and bias (heads, tokens, tokens)."""
    heads, tokens, _ = q.shape
    out = np.zeros((heads, tokens, tokens))
    for h in range(heads):
        for i in range(tokens):
            scores = [scale * float(np.dot(q[h, i], k[h, j])) + bias[h, i, j] for j in range(tokens)]
            exponentials = [math.exp(score - max(scores)) for score in scores]
            for j in range(tokens):
                out[h, i, j] = exponentials[j] / sum(exponentials)
    return out


def causal(A: np.ndarray) -> np.ndarray:
    """Make attention (tokens, tokens) causal: renormalise the weights up to the query."""
    out = np.zeros(A.shape)
    for i in range(len(A)):
        seen = sum(float(A[i, j]) for j in range(i + 1))
        for j in range(i + 1):
            out[i, j] = float(A[i, j]) / seen
    return out


def fused(values: np.ndarray, head: int | str) -> np.ndarray:
    """Return one head, or all heads fused entry by entry; heads are the first axis."""
    if isinstance(head, int):
        return values[head]
    out = np.zeros(values.shape[1:])
    for place in np.ndindex(out.shape):
        entries = [float(values[(h, *place)]) for h in range(len(values))]
        out[place] = {"mean": sum(entries) / len(entries), "max": max(entries), "min": min(entries)}[head]
    return out


# ------------------------------------------------------------------------------------------------ windows (Swin)


def window_positions(
    rows: int, cols: int, window: tuple[int, int], shift: tuple[int, int]
) -> list[list[tuple[int, int] | None]]:
    """Return for each window the (row, col) on the grid of each of its tokens; None for padding.

    Swin, arXiv 2103.14030, section 3.2: the grid is rolled up and left by `shift`, padded at the bottom and right to
    whole windows, and cut.
    """
    rolled = [[((r + shift[0]) % rows, (c + shift[1]) % cols) for c in range(cols)] for r in range(rows)]
    windows = []
    for top in range(0, rows, window[0]):
        for left in range(0, cols, window[1]):
            cells = []
            for r in range(top, top + window[0]):
                for c in range(left, left + window[1]):
                    cells.append(rolled[r][c] if r < rows and c < cols else None)
            windows.append(cells)
    return windows


def dense_attention(
    A: np.ndarray, rows: int, cols: int, windows: list[list[tuple[int, int] | None]]
) -> tuple[np.ndarray, np.ndarray]:
    """Return window attention (windows, heads, T, T) as one matrix on the grid.

    The results are (heads, rows cols, rows cols), and each patch's attention to padding (heads, rows cols).
    """
    heads, n = A.shape[1], rows * cols
    out, on_padding = np.zeros((heads, n, n)), np.zeros((heads, n))
    for w, cells in enumerate(windows):
        for i, query in enumerate(cells):
            for j, key in enumerate(cells):
                if query is None:
                    continue
                at = query[0] * cols + query[1]
                if key is None:
                    on_padding[:, at] += A[w, :, i, j]
                else:
                    out[:, at, key[0] * cols + key[1]] += A[w, :, i, j]
    return out, on_padding


# ------------------------------------------------------------------------------------------------ rollout


def discard(A: np.ndarray, ratio: float, num_prefix: int) -> np.ndarray:
    """Zero the lowest int(ratio * entries) entries of A (..., N, N), but none in a prefix token's row or column."""
    out = A.copy()
    ranked = sorted(np.ndindex(A.shape), key=lambda place: A[place])
    for place in ranked[: int(ratio * A.size)]:
        if place[-2] >= num_prefix and place[-1] >= num_prefix:
            out[place] = 0.0
    return out


def row_normalised(A: np.ndarray) -> np.ndarray:
    """Divide each row by its sum."""
    out = np.zeros_like(A)
    for i in range(len(A)):
        out[i] = A[i] / sum(float(a) for a in A[i])
    return out


def rollout(
    attentions: list[np.ndarray],
    fusion: str = "mean",
    ratio: float = 0.0,
    start: int = 0,
    num_prefix: int = 0,
    renewed: tuple[int, ...] = (),
) -> np.ndarray:
    """Compute R = A^_L ... A^_start with A^ = rownorm(0.5 fuse(A) + 0.5 I): Abnar & Zuidema 2020, arXiv 2005.00928.

    Tokens `renewed` before every block depend on themselves only: their rows of R restart.
    """
    n = attentions[0].shape[-1]
    R = np.eye(n)
    for A in attentions[start:]:
        for token in renewed:
            R[token] = np.eye(n)[token]
        largest = discard(fused(A, fusion), ratio, num_prefix)
        R = row_normalised(0.5 * largest + 0.5 * np.eye(n)) @ R
    return R


def chefer_rollout(attentions: list[np.ndarray], start_layer: int = 0) -> np.ndarray:
    """Compute rollout by Chefer et al. (arXiv 2012.09838, equation 17): A^ = I + mean over heads, rows normalised."""
    n = attentions[0].shape[-1]
    matrices = [row_normalised(np.eye(n) + fused(A, "mean")) for A in attentions]
    joint = matrices[start_layer]
    for i in range(start_layer + 1, len(matrices)):
        joint = matrices[i] @ joint
    return joint


def merge_matrix(rows: int, cols: int) -> np.ndarray:
    """Return (coarse, fine): a merged patch is the mean of its 2 x 2 patches; those beyond the edge are padding."""
    coarse_rows, coarse_cols = math.ceil(rows / 2), math.ceil(cols / 2)
    M = np.zeros((coarse_rows * coarse_cols, rows * cols))
    for r in range(rows):
        for c in range(cols):
            M[(r // 2) * coarse_cols + c // 2, r * cols + c] = 0.25
    return M


def swin_rollout(
    blocks: list[dict], fusion: str = "mean", ratio: float = 0.0, start: int = 0, alone: bool = False
) -> np.ndarray:
    """Compute rollout through windows and merges: (patches of the last block, patches of block `start`).

    Each block: attention (windows, heads, T, T), rows, cols, windows. Rows are normalised in the window, padding
    included, and the share of padding is lost. `alone`: each row has its residual connection only.
    """
    R = np.eye(blocks[start]["rows"] * blocks[start]["cols"])
    before = blocks[start]
    for block in blocks[start:]:
        if (block["rows"], block["cols"]) != (before["rows"], before["cols"]):
            R = merge_matrix(before["rows"], before["cols"]) @ R
        largest = discard(fused(block["attention"].swapaxes(0, 1), fusion), ratio, 0)
        hat = np.stack([row_normalised(0.5 * window + 0.5 * np.eye(len(window))) for window in largest])
        if alone:
            hat = np.stack([np.diag(0.5 / (0.5 * window + 0.5 * np.eye(len(window))).sum(1)) for window in largest])
        dense, _ = dense_attention(hat[:, None], block["rows"], block["cols"], block["windows"])
        R = dense[0] @ R
        before = block
    return R


# ------------------------------------------------------------------------------------------------ patches


def patches(pixels: np.ndarray, rows: int, cols: int, size: int) -> np.ndarray:
    """Cut a picture into whole squares, row by row: (rows * cols, size, size, 3)."""
    out = np.zeros((rows * cols, size, size, 3), pixels.dtype)
    for r in range(rows):
        for c in range(cols):
            for y in range(size):
                for x in range(size):
                    out[r * cols + c, y, x] = pixels[r * size + y, c * size + x]
    return out
