"""Where a picture of a visitor arrives: its bytes in, its id out, or a sentence that says why not.

An address of its own beside gradio's: it is opened, checked and hashed once, works from every room and for every way
that a picture comes (file, drop, clipboard, webcam), and says what is wrong in the visitor's language.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from vitexplorer.core.settings import settings
from vitexplorer.core.text import ExplainedError
from vitexplorer.service.cache_folder import files_folder
from vitexplorer.service.image_store import keep_upload
from vitexplorer.storage.atomic_writes import explain_full_disk
from vitexplorer.ui.gradio_adapter.page_blocks import status_of
from vitexplorer.ui.kit.language import language_of, word

KIND = "application/octet-stream"
"""no other: a page of a stranger may not send this without asking first"""


async def take_picture(request: Request) -> Response:
    """The id of the picture that is the request's body; 422 with a sentence for what is no usable picture."""
    return await answer_picture(request, _keep)


async def _keep(path: Path) -> dict[str, str]:
    return {"image": await asyncio.to_thread(keep_upload, str(path))}


async def answer_picture(
    request: Request,
    answer: Callable[[Path], Awaitable[dict[str, Any]]],
    check: Callable[[], Awaitable[None]] | None = None,
) -> Response:
    """What `answer` makes of the picture that is the request's body, as JSON; the file is gone afterwards.

    Otherwise a sentence, in the language of the page: with 415 and 413 for a body that is none or too large, and with
    the status of `status_of` where `check`, before anything is read, or `answer` raises ExplainedError.
    """
    language = language_of(request.url.query, request.headers.get("accept-language", ""))
    if request.headers.get("content-type") != KIND:
        return JSONResponse({"refused": word("image_lost", language)}, 415)
    most = settings().max_upload_megabytes
    if int(request.headers.get("content-length", 0)) > most * 10**6:
        return JSONResponse({"refused": word("image_large", language, most=most)}, 413)
    try:
        if check is not None:
            await check()
    except ExplainedError as error:
        return JSONResponse({"refused": error.text.in_(language)}, status_of(error))
    above = files_folder()
    try:
        with explain_full_disk(above), _own_folder(above) as folder:
            path = folder / "picture"
            if not await _written(request, path, most * 10**6):
                return JSONResponse({"refused": word("image_large", language, most=most)}, 413)
            return JSONResponse(await answer(path))
    except ExplainedError as error:
        return JSONResponse({"refused": error.text.in_(language)}, status_of(error))


@contextmanager
def _own_folder(above: Path) -> Iterator[Path]:
    """A folder that is gone afterwards."""
    above.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=above) as folder:
        yield Path(folder)


async def _written(request: Request, path: Path, most: int) -> bool:
    """Whether the body is in the file: not if it is larger than `most` bytes."""
    size = 0
    with path.open("wb") as file:
        async for part in request.stream():
            size += len(part)
            if size > most:
                return False
            file.write(part)
    return True


PICTURE = Route("/picture", take_picture, methods=["POST"])
