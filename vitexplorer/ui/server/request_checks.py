"""Check of what is posted to gradio's routes: one JSON object, that further checks accept; uploads are forms."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from vitexplorer.service.json_objects import NoObjectError, read_object
from vitexplorer.ui.server.refusals import RefusedError, refusal

_JSON = re.compile(r"/gradio_api/(?!upload/?$).*", re.DOTALL)


class RequestCheck:
    """Middleware that refuses bodies that are not one unambiguous JSON object, and what `checks` refuse."""

    def __init__(self, app: ASGIApp, checks: list[Callable[[Scope, bytes | None], Awaitable[None]]]):
        """Wrap `app`; `checks` get each request and its JSON object, if it has one, and may raise RefusedError."""
        self.app, self.checks = app, checks

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse with 400 or the status of a check, or pass on."""
        answer = self.app
        if scope["type"] == "http":
            body = None
            try:
                if scope["method"] == "POST" and _JSON.fullmatch(scope["path"]):
                    body = await Request(scope, receive).body()
                    receive = _once(body, receive)
                    read_object(body)
                for check in self.checks:
                    await check(scope, body)
            except NoObjectError as error:
                answer = refusal(scope, 400, error.text)
            except RefusedError as error:
                answer = refusal(scope, error.status, error.text)
        await answer(scope, receive, send)


def _once(body: bytes, receive: Receive) -> Receive:
    """Return a receiver that yields the body already read, then further messages."""
    parts = [body]

    async def replay() -> Message:
        return {"type": "http.request", "body": parts.pop(), "more_body": False} if parts else await receive()

    return replay
