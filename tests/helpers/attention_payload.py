"""Python reader of the attention files that the browser fetches for a block."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Integer
from starlette.applications import Starlette
from starlette.testclient import TestClient

from vitexplorer.ui.canvas.files import BLOCKS
from vitexplorer.ui.canvas.payload import MAGIC, packed_bytes
from vitexplorer.ui.kit.served_files import FILES, FileAddress

BROWSER = TestClient(Starlette(routes=[BLOCKS, FILES]))


def fetched(file: FileAddress) -> bytes:
    """Return the content that a browser gets for a file."""
    return BROWSER.get(file.url.removeprefix(".")).raise_for_status().content


def unpack_attention(
    packed: bytes,
) -> tuple[
    Float[np.ndarray, "windows heads queries keys"],
    Integer[np.ndarray, "windows keys"],
    Integer[np.ndarray, "windows queries"],
]:
    """Return weights, positions and queries; ValueError for any other content."""
    magic, windows, heads, queries, keys = (int(n) for n in np.frombuffer(packed, "<u4", 5))
    if magic != MAGIC or len(packed) != packed_bytes(windows, heads, queries, keys):
        raise ValueError("These bytes are no packed attention.")
    offset = 20

    def take(dtype: str, *shape: int) -> np.ndarray:
        nonlocal offset
        part = np.frombuffer(packed, dtype, int(np.prod(shape)), offset).reshape(shape)
        offset += part.nbytes
        return part

    positions, codes = take("<i4", windows, keys), take("<i4", windows, queries)
    ends, _ = take("<f4", windows, heads, queries, 2), take("<f4", windows, heads, queries, 2)
    least, largest = ends[..., :1], ends[..., 1:]
    shares = take("u1", windows, heads, queries, keys)
    return least + shares / np.float32(255) * (largest - least), positions, codes
