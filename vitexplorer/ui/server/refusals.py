"""Refusals of requests: a status, and a message in the visitor's language."""

from __future__ import annotations

from collections.abc import Callable

from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from vitexplorer.core.text import Text
from vitexplorer.ui.kit.language import language_of_request
from vitexplorer.ui.kit.static_responses import NO_STORE


class RefusedError(Exception):
    """Raised by a check of a request."""

    def __init__(self, status: int, text: Text):
        super().__init__(text.en)
        self.status, self.text = status, text


def refusal(scope: Scope, status: int, text: Text) -> JSONResponse:
    """Return the response; gradio's scripts look for the message under `error`."""
    message = text.in_(language_of_request(HTTPConnection(scope)))
    return JSONResponse({"error": message}, status, NO_STORE)


class Guard:
    """Middleware that answers a request with what `check` returns, and passes it on where that is None."""

    def __init__(self, app: ASGIApp, check: Callable[[Scope], Response | None]):
        self.app, self.check = app, check

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or pass on."""
        answer = self.check(scope) if scope["type"] == "http" else None
        await (answer or self.app)(scope, receive, send)
