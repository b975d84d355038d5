"""Upload endpoint for images: bytes in, the image's id or a message out.

It is separate from gradio's upload: the image is opened, checked and hashed once, every room and every source (file,
drop, clipboard, webcam) uses it, and its messages are in the visitor's language.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from vitexplorer.core.settings import settings
from vitexplorer.core.text import ExplainedError, Text
from vitexplorer.service.cache_folder import files_folder
from vitexplorer.service.image_store import keep_upload
from vitexplorer.storage.atomic_writes import explain_full_disk
from vitexplorer.ui.gradio_adapter.page_blocks import status_of
from vitexplorer.ui.kit.language import language_of_request
from vitexplorer.ui.kit.words import UI_WORDS

KIND = "application/octet-stream"
"""Only accepted content type; another site's page may not send it without a preflight request"""


async def take_picture(request: Request) -> Response:
    """Answer the id of the image in the body, or 422 with a message if it is unusable."""
    return await answer_picture(request, _keep)


async def _keep(path: Path) -> dict[str, str]:
    return {"image": await asyncio.to_thread(keep_upload, str(path))}


async def answer_picture(
    request: Request,
    answer: Callable[[Path], Awaitable[dict[str, Any]]],
    check: Callable[[], Awaitable[None]] | None = None,
) -> Response:
    """Answer the image in the body with `answer(path)` as JSON; delete the file afterwards.

    Failures are messages in the language of the page: 415 for another content type, 413 for a body that is too large,
    and the status of `status_of` for an ExplainedError of `answer`, or of `check`, which runs before the body is read.
    """
    most = settings().max_upload_megabytes
    too_large = UI_WORDS["image_large"].format(most=most)
    if request.headers.get("content-type") != KIND:
        return refused(request, UI_WORDS["image_lost"], 415)
    if int(request.headers.get("content-length", 0)) > most * 10**6:
        return refused(request, too_large, 413)
    try:
        if check is not None:
            await check()
        parent = files_folder()
        with explain_full_disk(parent):
            parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=parent) as folder:
                path = Path(folder, "picture")
                if not await _written(request, path, most * 10**6):
                    return refused(request, too_large, 413)
                return JSONResponse(await answer(path))
    except ExplainedError as error:
        return refused(request, error.text, status_of(error))


def refused(request: Request, text: Text, status: int) -> Response:
    """Answer a text in the language of the page."""
    return JSONResponse({"refused": text.in_(language_of_request(request))}, status)


async def _written(request: Request, path: Path, most: int) -> bool:
    """Write the body to a file; return False if it is larger than `most` bytes."""
    size = 0
    with path.open("wb") as file:
        async for part in request.stream():
            size += len(part)
            if size > most:
                return False
            file.write(part)
    return True


PICTURE = Route("/picture", take_picture, methods=["POST"])
