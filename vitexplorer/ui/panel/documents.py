"""JSON file of a figure for the browser: every window and the slide, with what they share stored once.

The slide is the layout that a person saves. Pictures (strings) and colour tables (tuples) are shared. Arrays are in
base64 with their type, as plotly.js reads them.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Hashable
from typing import Any

import numpy as np

LONG = 256
"""Fewest letters of a string, or entries of a tuple, that is stored once and shared"""


def figure_json(windows: tuple[dict[str, Any], ...], slide: dict[str, Any]) -> bytes:
    """Return JSON with `windows`, `slide` and `shared`; `{"shared": n}` stands for the n-th shared value.

    `windows` are traces and layout of each window, see `figures.rendering.windows`, and `slide` those of the whole
    figure.
    """
    shared: dict[Hashable, int] = {}
    document = _plain({"windows": windows, "slide": slide}, shared)
    return json.dumps({**document, "shared": [*shared]}, ensure_ascii=False, allow_nan=False).encode()


def _plain(value: Any, shared: dict[Hashable, int]) -> Any:
    """Replace arrays, long strings and what JSON lacks; new long strings and tuples are added to `shared`."""
    if isinstance(value, str | tuple) and len(value) >= LONG:
        return {"shared": shared.setdefault(value, len(shared))}
    if isinstance(value, dict):
        return {name: _plain(item, shared) for name, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        return [_plain(item, shared) for item in value]
    if isinstance(value, np.ndarray):
        return _plain(_typed(value), shared)
    if isinstance(value, np.generic):
        return _plain(value.item(), shared)
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value


def _typed(array: np.ndarray) -> Any:
    """Encode the numbers of an array in base64 with their type and shape; an array of words becomes a list."""
    if array.dtype.kind not in "fiu":
        return array.tolist()
    if array.dtype.itemsize == 8 and array.dtype.kind in "iu":  # plotly.js reads no 64-bit integers
        array = array.astype(np.int32)
    kind = array.dtype.newbyteorder("<")
    spec = {"dtype": kind.str[1:], "bdata": base64.b64encode(array.astype(kind).tobytes()).decode()}
    return spec if array.ndim == 1 else {**spec, "shape": ", ".join(map(str, array.shape))}
