"""Where a model's file arrives: its bytes in, a name for the menu out, or a sentence that says why not.

An address of its own beside gradio's, as for pictures. Opening takes a while, so that the answer comes in lines of
JSON: how far it is, as often as that is news, and at the end `model`, or `refused`; `several` names the architectures
among which a person has to choose, who then asks again with `as` and without the file.
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
from starlette.responses import JSONResponse, Response, StreamingResponse
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
from vitexplorer.ui.kit.language import language_of, word
from vitexplorer.ui.kit.static_responses import NO_STORE
from vitexplorer.ui.kit.words import UI_WORDS
from vitexplorer.ui.server.image_upload import KIND
from vitexplorer.ui.shell.address import Address

_log = logging.getLogger(__name__)
_Files = TypeAdapter(
    Annotated[
        list[tuple[Annotated[str, Field(min_length=1, max_length=300)], Annotated[int, Field(ge=0)]]],
        Field(min_length=1, max_length=200),
    ]
)
"""names and bytes of files that come one after the other in one body"""


def model_route(engine: Engine) -> Route:
    """`POST /model`."""

    async def take(request: Request) -> Response:
        return await _answered(engine, request)

    return Route("/model", take, methods=["POST"])


async def _answered(engine: Engine, request: Request) -> Response:
    """What is asked: `files` that are the body, a `path` of this machine, or a `model` that is kept `as` another.

    Otherwise 415 and 413 for a body that is none or too large, 422 for files that are not opened here.
    """
    asked = request.query_params
    language = language_of(request.url.query, request.headers.get("accept-language", ""))
    if request.headers.get("content-type") != KIND:
        return JSONResponse({"refused": word("file_lost", language)}, 415)
    visitor, folder = valid_visitor(request.headers.get("x-visitor", "")), None
    try:
        address = Address.exactly(model=asked.get("model", ""), weights=asked.get("weights", ""))
        if chosen := Address.exactly(model=asked.get("as", "")).model if "as" in asked else "":
            work = partial(choose, engine, visitor, address.model, chosen)
            return _in_lines(visitor, language, lambda: engine.short.run(object(), lambda _: work()))
        if "path" in asked:
            sent = _of_this_machine(asked["path"])
        else:
            await asyncio.to_thread(check_room, engine.places, visitor)
            with explain_full_disk(files_folder()):
                folder = _new_folder()
                sent = Sent(await _received(request, folder))
    except ExplainedError as error:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
        return JSONResponse({"refused": error.text.in_(language)}, status_of(error))

    keep = partial(keep_sent, engine, visitor, sent, address.picture, settings())
    return _in_lines(visitor, language, keep, folder)


def _of_this_machine(path: str) -> Sent:
    if settings().hosted:
        raise ExplainedError(UI_WORDS["file_path"])
    whole = Path(path.strip().strip("\"'")).expanduser()
    if not whole.is_dir():
        check_kinds([whole.name], settings())
    return Sent([whole], named=True)


def _new_folder() -> Path:
    above = files_folder()
    above.mkdir(parents=True, exist_ok=True)
    return Path(tempfile.mkdtemp(dir=above))


async def _received(request: Request, folder: Path) -> list[Path]:
    """The files of the body in the folder. Raises ExplainedError where they are not opened here, or did not arrive."""
    try:
        files = _Files.validate_json(request.query_params.get("files", ""))
    except ValidationError as error:
        raise ExplainedError(UI_WORDS["file_lost"]) from error
    names, most = [name for name, _ in files], settings().max_upload_megabytes
    check_kinds(names, settings())
    if sum(size for _, size in files) > most * 10**6:
        raise ExplainedError(UI_WORDS["file_large"].format(file=names[0], most=most))
    inside = folder / _title(names)
    inside.mkdir()
    paths = [inside / (safe_name(Path(name).stem) + Path(name).suffix.lower()) for name in names]
    if len(set(paths)) < len(paths):
        raise ExplainedError(UI_WORDS["file_lost"])
    parts, rest = request.stream(), b""
    for path, (_, size) in zip(paths, files, strict=True):
        with path.open("xb") as file:
            while file.tell() < size:
                rest = rest or await anext(parts, b"")
                if not rest:
                    raise ExplainedError(UI_WORDS["file_lost"])
                here = size - file.tell()
                file.write(rest[:here])
                rest = rest[here:]
    return paths


def _title(names: list[str]) -> str:
    """What a folder is called of which all files were sent: as its weights."""
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
    """How far it is, then what came of it; the folder is gone afterwards, and the work where nobody waits for it."""
    try:
        async with aclosing(following(Waiting(visitor, "file"), keep())) as steps:
            async for step in steps:
                yield json.dumps(_said(step, language), ensure_ascii=False) + "\n"
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


def _said(step: Step | Done[Opened], language: Language) -> dict[str, Any]:
    if isinstance(step, Step):
        doing = step.doing.in_(language) if step.doing else word("status_queue", language, place=max(1, step.place))
        return {"doing": doing, "share": step.share}
    opened = step.result
    if opened.why is None:
        return {"model": opened.model}
    several = [{"name": name, "title": text.in_(language)} for name, text in opened.several.items()]
    return {"model": opened.model, "refused": opened.why.in_(language), "several": several}
