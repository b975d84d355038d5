"""What is posted to gradio's addresses is one JSON object, before anybody behind reads it; files have a form."""

from __future__ import annotations

import re

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from vitexplorer.service.json_objects import NoObjectError, read_object
from vitexplorer.ui.server.refusals import refusal

_JSON = re.compile(r"/gradio_api/(?!upload/?$).*", re.DOTALL)


class ReadObjects:
    """Passes on bodies that are read alike by all that is behind."""

    def __init__(self, app: ASGIApp):
        """Args: app: what is behind."""
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
    """The body again, and then what comes."""
    parts = [body]

    async def again() -> Message:
        return {"type": "http.request", "body": parts.pop(), "more_body": False} if parts else await receive()

    return again
