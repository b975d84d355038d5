"""Files in gradio's cache, named by their content: sent once, fetched by the browser, swept by age."""

from __future__ import annotations

import hashlib
import io
import os
import tempfile
from pathlib import Path

import PIL.Image
from gradio.data_classes import FileData
from gradio.utils import get_upload_folder
from jaxtyping import UInt8
from numpy import ndarray


def cached_file(content: bytes, name: str, mime_type: str) -> FileData:
    """A file with this content. One that exists is touched, since the folder is swept by age."""
    path = Path(get_upload_folder()) / hashlib.sha256(content).hexdigest() / name
    try:
        os.utime(path)
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, staged = tempfile.mkstemp(dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(staged, path)
    return FileData(path=str(path), mime_type=mime_type, orig_name=name, size=len(content))


def path_in_script(path: Path) -> str:
    """How a script that is started where the page was names a file."""
    here = Path.cwd()
    return (path.relative_to(here) if path.is_relative_to(here) else path).as_posix()


def image_file(pixels: UInt8[ndarray, "height width 3"]) -> FileData:
    """RGB pixels, 0-255, as a lossless file: the browser shows exactly what the model saw."""
    content = io.BytesIO()
    PIL.Image.fromarray(pixels).save(content, "PNG", compress_level=1)
    return cached_file(content.getvalue(), "image.png", "image/png")
