"""Served files, named by their content, so that a browser fetches each once.

They are stored beside uploads in gradio's folder, which is swept by age and size, but have their own route: gradio
would check each path for every value that names it, and send the file in small pieces. The route serves no uploads.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from urllib.parse import quote

from jaxtyping import UInt8
from numpy import ndarray
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Route

from vitexplorer.service.cache_folder import files_folder
from vitexplorer.storage.atomic_writes import explain_full_disk, replace_bytes
from vitexplorer.ui.kit.static_responses import IMMUTABLE, NO_STORE

_PAGE = {
    **IMMUTABLE,
    "content-security-policy": "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "img-src data: blob:; frame-ancestors 'none'; sandbox allow-scripts allow-modals allow-downloads",
}
"""Headers of an HTML file: its inline scripts run in an origin of their own, without the network"""


class FileAddress(BaseModel):
    """Address of a file, for values of components."""

    url: str
    """URL relative to the page"""


class ServedFile(FileAddress):
    """A file that this server serves."""

    name: str
    """File name for saving"""

    @property
    def path(self) -> Path:
        """Path on the disk."""
        return _place(self.url.split("/")[2], self.name)

    def keep(self) -> None:
        """Mark the file as used, so that it is not swept yet.

        Raises:
            FileNotFoundError: the file has already been swept.
        """
        os.utime(self.path)


def cached_file(content: bytes, name: str) -> ServedFile:
    """Write a file with this content; its type follows from its name."""
    digest = hashlib.sha256(content).hexdigest()
    file = ServedFile(url=f"./files/{digest}/{quote(name)}", name=name)
    try:
        file.keep()
    except FileNotFoundError:
        with explain_full_disk(file.path.parent):
            file.path.parent.mkdir(parents=True, exist_ok=True)
        replace_bytes(file.path, content, is_durable=False)
    return file


def image_file(pixels: UInt8[ndarray, "height width 3"]) -> ServedFile:
    """Write RGB pixels, 0-255, as a lossless file, so that the browser shows exactly what the model saw."""
    return cached_file(png(pixels), "image.png")


def png(pixels: UInt8[ndarray, "height width 3"]) -> bytes:
    """Encode RGB pixels, 0-255."""
    import cv2  # takes half of Pillow's time and writes smaller files; imported late, so that the page opens sooner

    options = [cv2.IMWRITE_PNG_STRATEGY, cv2.IMWRITE_PNG_STRATEGY_RLE]
    return cv2.imencode(".png", pixels[..., ::-1], options)[1].tobytes()


def _place(digest: str, name: str) -> Path:
    return files_folder() / f"made-{digest}" / name


class _InOnePiece(FileResponse):
    chunk_size = 4 << 20


async def _serve(request: Request) -> Response:
    path = _place(request.path_params["digest"], request.path_params["name"])
    if not path.is_file():
        return PlainTextResponse("Not found", 404, NO_STORE)
    return _InOnePiece(path, headers=_PAGE if path.suffix == ".html" else IMMUTABLE)


FILES = Route("/files/{digest}/{name}", _serve)
