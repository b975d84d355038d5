"""Sharpened maps of the canvases: each is computed when a browser requests it; one that closes the request stops it.

An address with `idle=1` is a browser's own idea, without a person: it is answered by status 204 while the model is
busy with anything else.
"""

from __future__ import annotations

from functools import partial

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from vitexplorer.core.text import ExplainedError, Text
from vitexplorer.service.answer_threads import in_thread
from vitexplorer.service.engine import Engine
from vitexplorer.service.jobs import Step, StoppedError, Waiting, waiting
from vitexplorer.ui.canvas.files import captured
from vitexplorer.ui.gradio_adapter.page_blocks import status_of
from vitexplorer.ui.kit.language import normalise_language
from vitexplorer.ui.kit.requests import has_hung_up
from vitexplorer.ui.kit.static_responses import IMMUTABLE, NO_STORE

_FORGOTTEN = Text(
    "This map is no longer in the server's memory; open the image again.", "该图已不在服务器内存中，请重新打开图像。"
)
VIEWS_OF_CANVASES = ("attention_map", "attention_rollout")
GONE = 499
"""Status for a client that has closed the request; nobody reads it"""
NOT_NOW = 204


async def _still_there(request: Request, step: Step) -> None:
    """Raise StoppedError if the browser has closed the request."""
    if await has_hung_up(request):
        raise StoppedError


def sharpened_route(engine: Engine) -> Route:
    """Make the route that answers a sharpened map, (rows, cols) little-endian float32, for an address of a canvas."""

    async def serve(request: Request) -> Response:
        name = request.path_params["capture"]
        given = dict(request.query_params)
        is_asked = not given.pop("idle", "")
        view, language = given.pop("view", ""), normalise_language(given.pop("lang", ""))
        capture = captured(name)
        if capture is None or view not in VIEWS_OF_CANVASES:
            return PlainTextResponse(_FORGOTTEN.in_(language), 404, NO_STORE)
        client = request.client.host if request.client else ""
        visitor = f"sharpened maps of {name} for {client}"  # a class behind one address has many pictures
        waiting.set(Waiting(visitor, tell=partial(_still_there, request)))
        try:
            is_busy = any(map(len, engine.queues.values()))
            if is_busy and not is_asked and await in_thread(engine.known, name, capture, view, given) is None:
                return Response(status_code=NOT_NOW, headers=NO_STORE)
            result = await engine.compute(name, capture, view, given)
        except StoppedError:
            return Response(status_code=GONE)
        except ExplainedError as error:
            return PlainTextResponse(error.text.in_(language), status_of(error), NO_STORE)
        cells = result.values.astype("<f4").tobytes()
        return Response(cells, media_type="application/octet-stream", headers=IMMUTABLE)

    return Route("/sharpened/{capture}", serve)
