"""One block's attention as a file that the browser fetches."""

from __future__ import annotations

import numpy as np
from gradio.data_classes import FileData
from jaxtyping import Integer

from vitexplorer.ui.canvas.payload import pack_attention
from vitexplorer.ui.files import cached_file


def attention_file(
    attention: np.ndarray,
    positions: Integer[np.ndarray, "windows keys"],
    queries: Integer[np.ndarray, "windows queries"] | None = None,
) -> FileData:
    """`pack_attention` as a file for `CanvasData.attention`, `.before` or `.after`."""
    return cached_file(pack_attention(attention, positions, queries), "attention.bin", "application/octet-stream")
