"""The page's own events: what a person chose last stays, whatever arrives late."""

from __future__ import annotations

import asyncio
import threading
import time
from dataclasses import replace
from typing import Any

import gradio as gr
import pytest

from tests.helpers.built_parts import whole_page
from tests.helpers.page_pictures import SMALL
from tests.helpers.waiting import now
from vitexplorer.service.engine import Engine
from vitexplorer.service.jobs import Report, StoppedError, Waiting, waiting
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


def test_another_choice_ends_the_pass_for_the_strip_which_asks_again_where_the_choice_failed(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, person = whole_page(engine), gr.Request(session_hash="person")
    now(engine.explore(FIRST.picture))
    has_begun = threading.Event()

    def long(report: Report) -> None:
        has_begun.set()
        for _ in range(1000):
            time.sleep(0.01)
            report(0, 0)

    monkeypatch.setattr(engine, "compute", lambda *_: engine.short.run("attribution", long))

    async def ask() -> None:
        waiting.set(Waiting("person"))
        await page.thread.answer(gr.EventData(None, {"whole": True}), FIRST)

    async def choose_beside() -> list[Updates]:
        asked = asyncio.create_task(ask())
        await asyncio.to_thread(has_begun.wait, 60)
        updates = [update async for update in page.explore(replace(FIRST, image="gone"), FIRST, person)]
        with pytest.raises(StoppedError):
            await asked
        return updates

    *_, refused, strip = now(choose_beside())
    assert refused[page.visit.status].kind == "error"
    assert strip[page.thread].asks
    assert strip[page.thread].stops[-2].text == "…"
