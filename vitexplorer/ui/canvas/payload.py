"""Binary format of one block's attention, which `payload.js` reads.

Little-endian, in this order:

====================  ======================  ==========================================================
uint32                (5,)                    MAGIC, windows, heads, queries, keys
int32                 (windows, keys)         token of each key, see below
int32                 (windows, queries)      token of each query
float32               (windows heads queries 2)  least (at most 0) and largest weight of each row
float32               (windows heads queries 2)  sums of each row over patches and over padding
uint8                 (windows heads queries keys)  round(255 (weight - least) / (largest - least))
====================  ======================  ==========================================================

A token is an index into the patch grid of the queries or keys, row by row; -1 - i for prefix token i; `PADDING` for a
token that only fills a window. A query may also be `MEAN`: a row that is already averaged over all patches. A weight is
decoded as least + byte / 255 x (largest - least), so its error is at most (largest - least) / 510, however sharp its
head; least is 0 except where heads are mixed after the softmax. Sums of many decoded weights would drift, so the sums
are sent too.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float, Integer

from vitexplorer.core.types import PADDING

MAGIC = 0x32415856  # "VXA2"
MEAN = -32767


def packed_bytes(windows: int, heads: int, queries: int, keys: int) -> int:
    """Count the bytes that `pack_attention` returns for attention of this shape, without computing it."""
    return 20 + 4 * windows * (keys + queries) + windows * heads * queries * (16 + keys)


def pack_attention(
    attention: Float[np.ndarray, "windows heads queries keys"],
    positions: Integer[np.ndarray, "windows keys"],
    queries: Integer[np.ndarray, "windows queries"] | None = None,
) -> bytes:
    """Pack attention weights and the tokens of their rows and columns into bytes.

    Args:
        attention: weights that multiply the values; one window where attention is global.
        positions: token of each key, as the module describes.
        queries: token of each query; None where they are the keys. Some rows only, or one, may be packed.

    Raises:
        ValueError: for shapes that do not fit and for weights that are not finite.
    """
    queries = positions if queries is None else queries
    windows, heads, num_queries, num_keys = attention.shape
    if positions.shape != (windows, num_keys) or queries.shape != (windows, num_queries):
        raise ValueError(
            f"Attention {attention.shape} wants positions {(windows, num_keys)} and queries {(windows, num_queries)}; "
            f"got {positions.shape} and {queries.shape}."
        )
    weights = np.asarray(attention, dtype=np.float32)
    least, largest = weights.min(-1, keepdims=True, initial=0), weights.max(-1, keepdims=True, initial=0)
    span = largest - least
    if not np.isfinite(span).all():
        raise ValueError("Attention weights are finite; these are not.")
    masses = [_mass(weights, tokens) for tokens in (positions >= 0, positions == PADDING)]
    shares = weights - least
    shares *= np.float32(255) / np.where(span > 0, span, 1)
    np.rint(shares, out=shares)
    return b"".join(
        (
            np.array([MAGIC, windows, heads, num_queries, num_keys], "<u4").tobytes(),
            positions.astype("<i4").tobytes(),
            queries.astype("<i4").tobytes(),
            np.concatenate([least, largest], -1).astype("<f4").tobytes(),
            np.stack(masses, -1).astype("<f4").tobytes(),
            shares.astype(np.uint8).tobytes(),
        )
    )


def _mass(
    weights: Float[np.ndarray, "windows heads queries keys"], tokens: Bool[np.ndarray, "windows keys"]
) -> Float[np.ndarray, "windows heads queries"]:
    """Sum the weights on some tokens, for every query."""
    if not tokens.any():
        return np.zeros(weights.shape[:-1], np.float32)
    return (weights * tokens[:, None, None]).sum(-1)
