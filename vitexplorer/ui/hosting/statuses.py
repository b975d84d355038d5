"""The status of an answer that is only a sentence: 422 for what was asked wrongly, 429 where too much waits already.

gradio answers 500 to whatever a function raises, and leaves nothing to choose. What answers step by step (its queue,
`/gradio_api/call/...`) has begun its answer with 200 before anything is known, and says in it that it is an error.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

_SAID = "vitexplorer.status"


def answer_with(scope: MutableMapping[str, Any], status: int) -> None:
    """The status for the request of this scope, should gradio say 500."""
    scope.get(_SAID, {})["status"] = status


class HonestStatuses:
    """Puts the status in that was said."""

    def __init__(self, app: ASGIApp):
        """Args: app: what is behind."""
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on."""
        said = scope[_SAID] = {"status": 500}  # whoever is behind may have a scope of their own

        async def told(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] == 500:
                message = {**message, **said}
            await send(message)

        await self.app(scope, receive, told)
