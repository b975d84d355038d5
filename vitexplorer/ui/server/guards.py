"""Middleware stack of a server: checks and limits that every request passes."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

import gradio as gr
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from vitexplorer.core.cache import Memory
from vitexplorer.core.settings import Settings
from vitexplorer.core.text import Text
from vitexplorer.service.cache_folder import CacheFolder
from vitexplorer.service.storage_limits import StorageLimits
from vitexplorer.service.upload_budgets import UploadBudgets
from vitexplorer.ui.gradio_adapter.page_sessions import Visitors
from vitexplorer.ui.kit.requests import AnsweredRequest
from vitexplorer.ui.kit.static_responses import NO_STORE
from vitexplorer.ui.server.allowed_hosts import HostCheck, listed
from vitexplorer.ui.server.body_limits import BodyLimit
from vitexplorer.ui.server.call_checks import CallCheck
from vitexplorer.ui.server.event_checks import EventCheck
from vitexplorer.ui.server.headers import SecurityHeaders
from vitexplorer.ui.server.refusals import Guard, refusal
from vitexplorer.ui.server.request_checks import RequestCheck
from vitexplorer.ui.server.static_cache import StaticCache

_OPEN = re.compile(
    r"/gradio_api/(?:run|call|queue|upload|cancel|reset|heartbeat|info|openapi\.json|startup-events|mcp"
    r"|file=(?!(?i:https?:))[^/]*|app_id|theme\.css)(?:/.*)?"
)
"""Routes of gradio that the page uses; they are listed, so that a new version of gradio opens nothing unnoticed"""
_CLOSED = re.compile(r"/(?:gradio_api|login|logout|svelte|monitoring|pwa_icon|docs|redoc)(?:/.*)?", re.DOTALL)


def closed_route(scope: Scope) -> PlainTextResponse | None:
    """Answer 404 for gradio's routes that the page does not use.

    They write files (deep links), fetch addresses that a visitor names, take recordings, inspect components, or serve
    development.
    """
    is_closed = _CLOSED.fullmatch(scope["path"]) and not _OPEN.fullmatch(scope["path"])
    return PlainTextResponse("Not found", 404, NO_STORE) if is_closed else None


_TOO_MANY = Text(
    "More than {most} requests at once come from your address. Close some of the pages.",
    "您的地址同时发出的请求已超过 {most} 个，请关闭一些页面。",
)


class ClientLimit:
    """Middleware that lets each client address have at most `most` running requests; an open page holds one or two."""

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


@dataclass(frozen=True)
class Guards:
    """Checks and limits of one server."""

    settings: Settings
    folder: CacheFolder
    stored: StorageLimits
    budgets: UploadBudgets
    page: gr.Blocks
    visitors: Visitors
    memory: Memory

    @property
    def middleware(self) -> list[Middleware]:
        """Middleware from outermost to innermost; CORSMiddleware keeps gradio from adding its own, which allows all."""
        return [
            Middleware(SecurityHeaders),
            Middleware(Guard, check=HostCheck(self.settings)),
            Middleware(StaticCache, memory=self.memory),
            Middleware(Guard, check=closed_route),
            Middleware(
                CORSMiddleware,
                allow_origins=listed(self.settings.origins),
                allow_methods=["GET", "POST"],
                allow_headers=["content-type"],
            ),
            Middleware(AnsweredRequest),
            Middleware(ClientLimit, most=max(1, self.settings.connections // 2)),
            Middleware(BodyLimit, settings=self.settings, budgets=self.budgets, folder=self.folder),
            Middleware(RequestCheck, checks=[EventCheck(self.page, self.visitors), CallCheck(self.page)]),
        ]
