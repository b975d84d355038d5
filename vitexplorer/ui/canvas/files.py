"""A capture's attention as files that the browser fetches.

Of a block only the address travels, which costs nothing: its bytes are made when a browser first asks for them. So
every block is named at once, and one that is chosen is fetched without asking first what it is called. The address
lasts as long as the capture is in memory; who comes later asks for the block again, and is told another.
"""

from __future__ import annotations

import asyncio
import secrets
import weakref
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from jaxtyping import Integer
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from vitexplorer.core.settings import settings
from vitexplorer.ui.canvas.payload import pack_attention, packed_bytes
from vitexplorer.ui.kit.served_files import FileAddress, ServedFile, cached_file
from vitexplorer.ui.kit.static_responses import IMMUTABLE, NO_STORE

if TYPE_CHECKING:
    from vitexplorer.capturing.capture import Capture

T = TypeVar("T")


@dataclass
class _Files:
    """Files of one capture."""

    name: str = field(default_factory=lambda: secrets.token_urlsafe(16))
    """of the capture in addresses, which nobody guesses"""
    made: dict[Hashable, Any] = field(default_factory=dict)
    """of the capture, by name: served files, and small facts"""


_kept: dict[int, _Files] = {}
"""by the identity of the capture, as long as it lives"""
_captures: weakref.WeakValueDictionary[str, Capture] = weakref.WeakValueDictionary()
"""by their names"""
_being_packed: dict[tuple[str, int], asyncio.Task[bytes]] = {}
"""blocks on their way, by the capture's name: whoever asks meanwhile is sent the same bytes"""


def attention_file(
    attention: np.ndarray,
    positions: Integer[np.ndarray, "windows keys"],
    queries: Integer[np.ndarray, "windows queries"] | None = None,
) -> ServedFile:
    """`pack_attention` as a file for `CanvasData.attention`."""
    return cached_file(pack_attention(attention, positions, queries), "attention.bin")


def kept_file(capture: Capture, name: Hashable, make: Callable[[], ServedFile]) -> ServedFile:
    """A file of a capture, made once: every answer names it, and visitors share it. It may have been cleaned up."""
    made = _files_of(capture).made
    try:
        made[name].keep()
    except (KeyError, FileNotFoundError):
        made[name] = make()
    return made[name]


def made_once(capture: Capture, name: Hashable, make: Callable[[], T]) -> T:
    """A small fact of a capture that takes some time, remembered as long as the capture lives."""
    made = _files_of(capture).made
    if name not in made:
        made[name] = make()
    return made[name]


def _files_of(capture: Capture) -> _Files:
    if id(capture) not in _kept:
        files = _kept[id(capture)] = _Files()
        _captures[files.name] = capture
        weakref.finalize(capture, _kept.pop, id(capture), None)
    return _kept[id(capture)]


# ---------------------------------------------------------------------------------------------- blocks


def size(capture: Capture, block: int) -> int:
    """Bytes of a block's attention on its way to the browser."""
    windows, keys = capture.positions(block).shape
    return packed_bytes(windows, capture.num_heads(block), capture.query_positions(block).shape[1], keys)


def block_address(capture: Capture, block: int) -> FileAddress | None:
    """Address of all heads and queries of a block; None where they are too large to be sent in one piece."""
    if size(capture, block) > settings().payload_megabytes * 1e6:
        return None
    return FileAddress(url=f"./attention/{_files_of(capture).name}/{block}")


def packed_block(capture: Capture, block: int) -> bytes:
    """All heads and queries of a block, see `pack_attention`."""
    weights = capture.call(block).weights().cpu().numpy()
    return pack_attention(weights, capture.positions(block), capture.query_positions(block))


async def _serve(request: Request) -> Response:
    name, block = request.path_params["capture"], request.path_params["block"]
    capture = _captures.get(name)
    if capture is None or block >= capture.depth or block_address(capture, block) is None:
        return PlainTextResponse("Not found", 404, NO_STORE)
    key = name, block
    if (packing := _being_packed.get(key)) is None:
        packing = _being_packed[key] = asyncio.create_task(asyncio.to_thread(packed_block, capture, block))
        packing.add_done_callback(lambda _: _being_packed.pop(key))
    content = await asyncio.shield(packing)  # one who hangs up takes it from nobody else
    return Response(content, media_type="application/octet-stream", headers=IMMUTABLE)


BLOCKS = Route("/attention/{capture}/{block:int}", _serve)
