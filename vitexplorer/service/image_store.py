"""Image store: the examples of the repository and the uploads of visitors, both by a short id.

An upload is kept in memory, and on the disk beside gradio's folder, from which it is not served: visitors find their
picture again after others needed the memory, and after a restart.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import UInt8
from numpy import ndarray

from vitexplorer.core.cache import BytesCache
from vitexplorer.core.settings import settings
from vitexplorer.core.text import ExplainedError, Text
from vitexplorer.models.examples import examples
from vitexplorer.service.cache_folder import files_folder
from vitexplorer.storage.atomic_writes import explain_full_disk, replace_copy

if TYPE_CHECKING:
    from vitexplorer.models.images import OpenedImage

UPLOAD = "upload-"
UPLOADS = 128 << 20
"""Bytes of uploads in memory; a photograph of twelve megapixels has 36 million"""
THUMBNAIL = 96
"""Pixels of the longer side"""
_GONE = Text("This image is no longer here. Please choose it again.", "该图像已不在此处，请重新选择。")

uploads: BytesCache[str, OpenedImage] = BytesCache(UPLOADS, lambda image: image.pixels.nbytes)


def keep_upload(path: str) -> str:
    """Open, check and hash an uploaded file, keep it for some hours, and return its id, which nobody can guess.

    Raises:
        ImageError: the file is no usable picture.
    """
    from vitexplorer.models.images import OpenedImage

    upload = OpenedImage.of(path, max_megapixels=settings().max_megapixels)
    image = UPLOAD + upload.hash
    uploads.put(image, upload)
    file = _file_of(image)
    with explain_full_disk(file.parent):
        file.parent.mkdir(parents=True, exist_ok=True)
    replace_copy(file, Path(path), is_durable=False)
    return image


def _file_of(image: str) -> Path:
    return Path(f"{files_folder()}-pictures", image)


def thumbnail(image: str) -> UInt8[ndarray, "height width 3"]:
    """Make a thumbnail of an example or upload, RGB, 0-255; ExplainedError where an upload is no longer kept."""
    from PIL import Image

    picture = Image.fromarray(open_image(image).pixels)
    picture.thumbnail((THUMBNAIL, THUMBNAIL))
    return np.asarray(picture)


def open_image(image: str) -> OpenedImage:
    """Open an example or an upload by its id; ExplainedError where an upload is no longer kept."""
    from vitexplorer.models.images import OpenedImage

    if image in examples():
        return OpenedImage.of(examples()[image].path)
    upload = uploads.get(image) or _read_again(image)
    if upload is None:
        raise ExplainedError(_GONE)
    return upload


def _read_again(image: str) -> OpenedImage | None:
    """Read an upload that was dropped from memory; None where its file is gone or has changed."""
    from vitexplorer.models.images import ImageError, OpenedImage

    if not re.fullmatch(f"{UPLOAD}[0-9a-f]{{64}}", image):
        return None
    try:
        os.utime(_file_of(image))  # `sweep` spares recently used files
        upload = OpenedImage.of(_file_of(image), max_megapixels=settings().max_megapixels)
    except (OSError, ImageError):
        return None
    if UPLOAD + upload.hash != image:
        return None
    uploads.put(image, upload)
    return upload
