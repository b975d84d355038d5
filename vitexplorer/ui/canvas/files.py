"""A capture's attention as files that the browser fetches."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Integer

from vitexplorer.ui.canvas.payload import pack_attention
from vitexplorer.ui.files import ServedFile, cached_file

if TYPE_CHECKING:
    from vitexplorer.capture import Capture

_kept: dict[int, dict[Hashable, ServedFile]] = {}
"""files by the identity of the capture that they were made from, as long as it lives"""


def attention_file(
    attention: np.ndarray,
    positions: Integer[np.ndarray, "windows keys"],
    queries: Integer[np.ndarray, "windows queries"] | None = None,
) -> ServedFile:
    """`pack_attention` as a file for `CanvasData.attention`, `.before` or `.after`."""
    return cached_file(pack_attention(attention, positions, queries), "attention.bin")


def kept_file(capture: Capture, name: Hashable, make: Callable[[], ServedFile]) -> ServedFile:
    """A file of a capture, made once: every answer names it, and visitors share it. It may have been cleaned up."""
    if id(capture) not in _kept:
        _kept[id(capture)] = {}
        weakref.finalize(capture, _kept.pop, id(capture), None)
    files = _kept[id(capture)]
    try:
        files[name].keep()
    except (KeyError, FileNotFoundError):
        files[name] = make()
    return files[name]
