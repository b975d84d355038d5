"""Upload endpoint of gradio's buttons and clients; every failure of gradio's form parser becomes a message."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from vitexplorer.core.text import Text
from vitexplorer.service.cache_folder import files_folder
from vitexplorer.ui.gradio_adapter.events import files_sent
from vitexplorer.ui.server.refusals import refusal

_NO_FORM = Text("This form holds no file that can be read.", "此表单中没有可读取的文件。")


async def _take_files(request: Request) -> Response:
    """Store the files of a form and return their paths; `body_limits` has checked their size."""
    try:
        return JSONResponse(await files_sent(request, files_folder()))
    except (MultiPartException, HTTPException, TypeError, KeyError, AttributeError, OSError):
        return refusal(request.scope, 422, _NO_FORM)


UPLOAD = Route("/gradio_api/upload", _take_files, methods=["POST"])
"""Replacement of gradio's route of this path"""
