"""Every request is measured and, where that is wanted, told in a line of JSON: its route, never its address or body."""

from __future__ import annotations

import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from vitexplorer.ui.server.metrics.lines import Lines
from vitexplorer.ui.server.metrics.measures import Measures


class Watched:
    """Around all that is served."""

    def __init__(self, app: ASGIApp, measures: Measures, lines: Lines):
        """Args: app: what is watched; measures, lines: who is told."""
        self.app, self.measures, self.lines = app, measures, lines

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on; an answer counts when it begins, for that of a page that is open has no end."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began = time.monotonic()

        async def heard(message: Message) -> None:
            if message["type"] == "http.response.start":
                seconds = time.monotonic() - began
                asked = {"method": scope["method"], "route": route_of(scope), "status": message["status"]}
                self.measures.requests.labels(**asked).observe(seconds)
                self.lines.tell("request", **asked, seconds=seconds)
            await send(message)

        await self.app(scope, receive, heard)


def route_of(scope: Scope) -> str:
    """The pattern that the path was found by, of which there are few; `other` where none was."""
    return getattr(scope.get("route"), "path", None) or "other"
