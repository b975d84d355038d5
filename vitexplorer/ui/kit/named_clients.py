"""The address that a request came from, for whoever answers it."""

from __future__ import annotations

from contextvars import ContextVar

from starlette.types import ASGIApp, Receive, Scope, Send

client: ContextVar[str] = ContextVar("client", default="")


class NamedClients:
    """Says to all behind it which address a request came from."""

    def __init__(self, app: ASGIApp):
        """Args: app: what is behind."""
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on."""
        if scope.get("client"):
            client.set(scope["client"][0])
        await self.app(scope, receive, send)
