"""Files that a browser fetches: named by their content, so that whoever asks for the same is sent the same, and once.

They lie beside what visitors send in gradio's folder, which is swept by age and size, but are served from an address
of their own: gradio would look at where each of them is for every value that names it, and send it in small pieces.
Of an uploaded file nothing is reached here.
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
from vitexplorer.ui.kit.static_responses import FOR_GOOD, NOT_KEPT


class FileAddress(BaseModel):
    """Where a browser fetches a file, as values of components name it."""

    url: str
    """relative to the page"""


class ServedFile(FileAddress):
    """A file that lies here."""

    name: str
    """under which it is saved"""

    @property
    def path(self) -> Path:
        """Where it lies."""
        return _place(self.url.split("/")[2], self.name)

    def keep(self) -> None:
        """Put its sweeping off. Raises FileNotFoundError where it has been swept."""
        os.utime(self.path)


def cached_file(content: bytes, name: str) -> ServedFile:
    """A file with this content; its kind follows from its name."""
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
    """RGB pixels, 0-255, as a lossless file: the browser shows exactly what the model saw."""
    import cv2  # half the time of Pillow, and smaller; the page does not wait for it

    how = [cv2.IMWRITE_PNG_STRATEGY, cv2.IMWRITE_PNG_STRATEGY_RLE]
    return cached_file(cv2.imencode(".png", pixels[..., ::-1], how)[1].tobytes(), "image.png")


def _place(digest: str, name: str) -> Path:
    return files_folder() / f"made-{digest}" / name


class _InOnePiece(FileResponse):
    chunk_size = 4 << 20


async def _serve(request: Request) -> Response:
    path = _place(request.path_params["digest"], request.path_params["name"])
    if not path.is_file():
        return PlainTextResponse("Not found", 404, NOT_KEPT)
    return _InOnePiece(path, headers=FOR_GOOD)


FILES = Route("/files/{digest}/{name}", _serve)
