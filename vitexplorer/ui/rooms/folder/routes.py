"""Routes of the room Folder: addresses of their own, for gradio has no part in it.

Each names the visitor in a header, which no page of a stranger may send here without asking first, and finds that
visitor's surveys alone. Answers are made on a few threads, so that no question of one visitor takes all of them; who
waits for a survey to be opened, which takes minutes the first time that a very large one is, takes none of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any
from weakref import WeakValueDictionary

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from vitexplorer.core.text import ExplainedError
from vitexplorer.service.engine import Engine
from vitexplorer.service.image_store import keep_upload
from vitexplorer.service.surveys import charts
from vitexplorer.service.surveys.facts import counted, facts
from vitexplorer.service.surveys.gallery import gallery
from vitexplorer.service.surveys.pictures import file_of, small_picture
from vitexplorer.service.surveys.process import begin, stop
from vitexplorer.service.surveys.request import SurveyRequest, counting
from vitexplorer.service.surveys.store import delete
from vitexplorer.service.visitor_names import valid_visitor
from vitexplorer.ui.gradio_adapter.page_blocks import status_of
from vitexplorer.ui.kit.language import language_of
from vitexplorer.ui.kit.static_responses import NO_STORE
from vitexplorer.ui.rooms.folder import beginning
from vitexplorer.ui.rooms.folder.keeping import kept_rows
from vitexplorer.ui.server.image_upload import KIND, answer_picture

AT_ONCE = 2
"""answers that are made at the same time"""
NO_ROW = -1
PICTURES = {"cache-control": "private, max-age=3600"}


def _stop(asking: SurveyRequest) -> dict[str, Any]:
    stop(asking.survey)
    return {}


def _resume(asking: SurveyRequest) -> dict[str, Any]:
    beginning.check_open(asking)
    begin(asking.places, asking.survey)
    return {}


def _delete(asking: SurveyRequest) -> dict[str, Any]:
    delete(asking.places, asking.visitor, asking.survey)
    return {"surveys": beginning.listed(asking)}


def _open(asking: SurveyRequest) -> dict[str, Any]:
    """An image for the other rooms."""
    file = file_of(asking.places, asking.opened, counting(asking.text("row"), NO_ROW))
    return {"image": keep_upload(str(file))}


ANSWERS: dict[str, Callable[[SurveyRequest], dict[str, Any]]] = {
    "opening": beginning.opening,
    "look": beginning.look,
    "start": beginning.start,
    "state": beginning.state,
    "stop": _stop,
    "resume": _resume,
    "delete": _delete,
}
"""by the last part of the address"""
OF_ROWS: dict[str, Callable[[SurveyRequest], dict[str, Any] | Response]] = {
    "open": _open,
    "facts": facts,
    "count": counted,
    "gallery": gallery,
    "histogram": charts.histogram,
    "scatter": charts.scatter,
    "map": charts.places,
    "heads": charts.heads,
    "maps": charts.maps,
    "classes": charts.classes,
    "beside": charts.beside,
    "rows": kept_rows,
}
"""those that need an opened survey"""


def _asked(engine: Engine, request: Request) -> SurveyRequest:
    language = language_of(request.url.query, request.headers.get("accept-language", ""))
    return SurveyRequest(engine, request.query_params, language, valid_visitor(request.headers.get("x-visitor", "")))


def survey_routes(engine: Engine) -> list[Route]:
    """`POST /survey/{what}`, and `GET /survey-pictures/{door}`."""
    turns = asyncio.Semaphore(AT_ONCE)
    opening: WeakValueDictionary[tuple[str, str], asyncio.Lock] = WeakValueDictionary()

    async def opened(asking: SurveyRequest) -> None:
        """Its surveys are open afterwards."""
        for name in ("survey", "beside"):
            if asking.text(name):
                async with opening.setdefault((asking.visitor, asking.text(name)), asyncio.Lock()):
                    await asyncio.to_thread(getattr, asking, {"survey": "opened", "beside": "opened_beside"}[name])

    async def answer(request: Request) -> Response:
        what, asking = request.path_params["what"], _asked(engine, request)
        if what == "zip":
            return await answer_picture(
                request,
                lambda path: asyncio.to_thread(beginning.unpacked, asking, path),
                lambda: asyncio.to_thread(beginning.check_open, asking),
            )
        if what not in ANSWERS | OF_ROWS or request.headers.get("content-type") != KIND:
            return JSONResponse({"refused": asking.say("survey_wrong")}, 404)
        try:
            if what in OF_ROWS:
                await opened(asking)
            async with turns:
                made = await asyncio.to_thread((ANSWERS | OF_ROWS)[what], asking)
            return made if isinstance(made, Response) else JSONResponse(made, headers=NO_STORE)
        except ExplainedError as error:
            return JSONResponse({"refused": error.text.in_(asking.language)}, status_of(error))

    async def picture(request: Request) -> Response:
        door, row = request.path_params["door"], counting(request.query_params.get("row", ""), NO_ROW)
        try:
            async with turns:
                small = await asyncio.to_thread(small_picture, engine.places, door, row)
        except ExplainedError as error:
            language = language_of(request.url.query, request.headers.get("accept-language", ""))
            return JSONResponse({"refused": error.text.in_(language)}, 404, NO_STORE)
        return Response(small, media_type="image/jpeg", headers=PICTURES)

    return [
        Route("/survey/{what}", answer, methods=["POST"]),
        Route("/survey-pictures/{door}", picture),
    ]
