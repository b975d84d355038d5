"""Visit: each choice changes exactly the fields that it names."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import gradio as gr
import pytest

from tests.helpers.built_parts import whole_page
from tests.helpers.page_pictures import SMALL
from tests.helpers.waiting import now
from vitexplorer.core.settings import Settings
from vitexplorer.service.engine import Engine
from vitexplorer.ui.kit.language import Translations
from vitexplorer.ui.page import Page
from vitexplorer.ui.shell.address import Address
from vitexplorer.ui.shell.room_context import RoomContext, Updates
from vitexplorer.ui.shell.visit import Visit


@pytest.fixture(scope="module")
def visit(engine: Engine) -> Visit:
    """Return the frame of a whole page."""
    return whole_page(engine).visit


@pytest.mark.parametrize(
    ("sent", "changes"),
    [
        ({"image": "scene_ring"}, {"image": "scene_ring", "query": ""}),
        ({"model": "vit_tiny_patch16_224"}, {"model": "vit_tiny_patch16_224", "block": "", "head": "", "query": ""}),
        ({"weights": "random"}, {"weights": "random"}),
        ({"fit": "pad"}, {"fit": "pad", "query": ""}),
    ],
)
def test_a_choice_changes_what_it_names_and_what_then_begins_anew(visit: Visit, sent, changes) -> None:
    before = Address(image="scene_fish", model=SMALL.model, block="3", head="1", query="2,2")
    chosen = visit.choose(gr.EventData(None, sent), before)
    assert chosen[visit.requested] == replace(before, **changes)
    assert chosen[visit.model].name == chosen[visit.requested].model


@pytest.mark.parametrize(
    "sent", [{}, {"room": 3}, {"image": "../secret"}, {"model": "a b"}, {"cellar": "x"}, {"fit": "x", "image": "y"}]
)
def test_a_choice_that_is_none_changes_nothing(visit: Visit, sent) -> None:
    assert visit.choose(gr.EventData(None, sent), Address(image="scene_fish")) == gr.skip()


@pytest.mark.parametrize(("size", "is_own"), [("", False), ("224", True), ("224x224", True), ("192", False)])
def test_the_models_own_size_is_no_other_picture(engine: Engine, size: str, is_own: bool) -> None:
    assert not engine.is_own_size(replace(SMALL, model="never loaded", size=size))
    now(engine.model(SMALL.model, SMALL.weights))
    assert engine.is_own_size(replace(SMALL, size=size)) == is_own


@pytest.mark.parametrize("is_cached", [True, False])
def test_what_is_in_memory_comes_with_the_choice(engine: Engine, monkeypatch, is_cached: bool) -> None:
    page = Page(Settings(), RoomContext(engine, Translations(), gr.State()))
    page.visit = SimpleNamespace(requested="requested")

    async def explore(*_: Any) -> AsyncGenerator[Updates, None]:
        for rooms_state in ("running", "filled"):
            yield {"rooms": rooms_state}

    async def choose() -> list[Updates]:
        address = Address(model=SMALL.model, weights=SMALL.weights, size="224")
        chosen = page._chosen(lambda: {"requested": address}, Address(), gr.Request())
        return [updates async for updates in chosen]

    monkeypatch.setattr(page, "explore", explore)
    monkeypatch.setattr(engine, "cached_capture", lambda _: is_cached or None)
    now(engine.model(SMALL.model, SMALL.weights))
    result = now(choose())
    assert result[0]["requested"].size == ""
    assert [*map(sorted, result)] == (
        [["requested", "rooms"], ["rooms"]] if is_cached else [["requested"], ["rooms"], ["rooms"]]
    )


def test_a_link_to_a_room_that_is_not_here_opens_the_first(visit: Visit) -> None:
    for query, room in (("room=cellar", "attention"), ("room=flow", "flow"), ("room=survey", "folder")):
        went = visit.go(gr.EventData(None, {"query": query}), Address())
        assert (went[visit.requested].room, went[visit.rail].room) == (room, room)
