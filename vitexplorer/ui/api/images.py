"""The image of a call: an example by its name, a picture that was sent to `/picture`, a file, or a public address."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from gradio.data_classes import FileData
from gradio.utils import get_upload_folder

from vitexplorer.models.examples import examples
from vitexplorer.registry import unknown_name
from vitexplorer.settings import Settings
from vitexplorer.ui.api.fetching import fetched
from vitexplorer.ui.pictures import UPLOAD, keep_upload
from vitexplorer.words import ExplainedError, Text


async def image_id(image: FileData | str, settings: Settings) -> str:
    """The id under which the engine finds it. Raises ExplainedError for what is none, or none of ours."""
    if isinstance(image, FileData):
        return await asyncio.to_thread(keep_upload, _uploaded(image))
    if image.startswith(("http://", "https://")):
        with tempfile.TemporaryDirectory(prefix="vitexplorer-") as folder:
            path = Path(folder) / "picture"
            await fetched(image, path, settings.max_upload_megabytes * 10**6)
            return await asyncio.to_thread(keep_upload, str(path))
    if image not in examples() and not image.startswith(UPLOAD):
        raise unknown_name("image", image, examples())
    return image


def _uploaded(file: FileData) -> str:
    """The file, which lies where gradio puts what was sent: anywhere else it would be one of the machine's own."""
    path = Path(file.path).resolve()
    if not path.is_relative_to(Path(get_upload_folder()).resolve()):
        raise ExplainedError(
            Text(
                "This file was not sent here. Send it with gradio_client's handle_file, or to /picture.",
                "该文件并未上传到此处。请用 gradio_client 的 handle_file 上传，或发送到 /picture。",
            )
        )
    return str(path)
