"""Metrics and log lines of requests: their route, never their full path or body."""

from __future__ import annotations

import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from vitexplorer.ui.server.metrics.lines import Lines
from vitexplorer.ui.server.metrics.measures import Measures


class Watched:
    """Middleware that measures and logs every request."""

    def __init__(self, app: ASGIApp, measures: Measures, lines: Lines):
        """Set up the middleware.

        Args:
            app: the application behind it.
            measures: receives the durations.
            lines: receives the log lines.
        """
        self.app, self.measures, self.lines = app, measures, lines

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on; measure until the response begins, since the stream of an open page does not end."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began = time.monotonic()

        async def send_measured(message: Message) -> None:
            if message["type"] == "http.response.start":
                seconds = time.monotonic() - began
                labels = {"method": scope["method"], "route": route_of(scope), "status": message["status"]}
                self.measures.requests.labels(**labels).observe(seconds)
                self.lines.tell("request", **labels, seconds=seconds)
            await send(message)

        await self.app(scope, receive, send_measured)


def route_of(scope: Scope) -> str:
    """Return the pattern of the matched route, or `other`; patterns are few, paths are not."""
    return getattr(scope.get("route"), "path", None) or "other"
