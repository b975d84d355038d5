"""No address has more than half of all requests that are answered at once: each open page holds one or two of them."""

from __future__ import annotations

from collections import Counter

from starlette.types import ASGIApp, Receive, Scope, Send

from vitexplorer.core.text import Text
from vitexplorer.ui.server.refusals import refusal

_TOO_MANY = Text(
    "More than {most} requests at once come from your address. Close some of the pages.",
    "来自您的地址的同时请求已超过 {most} 个，请关闭一些页面。",
)


class NoCrowds:
    """Counts what each address is being answered."""

    def __init__(self, app: ASGIApp, most: int):
        """Args: app: what is behind; most: requests of one address at once."""
        self.app, self.most = app, most
        self._now: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse with 429, or pass on."""
        client = (scope.get("client") or ("",))[0]
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        if self._now[client] >= self.most:
            await refusal(scope, 429, _TOO_MANY.format(most=self.most))(scope, receive, send)
            return
        self._now[client] += 1
        try:
            await self.app(scope, receive, send)
        finally:
            self._now[client] -= 1
            if not self._now[client]:
                del self._now[client]
