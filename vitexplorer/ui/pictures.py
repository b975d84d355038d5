"""The images a visit can show: the examples of the repository, and what visitors uploaded, both by a short id."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from vitexplorer.cache import BytesCache
from vitexplorer.settings import ASSETS, settings
from vitexplorer.words import ExplainedError, Text

UPLOAD = "upload-"


@dataclass(frozen=True)
class Example:
    """An image of the repository."""

    id: str
    path: Path
    title: Text
    licence: str
    source: str


@cache
def examples() -> dict[str, Example]:
    """The repository's images by id, in the order they are shown."""
    folder = ASSETS / "examples"
    entries = json.loads((folder / "examples.json").read_text(encoding="utf-8"))
    return {
        entry["id"]: Example(
            entry["id"],
            folder / entry["file"],
            Text(entry["title_en"], entry["title_zh"]),
            entry["licence"],
            entry["source"],
        )
        for entry in entries
    }


_uploads: BytesCache[str, np.ndarray] = BytesCache(512 << 20, lambda pixels: pixels.nbytes)


def keep_upload(path: str) -> str:
    """Open an uploaded file and keep its pixels for this process; the id is its content's hash, so nobody can guess it.

    Raises ImageError with a sentence for a file that is no usable picture.
    """
    from vitexplorer.models.images import image_hash, open_image

    pixels = open_image(path, max_megapixels=settings().max_megapixels)
    image = UPLOAD + image_hash(pixels)
    _uploads.put(image, pixels)
    return image


def pixels_of(image: str) -> np.ndarray:
    """Pixels of an example or an upload by its id. Raises ExplainedError where an upload is no longer kept."""
    from vitexplorer.models.images import open_image

    if image in examples():
        return open_image(examples()[image].path)
    pixels = _uploads.get(image)
    if pixels is None:
        raise ExplainedError(
            Text("This image is no longer in memory. Please choose it again.", "该图像已不在内存中，请重新选择。")
        )
    return pixels
