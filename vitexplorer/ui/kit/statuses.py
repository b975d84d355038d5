"""The status of an answer that is only a sentence: 422 for what was asked wrongly, 429 where too much waits already.

gradio answers 500 to whatever a function raises, and leaves nothing to choose. What answers step by step (its queue,
`/gradio_api/call/...`) has begun its answer with 200 before anything is known, and says in it that it is an error.

Whether an answer has been sent to its end is known here too, and so is whether a client that hung up waited for it.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_ANSWER = "vitexplorer.answer"


@dataclass
class _Answer:
    """The answer to one request."""

    status: int = 500
    """should gradio say 500"""
    sent: bool = False
    """to its end"""


def answer_with(scope: MutableMapping[str, Any], status: int) -> None:
    """The status for the request of this scope, should gradio say 500."""
    if answer := scope.get(_ANSWER):
        answer.status = status


async def has_hung_up(request: Request) -> bool:
    """Whether nobody is there for the answer to this request.

    One that has been answered says nothing of that: what it asked for is told elsewhere, by a stream of gradio's queue
    or of MCP's.
    """
    answer = request.scope.get(_ANSWER)
    return not (answer and answer.sent) and await request.is_disconnected()


class HonestStatuses:
    """Puts the status in that was said."""

    def __init__(self, app: ASGIApp):
        """Args: app: what is behind."""
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on."""
        answer = scope[_ANSWER] = _Answer()  # whoever is behind may have a scope of their own

        async def told(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] == 500:
                message = {**message, "status": answer.status}
            answer.sent |= message["type"] == "http.response.body" and not message.get("more_body", False)
            await send(message)

        await self.app(scope, receive, told)
