"""Middleware stack of a server: checks and limits that every request passes."""

from __future__ import annotations

from dataclasses import dataclass

import gradio as gr
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware

from vitexplorer.core.cache import Memory
from vitexplorer.core.settings import Settings
from vitexplorer.service.cache_folder import CacheFolder
from vitexplorer.service.storage_limits import StorageLimits
from vitexplorer.service.upload_budgets import UploadBudgets
from vitexplorer.ui.gradio_adapter.page_sessions import Visitors
from vitexplorer.ui.kit.named_clients import ClientAddress
from vitexplorer.ui.kit.statuses import StatusMiddleware
from vitexplorer.ui.server.allowed_hosts import HostCheck, listed
from vitexplorer.ui.server.body_limits import BodyLimit
from vitexplorer.ui.server.call_checks import CallCheck
from vitexplorer.ui.server.closed_routes import closed_route
from vitexplorer.ui.server.event_checks import EventCheck
from vitexplorer.ui.server.headers import SecurityHeaders
from vitexplorer.ui.server.per_client_limit import ClientLimit
from vitexplorer.ui.server.refusals import Guard
from vitexplorer.ui.server.request_checks import RequestCheck
from vitexplorer.ui.server.static_cache import StaticCache


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
