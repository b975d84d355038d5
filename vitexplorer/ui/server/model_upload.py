"""Upload endpoint for model files. Streams JSON lines: progress, then `model` or `refused`.

It is separate from gradio's upload, as for images. If several architectures fit, `several` lists them; the visitor
chooses one, and the page asks again with `as` and without the file.
"""

from __future__ import annotations

import asyncio
import json
import logging
import shutil
import tempfile
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import aclosing
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from vitexplorer.core.settings import settings
from vitexplorer.core.text import ExplainedError, Language
from vitexplorer.service.cache_folder import files_folder
from vitexplorer.service.engine import Engine
from vitexplorer.service.jobs import Done, Step, StoppedError, Waiting, following
from vitexplorer.service.storage_limits import check_room
from vitexplorer.service.uploaded_models import Opened, Sent, check_kinds, choose, keep_sent
from vitexplorer.service.user_storage import safe_name
from vitexplorer.service.visitor_names import valid_visitor
from vitexplorer.storage.atomic_writes import explain_full_disk
from vitexplorer.ui.gradio_adapter.page_blocks import status_of
from vitexplorer.ui.kit.language import language_of_request, word
from vitexplorer.ui.kit.static_responses import NO_STORE
from vitexplorer.ui.kit.words import UI_WORDS
from vitexplorer.ui.server.image_upload import KIND, refused
from vitexplorer.ui.shell.address import Address

_log = logging.getLogger(__name__)
_Files = TypeAdapter(
    Annotated[
        list[tuple[Annotated[str, Field(min_length=1, max_length=300)], Annotated[int, Field(ge=0)]]],
        Field(min_length=1, max_length=200),
    ]
)
"""Names and sizes in bytes of files that are concatenated in one body"""


def model_route(engine: Engine) -> Route:
    """Make the route `POST /model`."""

    async def take(request: Request) -> Response:
        return await _answered(engine, request)

    return Route("/model", take, methods=["POST"])


async def _answered(engine: Engine, request: Request) -> Response:
    """Open `files` in the body, a `path` of this machine, or a `model` again `as` another architecture.

    Failures are 415 for another content type, 413 for a body that is too large, 422 for files that are not accepted.
    """
    query = request.query_params
    language = language_of_request(request)
    if request.headers.get("content-type") != KIND:
        return refused(request, UI_WORDS["file_lost"], 415)
    visitor = valid_visitor(request.headers.get("x-visitor", ""))
    folder = None
    try:
        address = Address.exactly(model=query.get("model", ""), weights=query.get("weights", ""))
        if chosen := Address.exactly(model=query.get("as", "")).model if "as" in query else "":
            work = partial(choose, engine, visitor, address.model, chosen)
            return _in_lines(visitor, language, lambda: engine.short.run(object(), lambda _: work()))
        if "path" in query:
            sent = _of_this_machine(query["path"])
        else:
            await asyncio.to_thread(check_room, engine.places, visitor)
            parent = files_folder()
            with explain_full_disk(parent):
                parent.mkdir(parents=True, exist_ok=True)
                folder = Path(tempfile.mkdtemp(dir=parent))
                sent = Sent(await _received(request, folder))
    except ExplainedError as error:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
        return refused(request, error.text, status_of(error))
    keep = partial(keep_sent, engine, visitor, sent, address.picture, settings())
    return _in_lines(visitor, language, keep, folder)


def _of_this_machine(path: str) -> Sent:
    if settings().hosted:
        raise ExplainedError(UI_WORDS["file_path"])
    full_path = Path(path.strip().strip("\"'")).expanduser()
    if not full_path.is_dir():
        check_kinds([full_path.name], settings())
    return Sent([full_path], named=True)


async def _received(request: Request, folder: Path) -> list[Path]:
    """Write the files of the body into the folder; ExplainedError if they are not accepted or incomplete."""
    try:
        files = _Files.validate_json(request.query_params.get("files", ""))
    except ValidationError as error:
        raise ExplainedError(UI_WORDS["file_lost"]) from error
    names = [name for name, _ in files]
    most = settings().max_upload_megabytes
    check_kinds(names, settings())
    if sum(size for _, size in files) > most * 10**6:
        raise ExplainedError(UI_WORDS["file_large"].format(file=names[0], most=most))
    inside = folder / _title(names)
    inside.mkdir()
    paths = [inside / (safe_name(Path(name).stem) + Path(name).suffix.lower()) for name in names]
    if len(set(paths)) < len(paths):
        raise ExplainedError(UI_WORDS["file_lost"])
    parts = request.stream()
    rest = b""
    for path, (_, size) in zip(paths, files, strict=True):
        with path.open("xb") as file:
            while file.tell() < size:
                rest = rest or await anext(parts, b"")
                if not rest:
                    raise ExplainedError(UI_WORDS["file_lost"])
                missing = size - file.tell()
                file.write(rest[:missing])
                rest = rest[missing:]
    return paths


def _title(names: list[str]) -> str:
    """Return the name of a folder of uploaded files: that of its weights."""
    weights = next((name for name in names if not name.endswith(".json")), names[0])
    return safe_name(Path(weights).stem)


def _in_lines(
    visitor: str, language: Language, keep: Callable[[], Coroutine[Any, Any, Opened]], folder: Path | None = None
) -> Response:
    lines = _lines(visitor, language, keep, folder)
    return StreamingResponse(lines, media_type="application/x-ndjson", headers=NO_STORE)


async def _lines(
    visitor: str, language: Language, keep: Callable[[], Coroutine[Any, Any, Opened]], folder: Path | None
) -> AsyncGenerator[str, None]:
    """Yield progress and then the outcome; delete the folder afterwards, and stop the work if the client leaves."""
    try:
        async with aclosing(following(Waiting(visitor, "file"), keep())) as steps:
            async for step in steps:
                yield json.dumps(_as_json(step, language), ensure_ascii=False) + "\n"
    except StoppedError:
        yield "{}\n"
    except ExplainedError as error:
        yield json.dumps({"refused": error.text.in_(language)}, ensure_ascii=False) + "\n"
    except Exception:
        _log.exception("Could not open a file")
        yield json.dumps({"refused": word("unexpected", language)}, ensure_ascii=False) + "\n"
    finally:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)


def _as_json(step: Step | Done[Opened], language: Language) -> dict[str, Any]:
    if isinstance(step, Step):
        text = step.doing.in_(language) if step.doing else word("status_queue", language, place=max(1, step.place))
        return {"doing": text, "share": step.share}
    opened = step.result
    if opened.why is None:
        return {"model": opened.model}
    several = [{"name": name, "title": text.in_(language)} for name, text in opened.several.items()]
    return {"model": opened.model, "refused": opened.why.in_(language), "several": several}
