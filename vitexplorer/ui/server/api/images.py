"""Image argument of a call: an example's name, an id of `/picture`, an uploaded file, a public URL, or a data URL."""

from __future__ import annotations

import asyncio
import base64
import tempfile
from pathlib import Path
from urllib.parse import unquote

from gradio import FileData

from vitexplorer.core.registry import unknown_name
from vitexplorer.core.settings import Settings
from vitexplorer.core.text import Text
from vitexplorer.models.examples import examples
from vitexplorer.models.images import ImageError
from vitexplorer.service.cache_folder import files_folder
from vitexplorer.service.fetching import fetched
from vitexplorer.service.image_store import UPLOAD, keep_upload

NOT_SENT = Text(
    "This file was not uploaded here. Upload it with handle_file of gradio_client, or post it to /picture.",
    "该文件没有上传到此处。请用 gradio_client 的 handle_file 上传，或发送到 /picture。",
)
NOT_BASE64 = Text(
    "The image is not a data:image/...;base64, address.", "该图像不是 data:image/...;base64, 形式的地址。"
)


async def image_id(image: FileData | str, settings: Settings) -> str:
    """Return the image's id for the engine; ExplainedError for an unknown or unusable image."""
    name = image.path if isinstance(image, FileData) else image
    if "/gradio_api/file=" in name:  # gradio's URL of an uploaded file
        return await asyncio.to_thread(keep_upload, _sent(unquote(name.partition("/gradio_api/file=")[2])))
    if name.startswith(("http://", "https://", "data:")):
        return await _download(name, settings.max_upload_megabytes * 10**6)
    if isinstance(image, FileData):
        return await asyncio.to_thread(keep_upload, _sent(name))
    if image not in examples() and not image.startswith(UPLOAD):
        raise unknown_name("image", image, examples())
    return image


def _sent(name: str) -> str:
    """Return the path of an uploaded file; refuse paths outside gradio's upload folder."""
    try:
        path = Path(name).resolve()
    except ValueError:  # a name with a zero byte
        raise ImageError(NOT_SENT) from None
    if not path.is_relative_to(files_folder().resolve()):
        raise ImageError(NOT_SENT)
    return str(path)


async def _download(address: str, most: int) -> str:
    """Store the image of a public URL or a data URL and return its id."""
    with tempfile.TemporaryDirectory(prefix="vitexplorer-") as folder:
        path = Path(folder) / "picture"
        if address.startswith("data:"):
            path.write_bytes(_decoded(address))
        else:
            await fetched(address, path, most)
        return await asyncio.to_thread(keep_upload, str(path))


def _decoded(address: str) -> bytes:
    try:
        return base64.b64decode(address.partition(";base64,")[2], validate=True)
    except ValueError:
        raise ImageError(NOT_BASE64) from None
