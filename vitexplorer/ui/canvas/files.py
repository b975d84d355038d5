"""Attention of a capture as files that the browser fetches.

An answer holds only the address of a block; its bytes are made when a browser first requests them. So an answer can
name every block, and the browser fetches a chosen block in one request. An address is valid as long as the capture is
in memory; after that the browser requests the block's data again and gets a new address.
"""

from __future__ import annotations

import asyncio
import secrets
import weakref
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlencode

import numpy as np
from jaxtyping import Integer
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from vitexplorer.controls import written_value
from vitexplorer.core.settings import settings
from vitexplorer.core.text import Language
from vitexplorer.ui.canvas.payload import pack_attention, packed_bytes
from vitexplorer.ui.kit.served_files import FileAddress, ServedFile, cached_file, image_file
from vitexplorer.ui.kit.static_responses import IMMUTABLE, NO_STORE, compressed, encoding_of

if TYPE_CHECKING:
    from vitexplorer.capturing.capture import Capture

T = TypeVar("T")


@dataclass
class _Files:
    """Files of one capture."""

    name: str = field(default_factory=lambda: secrets.token_urlsafe(16))
    """Name of the capture in addresses, random so that nobody guesses it"""
    made: dict[Hashable, Any] = field(default_factory=dict)
    """Served files and small facts of the capture, by name"""


_files_by_id: dict[int, _Files] = {}
"""Files by the `id` of the capture, as long as the capture lives"""
_captures: weakref.WeakValueDictionary[str, Capture] = weakref.WeakValueDictionary()
"""Captures by their names in addresses"""
_being_packed: dict[tuple[str, int], asyncio.Task[bytes]] = {}
"""Blocks that are being packed, by capture name and block: requests in the meantime wait for the same bytes"""


def attention_file(
    attention: np.ndarray,
    positions: Integer[np.ndarray, "windows keys"],
    queries: Integer[np.ndarray, "windows queries"] | None = None,
) -> ServedFile:
    """Make a file for `CanvasData.attention`, see `pack_attention`."""
    return cached_file(pack_attention(attention, positions, queries), "attention.bin")


def capture_file(capture: Capture, name: Hashable, make: Callable[[], ServedFile]) -> ServedFile:
    """Return a file of a capture that all visitors share; it is made once, and again after a cleanup removed it."""
    made = _files_of(capture).made
    try:
        made[name].keep()
    except (KeyError, FileNotFoundError):
        made[name] = make()
    return made[name]


def input_file(capture: Capture) -> ServedFile:
    """Return the pixels that the model saw as a file."""
    return capture_file(capture, "image", lambda: image_file(capture.input.pixels))


def made_once(capture: Capture, name: Hashable, make: Callable[[], T]) -> T:
    """Return a small fact of a capture, computed once and remembered as long as the capture lives."""
    made = _files_of(capture).made
    if name not in made:
        made[name] = make()
    return made[name]


def _files_of(capture: Capture) -> _Files:
    if id(capture) not in _files_by_id:
        files = _files_by_id[id(capture)] = _Files()
        _captures[files.name] = capture
        weakref.finalize(capture, _files_by_id.pop, id(capture), None)
    return _files_by_id[id(capture)]


# ---------------------------------------------------------------------------------------------- blocks


def size(capture: Capture, block: int) -> int:
    """Count the bytes of a block's attention as it is sent to the browser."""
    windows, keys = capture.positions(block).shape
    return packed_bytes(windows, capture.num_heads(block), capture.query_positions(block).shape[1], keys)


def block_address(capture: Capture, block: int) -> FileAddress | None:
    """Return the address of all heads and queries of a block; None where they are too large for one piece."""
    if size(capture, block) > settings().payload_megabytes * 1e6:
        return None
    return FileAddress(url=f"./attention/{_files_of(capture).name}/{block}")


def sharpened_address(capture: Capture, view: str, language: Language, **settings: Any) -> str:
    """Return the address of a view's sharpened maps; the browser adds the settings that it chooses itself."""
    chosen = {name: written_value(value) for name, value in settings.items()}
    return f"./sharpened/{_files_of(capture).name}?{urlencode({'view': view, 'lang': language, **chosen})}"


def packed_block(capture: Capture, block: int) -> bytes:
    """Pack all heads and queries of a block, see `pack_attention`."""
    weights = capture.call(block).weights().cpu().numpy()
    return pack_attention(weights, capture.positions(block), capture.query_positions(block))


def captured(name: str) -> Capture | None:
    """Return the capture of a name in an address; None once it has left the memory."""
    return _captures.get(name)


async def _serve(request: Request) -> Response:
    name = request.path_params["capture"]
    block = request.path_params["block"]
    capture = captured(name)
    if capture is None or block >= capture.depth or block_address(capture, block) is None:
        return PlainTextResponse("Not found", 404, NO_STORE)
    key = name, block
    if (packing := _being_packed.get(key)) is None:
        packing = _being_packed[key] = asyncio.create_task(asyncio.to_thread(packed_block, capture, block))
        packing.add_done_callback(lambda _: _being_packed.pop(key))
    content = await asyncio.shield(packing)  # a browser that disconnects must not cancel it for others
    headers = {**IMMUTABLE, "vary": "accept-encoding"}
    if encoding_of(request.headers.get("accept-encoding", "")) == "br":  # gzip takes ten times as long
        content = await asyncio.to_thread(compressed, content, "br", quality=1)
        headers["content-encoding"] = "br"
    return Response(content, media_type="application/octet-stream", headers=headers)


BLOCKS = Route("/attention/{capture}/{block:int}", _serve)
