"""Request that is being answered: its client's address, and the status of the answer.

Gradio answers 500 to every exception and offers no choice; here it is 422 for a wrong request, 429 where too many
requests wait already. Streamed answers (its queue, `/gradio_api/call/...`) begin with 200 before the error is known,
and report it in their body. An answer that was sent completely is recorded, so that a client that hung up after it does
not count as one that gave up waiting.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

client: ContextVar[str] = ContextVar("client", default="")
"""Network address of the client whose request is being answered"""
_ANSWER = "vitexplorer.answer"


@dataclass
class _Answer:
    """The answer to one request."""

    status: int = 500
    """Status to send in place of gradio's 500"""
    sent: bool = False
    """True if the answer was sent completely"""


def answer_with(scope: MutableMapping[str, Any], status: int) -> None:
    """Set the status that replaces gradio's 500 in the answer to this scope's request."""
    if answer := scope.get(_ANSWER):
        answer.status = status


async def has_hung_up(request: Request) -> bool:
    """Return True if the client has hung up before its answer was sent.

    An answered request never counts as hung up: a stream of gradio's queue or of MCP may still carry its result.
    """
    answer = request.scope.get(_ANSWER)
    return not (answer and answer.sent) and await request.is_disconnected()


class AnsweredRequest:
    """Middleware that sets `client`, and replaces gradio's 500 by the status set with `answer_with`."""

    def __init__(self, app: ASGIApp):
        """Wrap an ASGI application."""
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on and correct the status of its answer."""
        if scope.get("client"):
            client.set(scope["client"][0])
        answer = scope[_ANSWER] = _Answer()  # kept in a variable, since the application may copy the scope

        async def send_corrected(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] == 500:
                message = {**message, "status": answer.status}
            answer.sent |= message["type"] == "http.response.body" and not message.get("more_body", False)
            await send(message)

        await self.app(scope, receive, send_corrected)
