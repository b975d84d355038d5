"""The page, a room or a part of it with its components, for tests of the answers to its events."""

from __future__ import annotations

from typing import Protocol, TypeVar

import gradio as gr

from tests.helpers.waiting import now
from vitexplorer.core.settings import Settings
from vitexplorer.service.engine import Engine
from vitexplorer.ui.kit.language import Translations
from vitexplorer.ui.page import Page
from vitexplorer.ui.shell.address import Address
from vitexplorer.ui.shell.room_context import RoomContext


class Part(Protocol):
    """Protocol of an object that lays out components."""

    def build(self) -> object: ...


P = TypeVar("P", bound=Part)


def built(part: P) -> P:
    """Build a part in a page of its own and return it."""

    async def page() -> None:  # gradio leaves a loop open where none is running
        with gr.Blocks(analytics_enabled=False):
            part.build()

    now(page())
    return part


def whole_page(engine: Engine) -> Page:
    """Return a whole page, built."""
    page = Page(Settings(), RoomContext(engine, Translations(), gr.State(Address()), visitor=gr.State("")))

    async def build() -> None:  # gradio leaves a loop open where none is running
        with gr.Blocks(analytics_enabled=False) as blocks:
            page.build(blocks)

    now(build())
    return page
