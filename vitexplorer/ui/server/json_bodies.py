"""Check that a body posted to gradio's routes is one JSON object; uploads, which are forms, are exempt."""

from __future__ import annotations

import re

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from vitexplorer.service.json_objects import NoObjectError, read_object
from vitexplorer.ui.server.refusals import refusal

_JSON = re.compile(r"/gradio_api/(?!upload/?$).*", re.DOTALL)


class JsonBodyCheck:
    """Middleware that refuses bodies that are not one unambiguous JSON object."""

    def __init__(self, app: ASGIApp):
        """Wrap `app`."""
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse with 400, or pass on."""
        answer = self.app
        if scope["type"] == "http" and scope["method"] == "POST" and _JSON.fullmatch(scope["path"]):
            body = await Request(scope, receive).body()
            receive = once(body, receive)
            try:
                read_object(body)
            except NoObjectError as error:
                answer = refusal(scope, 400, error.text)
        await answer(scope, receive, send)


def once(body: bytes, receive: Receive) -> Receive:
    """Return a receiver that yields the body already read, then further messages."""
    parts = [body]

    async def replay() -> Message:
        return {"type": "http.request", "body": parts.pop(), "more_body": False} if parts else await receive()

    return replay
