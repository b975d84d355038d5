"""A figure on its way to the browser: every window and the slide in one file, what they share in it once.

The slide is what a person saves. Arrays travel as plotly.js reads them, with their type in base64.
"""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np

LONG = 256
"""letters from which on a text that comes again is written once"""


def written(windows: tuple[dict[str, Any], ...], slide: dict[str, Any]) -> bytes:
    """JSON with `windows`, `slide` and `shared`; `{"shared": n}` stands for the n-th of those.

    Args:
        windows: traces and layout, as `Windows` has them.
        slide: the same of the whole figure.
    """
    shared: dict[str, int] = {}
    document = _plain({"windows": windows, "slide": slide}, shared)
    return json.dumps({**document, "shared": [*shared]}, ensure_ascii=False, allow_nan=False).encode()


def _plain(thing: Any, shared: dict[str, int]) -> Any:
    if isinstance(thing, dict):
        return {name: _plain(value, shared) for name, value in thing.items() if value is not None}
    if isinstance(thing, list | tuple):
        return [_plain(one, shared) for one in thing]
    if isinstance(thing, np.ndarray):
        return _plain(_typed(thing), shared)
    if isinstance(thing, np.generic):
        return _plain(thing.item(), shared)
    if isinstance(thing, float) and not np.isfinite(thing):
        return None
    if isinstance(thing, str) and len(thing) >= LONG:
        return {"shared": shared.setdefault(thing, len(shared))}
    return thing


def _typed(array: np.ndarray) -> Any:
    """The numbers of an array in base64 with their type and shape; words as they are."""
    if array.dtype.kind not in "fiu":
        return array.tolist()
    if array.dtype.itemsize == 8 and array.dtype.kind in "iu":  # which browsers have no arrays of
        array = array.astype(np.int32)
    kind = array.dtype.newbyteorder("<")
    spec = {"dtype": kind.str[1:], "bdata": base64.b64encode(array.astype(kind).tobytes()).decode()}
    return spec if array.ndim == 1 else {**spec, "shape": ", ".join(map(str, array.shape))}
