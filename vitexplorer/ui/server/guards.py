"""What every request passes on its way to the page."""

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
from vitexplorer.ui.kit.named_clients import NamedClients
from vitexplorer.ui.kit.statuses import HonestStatuses
from vitexplorer.ui.server.allowed_hosts import KnownHosts, listed
from vitexplorer.ui.server.body_limits import BoundBodies
from vitexplorer.ui.server.call_checks import ReadCalls
from vitexplorer.ui.server.closed_routes import ShutDoors
from vitexplorer.ui.server.event_checks import ReadEvents
from vitexplorer.ui.server.headers import SafeHeaders
from vitexplorer.ui.server.json_bodies import ReadObjects
from vitexplorer.ui.server.per_client_limit import NoCrowds
from vitexplorer.ui.server.static_cache import StaticCache


@dataclass(frozen=True)
class Guards:
    """Of one server."""

    settings: Settings
    folder: CacheFolder
    stored: StorageLimits
    budgets: UploadBudgets
    page: gr.Blocks
    visitors: Visitors
    memory: Memory

    @property
    def middleware(self) -> list[Middleware]:
        """From the outside to the inside. Where a CORSMiddleware is, gradio leaves out its own, which lets all in."""
        return [
            Middleware(SafeHeaders),
            Middleware(KnownHosts, settings=self.settings),
            Middleware(StaticCache, memory=self.memory),
            Middleware(ShutDoors),
            Middleware(
                CORSMiddleware,
                allow_origins=listed(self.settings.origins),
                allow_methods=["GET", "POST"],
                allow_headers=["content-type"],
            ),
            Middleware(NamedClients),
            Middleware(NoCrowds, most=max(1, self.settings.connections // 2)),
            Middleware(BoundBodies, settings=self.settings, budgets=self.budgets, folder=self.folder),
            Middleware(ReadObjects),
            Middleware(ReadEvents, page=self.page, visitors=self.visitors),
            Middleware(ReadCalls, page=self.page),
            Middleware(HonestStatuses),
        ]
