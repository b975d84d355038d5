"""Network address of the client whose request is being answered."""

from __future__ import annotations

from contextvars import ContextVar

from starlette.types import ASGIApp, Receive, Scope, Send

client: ContextVar[str] = ContextVar("client", default="")


class ClientAddress:
    """Middleware that sets `client` to the address that a request came from."""

    def __init__(self, app: ASGIApp):
        """Wrap an ASGI application."""
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope.get("client"):
            client.set(scope["client"][0])
        await self.app(scope, receive, send)
