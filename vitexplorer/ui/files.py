"""Files that travel to the browser once: content-addressed, in gradio's own cache, which serves and cleans them."""

from __future__ import annotations

import hashlib
import io
import os
import tempfile
from pathlib import Path

import numpy as np
import PIL.Image
from gradio.utils import get_upload_folder


def served(data: bytes, suffix: str) -> Path:
    """A file of this content; two callers with the same content share it, and no reader ever sees half of it."""
    folder = Path(get_upload_folder()) / "vitexplorer"
    path = folder / (hashlib.sha256(data).hexdigest()[:32] + suffix)
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, delete=False) as part:
            part.write(data)
        os.replace(part.name, path)
    return path


def served_image(pixels: np.ndarray) -> Path:
    """uint8 RGB (height, width, 3) as a PNG: the browser shows exactly the pixels the model saw."""
    written = io.BytesIO()
    PIL.Image.fromarray(pixels).save(written, "PNG", compress_level=1)
    return served(written.getvalue(), ".png")
