"""Limit on simultaneous requests per client address; an open page holds one or two."""

from __future__ import annotations

from collections import Counter

from starlette.types import ASGIApp, Receive, Scope, Send

from vitexplorer.core.text import Text
from vitexplorer.ui.server.refusals import refusal

_TOO_MANY = Text(
    "More than {most} requests at once come from your address. Close some of the pages.",
    "来自您的地址的同时请求已超过 {most} 个，请关闭一些页面。",
)


class ClientLimit:
    """Middleware that lets each address have at most `most` running requests."""

    def __init__(self, app: ASGIApp, most: int):
        self.app, self.most = app, most
        self._running: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse with 429, or pass on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        client = (scope.get("client") or ("",))[0]
        if self._running[client] >= self.most:
            await refusal(scope, 429, _TOO_MANY.format(most=self.most))(scope, receive, send)
            return
        self._running[client] += 1
        try:
            await self.app(scope, receive, send)
        finally:
            self._running[client] -= 1
            if not self._running[client]:
                del self._running[client]
