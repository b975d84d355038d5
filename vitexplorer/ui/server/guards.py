"""Middleware stack of a server: checks and limits that every request passes."""

from __future__ import annotations

import re
from dataclasses import dataclass

import gradio as gr
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import PlainTextResponse
from starlette.types import Scope

from vitexplorer.core.cache import Memory
from vitexplorer.core.settings import Settings
from vitexplorer.service.cache_folder import CacheFolder
from vitexplorer.service.storage_limits import StorageLimits
from vitexplorer.service.upload_budgets import UploadBudgets
from vitexplorer.ui.gradio_adapter.page_sessions import Visitors
from vitexplorer.ui.kit.named_clients import ClientAddress
from vitexplorer.ui.kit.static_responses import NO_STORE
from vitexplorer.ui.kit.statuses import StatusMiddleware
from vitexplorer.ui.server.allowed_hosts import HostCheck, listed
from vitexplorer.ui.server.body_limits import BodyLimit
from vitexplorer.ui.server.call_checks import CallCheck
from vitexplorer.ui.server.event_checks import EventCheck
from vitexplorer.ui.server.headers import SecurityHeaders
from vitexplorer.ui.server.per_client_limit import ClientLimit
from vitexplorer.ui.server.refusals import Guard
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
            Middleware(ClientAddress),
            Middleware(ClientLimit, most=max(1, self.settings.connections // 2)),
            Middleware(BodyLimit, settings=self.settings, budgets=self.budgets, folder=self.folder),
            Middleware(RequestCheck, checks=[EventCheck(self.page, self.visitors), CallCheck(self.page)]),
            Middleware(StatusMiddleware),
        ]
