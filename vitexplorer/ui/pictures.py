"""The images a visit can show: the examples of the repository, and what visitors uploaded, both by a short id."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import UInt8
from numpy import ndarray

from vitexplorer.cache import BytesCache
from vitexplorer.models.examples import examples
from vitexplorer.settings import settings
from vitexplorer.words import ExplainedError, Text

if TYPE_CHECKING:
    from vitexplorer.models.images import OpenedImage

UPLOAD = "upload-"
THUMBNAIL = 96
"""pixels of the longer side"""

uploads: BytesCache[str, OpenedImage] = BytesCache(512 << 20, lambda opened: opened.pixels.nbytes)


def keep_upload(path: str) -> str:
    """Open an uploaded file and keep its pixels for this process; the id is its content's hash, so nobody can guess it.

    It is opened, checked and hashed here and nowhere else. Raises ImageError with a sentence for a file that is no
    usable picture.
    """
    from vitexplorer.models.images import OpenedImage

    upload = OpenedImage.of(path, max_megapixels=settings().max_megapixels)
    image = UPLOAD + upload.hash
    uploads.put(image, upload)
    return image


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
    upload = uploads.get(image)
    if upload is None:
        raise ExplainedError(
            Text("This image is no longer in memory. Please choose it again.", "该图像已不在内存中，请重新选择。")
        )
    return upload
