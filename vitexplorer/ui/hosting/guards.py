"""What every request passes on its way to the page."""

from __future__ import annotations

from dataclasses import dataclass

import gradio as gr
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware

from vitexplorer.core.cache import Memory
from vitexplorer.core.settings import Settings
from vitexplorer.service.cache_folder import CacheFolder
from vitexplorer.service.storage_limits import Stored
from vitexplorer.service.upload_budgets import Budgets
from vitexplorer.ui.hosting.bodies import BoundBodies
from vitexplorer.ui.hosting.calls import ReadCalls
from vitexplorer.ui.hosting.crowds import NoCrowds
from vitexplorer.ui.hosting.doors import ShutDoors
from vitexplorer.ui.hosting.events import ReadEvents
from vitexplorer.ui.hosting.headers import SafeHeaders
from vitexplorer.ui.hosting.hosts import KnownHosts, listed
from vitexplorer.ui.hosting.objects import ReadObjects
from vitexplorer.ui.hosting.static_cache import StaticCache
from vitexplorer.ui.hosting.statuses import HonestStatuses
from vitexplorer.ui.hosting.visitors import NamedClients, Visitors


@dataclass(frozen=True)
class Guards:
    """Of one server."""

    settings: Settings
    folder: CacheFolder
    stored: Stored
    budgets: Budgets
    page: gr.Blocks
    visitors: Visitors
    memory: Memory

    @property
    def middleware(self) -> list[Middleware]:
        """From the outside to the inside. Where a CORSMiddleware is, gradio leaves out its own, which lets all in."""
        return [
            Middleware(SafeHeaders),
            Middleware(KnownHosts, settings=self.settings),
            Middleware(ShutDoors),
            Middleware(
                CORSMiddleware,
                allow_origins=listed(self.settings.origins),
                allow_methods=["GET", "POST"],
                allow_headers=["content-type"],
            ),
            Middleware(NamedClients),
            Middleware(NoCrowds, most=max(1, self.settings.connections // 2)),
            Middleware(StaticCache, memory=self.memory),
            Middleware(BoundBodies, settings=self.settings, budgets=self.budgets, folder=self.folder),
            Middleware(ReadObjects),
            Middleware(ReadEvents, page=self.page, visitors=self.visitors),
            Middleware(ReadCalls, page=self.page),
            Middleware(HonestStatuses),
        ]
