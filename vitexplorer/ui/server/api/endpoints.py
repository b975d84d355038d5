"""API endpoints: each is `/gradio_api/call/v2/<name>`, a method of gradio's client and, if enabled, an MCP tool.

They are on a gradio page of their own, so that their configuration is not sent to browsers. gradio reads their names,
types, defaults and the descriptions of the tools off the functions.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import gradio as gr
from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.routing import Route

from vitexplorer.core.settings import Settings
from vitexplorer.service.engine import Engine
from vitexplorer.ui.server.api.checking import Checking
from vitexplorer.ui.server.api.explaining import Explaining
from vitexplorer.ui.server.api.listing import Listing

if TYPE_CHECKING:
    from gradio.mcp import GradioMCPServer

PATH = "api"


def add_endpoints(page: gr.Blocks, settings: Settings, engine: Engine) -> None:
    """Add the endpoints to `page`, which is laid out and closed, and whose own events are private.

    Calls bypass gradio's queue, which belongs to the page; they wait for the model in the engine's queue.
    """
    listing, explaining, checking = (part(settings, engine) for part in (Listing, Explaining, Checking))
    asked = (explaining.explain, explaining.predict, explaining.parameters, checking.diagnose)
    with page.route("API", PATH, show_in_navbar=False):
        for endpoint in (listing.models, listing.views, *asked):
            gr.api(endpoint, api_name=endpoint.__name__, queue=False, concurrency_limit=None)


def answer_in_json(server: GradioMCPServer) -> None:
    """Send agents results as JSON and pictures as images; gradio would send the `repr` of both."""
    postprocess = server.postprocess_output_data

    def postprocess_as_json(data: list[Any], root_url: str) -> list[Any]:
        (result,) = data
        picture = result.pop("picture", None) if isinstance(result, dict) else None
        return postprocess([json.dumps(result, ensure_ascii=False), *([picture] if picture else [])], root_url)

    server.postprocess_output_data = postprocess_as_json


async def _redirect_to_schema(request: Request) -> RedirectResponse:
    return RedirectResponse("gradio_api/openapi.json")


DESCRIBED = Route(f"/{PATH}", _redirect_to_schema)
"""Redirect of a browser to the OpenAPI schema; gradio's page of the endpoints would be empty"""
