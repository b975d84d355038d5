"""The page's own events: what a person chose last stays, whatever arrives late."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from typing import Any

import gradio as gr
import pytest

from tests.helpers.built_parts import whole_page
from tests.helpers.page_pictures import SMALL
from tests.helpers.waiting import now
from vitexplorer.service.engine import Engine
from vitexplorer.ui.shell.address import Address
from vitexplorer.ui.shell.room_context import Updates
from vitexplorer.ui.shell.visit import Visit

FIRST, SECOND = (
    Address(image=image, model=SMALL.model, weights=SMALL.weights, fit=SMALL.fit, size=SMALL.size)
    for image in ("scene_ring", "scene_gear")
)


def test_a_choice_that_was_overtaken_changes_nothing(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first of two links is slow, and its picture in memory: its frame and rooms arrive after the second's."""
    page = whole_page(engine)
    now(engine.explore(FIRST.picture))
    is_second_done = threading.Event()

    def go(visit: Visit, event: gr.EventData, before: Address) -> Updates:
        if before == FIRST:
            assert is_second_done.wait(60)
        return visit.enter(before)

    monkeypatch.setattr(Visit, "go", go)
    screen: dict[Any, Any] = {}

    async def follow(address: Address) -> None:
        async for updates in page.go(gr.EventData(None, {}), address, Address(), gr.Request(session_hash="person")):
            screen.update(updates)
        if address == SECOND:
            is_second_done.set()

    async def follow_both() -> None:
        await asyncio.gather(follow(FIRST), follow(SECOND))

    now(follow_both())
    assert screen[page.visit.requested] == replace(SECOND, size=screen[page.visit.requested].size)
    assert screen[page.context.address].image == "scene_gear"
