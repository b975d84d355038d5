"""Which endpoints there are: each is `/gradio_api/call/v2/<name>`, a method of gradio's client and a tool of MCP.

They stand on a page of gradio's of their own, so that browsers are not sent what they are made of. What gradio knows
of them (names, types, defaults, what a tool says) it reads off the functions.
"""

from __future__ import annotations

import gradio as gr
from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.routing import Route

from vitexplorer.core.settings import Settings
from vitexplorer.service.engine import Engine
from vitexplorer.ui.server.api.explaining import Explaining
from vitexplorer.ui.server.api.listing import Listing

PATH = "api"


def open_door(page: gr.Blocks, settings: Settings, engine: Engine) -> None:
    """Let scripts ask what the page shows; `page` is laid out and closed; its own events are private.

    No call takes a place in gradio's own queue, which is the page's: who waits for the model waits in the engine's.
    """
    listing, explaining = Listing(settings, engine), Explaining(settings, engine)
    with page.route("API", PATH, show_in_navbar=False):
        for endpoint in (
            listing.models,
            listing.views,
            explaining.explain,
            explaining.predict,
            explaining.parameters,
        ):
            gr.api(endpoint, api_name=endpoint.__name__, queue=False, concurrency_limit=None)


async def _described(request: Request) -> RedirectResponse:
    return RedirectResponse("gradio_api/openapi.json")


DESCRIBED = Route(f"/{PATH}", _described)
"""what a browser is shown there, where gradio's page would be empty"""
