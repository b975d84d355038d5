"""The image of a call: an example by its name, what was sent to `/picture`, a file, a public address, or all of it."""

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
    "This file was not sent here. Send it with gradio_client's handle_file, or to /picture.",
    "该文件并未上传到此处。请用 gradio_client 的 handle_file 上传，或发送到 /picture。",
)
NOT_BASE64 = Text("The image is no data:image/...;base64, address.", "该图像不是 data:image/...;base64, 形式的地址。")


async def image_id(image: FileData | str, settings: Settings) -> str:
    """The id under which the engine finds it. Raises ExplainedError for what is none, or none of ours."""
    named = image.path if isinstance(image, FileData) else image
    if "/gradio_api/file=" in named:  # what gradio calls a file that was sent
        return await asyncio.to_thread(keep_upload, _sent(unquote(named.partition("/gradio_api/file=")[2])))
    if named.startswith(("http://", "https://", "data:")):
        return await _brought(named, settings.max_upload_megabytes * 10**6)
    if isinstance(image, FileData):
        return await asyncio.to_thread(keep_upload, _sent(named))
    if image not in examples() and not image.startswith(UPLOAD):
        raise unknown_name("image", image, examples())
    return image


def _sent(name: str) -> str:
    """The file, which lies where gradio puts what was sent: anywhere else it would be one of the machine's own."""
    try:
        path = Path(name).resolve()
    except ValueError:  # a name with a zero byte
        raise ImageError(NOT_SENT) from None
    if not path.is_relative_to(files_folder().resolve()):
        raise ImageError(NOT_SENT)
    return str(path)


async def _brought(address: str, most: int) -> str:
    """What lies at an address, or stands in it."""
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
