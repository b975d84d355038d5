"""HTTP routes of the room Folder, without gradio.

Each request names the visitor in a header, which another site's page may not send here without a CORS preflight, and
reaches only that visitor's surveys. Few answers are computed at a time, so that one visitor does not take all threads.
Opening a very large survey for the first time takes minutes; requests that wait for it do not count.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route

from vitexplorer.core.text import ExplainedError
from vitexplorer.service.engine import Engine
from vitexplorer.service.image_store import keep_upload
from vitexplorer.service.surveys import charts
from vitexplorer.service.surveys.choosing import counting
from vitexplorer.service.surveys.facts import counted, facts
from vitexplorer.service.surveys.findings import findings
from vitexplorer.service.surveys.gallery import gallery, read_sentence
from vitexplorer.service.surveys.pictures import file_of, small_picture
from vitexplorer.service.surveys.process import begin, stop
from vitexplorer.service.surveys.request import SurveyRequest
from vitexplorer.service.surveys.store import delete
from vitexplorer.service.surveys.words import SURVEY_WORDS
from vitexplorer.service.visitor_names import valid_visitor
from vitexplorer.storage.atomic_writes import explain_full_disk
from vitexplorer.ui.gradio_adapter.page_blocks import status_of
from vitexplorer.ui.kit.language import language_of_request
from vitexplorer.ui.kit.static_responses import NO_STORE
from vitexplorer.ui.rooms.folder import beginning
from vitexplorer.ui.server.image_upload import KIND, answer_picture, refused

FORMATS = ("csv", "parquet")


def rows_file(request: SurveyRequest) -> FileResponse:
    """Return the rows as a CSV or Parquet file; only Parquet holds columns of lists.

    Raises:
        ExplainedError: where the file cannot be written.
    """
    from vitexplorer.survey.export import export

    ending = request.text("as")
    if ending not in FORMATS:
        raise ExplainedError(SURVEY_WORDS["survey_wrong"])
    survey, where = request.opened, request.where
    with explain_full_disk(Path(tempfile.gettempdir())):
        folder = Path(tempfile.mkdtemp(prefix="vitexplorer-rows-"))
    try:
        file = export(survey, where, folder / f"rows.{ending}", lists=ending == "parquet")
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    remove_folder = BackgroundTask(shutil.rmtree, folder, ignore_errors=True)
    return FileResponse(file, headers=NO_STORE, background=remove_folder)


AT_ONCE = 2
"""Most answers that are computed at the same time"""
NO_ROW = -1
PICTURES = {"cache-control": "private, max-age=3600"}


def _stop(survey_request: SurveyRequest) -> dict[str, Any]:
    stop(survey_request.survey)
    return {}


def _resume(survey_request: SurveyRequest) -> dict[str, Any]:
    beginning.check_open(survey_request)
    begin(survey_request.places, survey_request.survey)
    return {}


def _delete(survey_request: SurveyRequest) -> dict[str, Any]:
    delete(survey_request.places, survey_request.visitor, survey_request.survey)
    return {"surveys": beginning.listed(survey_request)}


def _open(survey_request: SurveyRequest) -> dict[str, Any]:
    """Copy an image to the uploads, for the other rooms."""
    file = file_of(survey_request.places, survey_request.opened, counting(survey_request.text("row"), NO_ROW))
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
"""Answers by the last part of the address"""
ROW_ANSWERS: dict[str, Callable[[SurveyRequest], dict[str, Any] | Response]] = {
    "open": _open,
    "facts": facts,
    "count": counted,
    "findings": findings,
    "gallery": gallery,
    "histogram": charts.histogram,
    "scatter": charts.scatter,
    "map": charts.places,
    "heads": charts.heads,
    "maps": charts.maps,
    "classes": charts.classes,
    "beside": charts.beside,
    "rows": rows_file,
}
"""Answers that need an opened survey"""


def survey_routes(engine: Engine) -> list[Route]:
    """Return the routes `POST /survey/{what}` and `GET /survey-pictures/{picture_key}`."""
    turns = asyncio.Semaphore(AT_ONCE)
    opening: WeakValueDictionary[tuple[str, str], asyncio.Lock] = WeakValueDictionary()

    async def open_surveys(survey_request: SurveyRequest) -> None:
        """Open the surveys that a request names."""
        for name, opened in (("survey", "opened"), ("beside", "opened_beside")):
            if survey_request.text(name):
                async with opening.setdefault((survey_request.visitor, survey_request.text(name)), asyncio.Lock()):
                    await asyncio.to_thread(getattr, survey_request, opened)

    async def answer(request: Request) -> Response:
        what = request.path_params["what"]
        visitor = valid_visitor(request.headers.get("x-visitor", ""))
        survey_request = SurveyRequest(engine, request.query_params, language_of_request(request), visitor)
        if what == "zip":
            return await answer_picture(
                request,
                lambda path: asyncio.to_thread(beginning.unpacked, survey_request, path),
                lambda: asyncio.to_thread(beginning.check_open, survey_request),
            )
        if what not in ANSWERS | ROW_ANSWERS or request.headers.get("content-type") != KIND:
            return JSONResponse({"refused": survey_request.say("survey_wrong")}, 404)
        try:
            if what in ROW_ANSWERS:
                await open_surveys(survey_request)
                await read_sentence(survey_request)
            async with turns:
                made = await asyncio.to_thread((ANSWERS | ROW_ANSWERS)[what], survey_request)
            return made if isinstance(made, Response) else JSONResponse(made, headers=NO_STORE)
        except ExplainedError as error:
            return refused(request, error.text, status_of(error))

    async def picture(request: Request) -> Response:
        picture_key = request.path_params["picture_key"]
        row = counting(request.query_params.get("row", ""), NO_ROW)
        try:
            async with turns:
                small = await asyncio.to_thread(small_picture, engine.places, picture_key, row)
        except ExplainedError as error:
            return JSONResponse({"refused": error.text.in_(language_of_request(request))}, 404, NO_STORE)
        return Response(small, media_type="image/jpeg", headers=PICTURES)

    return [Route("/survey/{what}", answer, methods=["POST"]), Route("/survey-pictures/{picture_key}", picture)]
