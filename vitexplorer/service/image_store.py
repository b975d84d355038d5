"""The images a visit can show: the examples of the repository, and what visitors uploaded, both by a short id.

An upload is in memory, and its file on the disk beside gradio's folder, where nobody can fetch it: a visitor finds
their picture again after others needed the memory, and after the server was started anew.
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
"""bytes of uploads in memory; a photograph of twelve megapixels has 36 million"""
THUMBNAIL = 96
"""pixels of the longer side"""

uploads: BytesCache[str, OpenedImage] = BytesCache(UPLOADS, lambda opened: opened.pixels.nbytes)


def keep_upload(path: str) -> str:
    """Open an uploaded file and keep it for some hours; the id is its content's hash, so nobody can guess it.

    It is opened, checked and hashed here and nowhere else. Raises ImageError with a sentence for a file that is no
    usable picture.
    """
    from vitexplorer.models.images import OpenedImage

    upload = OpenedImage.of(path, max_megapixels=settings().max_megapixels)
    image = UPLOAD + upload.hash
    uploads.put(image, upload)
    kept = _file_of(image)
    with explain_full_disk(kept.parent):
        kept.parent.mkdir(parents=True, exist_ok=True)
    replace_copy(kept, Path(path), is_durable=False)
    return image


def _file_of(image: str) -> Path:
    return Path(f"{files_folder()}-pictures", image)


def thumbnail(image: str) -> UInt8[ndarray, "height width 3"]:
    """A small picture of an example or upload, RGB, 0-255. Raises as `opened`."""
    from PIL import Image

    picture = Image.fromarray(opened(image).pixels)
    picture.thumbnail((THUMBNAIL, THUMBNAIL))
    return np.asarray(picture)


def opened(image: str) -> OpenedImage:
    """An example or an upload by its id. Raises ExplainedError where an upload is no longer kept."""
    from vitexplorer.models.images import OpenedImage

    if image in examples():
        return OpenedImage.of(examples()[image].path)
    upload = uploads.get(image) or _read_again(image)
    if upload is None:
        raise ExplainedError(
            Text("This image is no longer here. Please choose it again.", "该图像已不在此处，请重新选择。")
        )
    return upload


def _read_again(image: str) -> OpenedImage | None:
    """An upload that memory had to let go of; None where its file, too, is gone, or another."""
    from vitexplorer.models.images import ImageError, OpenedImage

    if not re.fullmatch(f"{UPLOAD}[0-9a-f]{{64}}", image):
        return None
    try:
        os.utime(_file_of(image))  # what is used is not swept
        upload = OpenedImage.of(_file_of(image), max_megapixels=settings().max_megapixels)
    except (OSError, ImageError):
        return None
    if UPLOAD + upload.hash != image:
        return None
    uploads.put(image, upload)
    return upload
