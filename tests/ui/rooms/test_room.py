"""Rooms without a picture for a model give the reason in a sentence."""

from __future__ import annotations

import re
from dataclasses import replace

import gradio as gr
import pytest

import vitexplorer as vx
from tests.helpers.built_parts import built
from tests.helpers.page_pictures import SMALL
from tests.helpers.small_families import capture_case
from tests.helpers.waiting import now
from vitexplorer.core.settings import Settings
from vitexplorer.service.engine import Engine, TimedCapture
from vitexplorer.ui.canvas.canvas import CanvasData
from vitexplorer.ui.kit.language import Translations
from vitexplorer.ui.page import ROOMS, Page
from vitexplorer.ui.panel.figure_panel import PanelData
from vitexplorer.ui.panel.room_figures import Question, RoomFigures
from vitexplorer.ui.rooms.attention.room import AttentionRoom
from vitexplorer.ui.rooms.finetune.room import FinetuneRoom
from vitexplorer.ui.rooms.flow.room import FlowRoom
from vitexplorer.ui.rooms.patches.room import PatchesRoom
from vitexplorer.ui.rooms.room import Room
from vitexplorer.ui.rooms.size.room import SizeRoom
from vitexplorer.ui.rooms.size.size_board import SizeData
from vitexplorer.ui.rooms.what_if.room import WhatIfRoom
from vitexplorer.ui.shell.address import Address
from vitexplorer.ui.shell.room_context import RoomContext, Updates
from vitexplorer.ui.shell.room_sign import next_button
from vitexplorer.views import VIEWS


def made(room: type[Room], engine: Engine) -> Room:
    return built(room(RoomContext(engine, Translations(), gr.State(Address()))))


def engine_with(case: str) -> tuple[Engine, Address]:
    """Return an engine that holds the capture of a small model, and the model's address."""
    engine, address = Engine(Settings()), Address(model=case, image="scene_flower", weights="random")
    engine._captures.put(address.picture, TimedCapture(capture_case(case), 0.1))
    return engine, address


def test_a_query_that_does_not_look_in_a_block_is_not_in_the_lines_of_python() -> None:
    engine, address = engine_with("cait")
    room = made(AttentionRoom, engine)
    filled = room.fill(now(engine.explore(address.picture)), replace(address, query="1,2"))
    data = filled[room.canvas]
    assert (data.block, data.silent, data.query) == (3, ["patches"], "1,2")  # the canvas says that it does not look
    assert "block=3, head='mean', query='cls'" in data.python

    def first_block(**sent: object) -> CanvasData:
        event = {"block": 3, "head": "mean", "query": "1,2", "to": 0, "asked": 5, **sent}
        return now(room.show_block(gr.EventData(None, event), address))[room.canvas]

    other = first_block()
    assert (other.silent, other.asked) == (["cls"], 5)
    assert "block=0, head='mean', query=(1, 2)" in other.python
    assert "block=0, head=1, query='mean'" in first_block(head="1", query="cls").python


@pytest.mark.parametrize(
    ("room", "view", "filled"), [(PatchesRoom, "patch_grid", "board"), (FlowRoom, "attention_rollout", "canvas")]
)
def test_a_room_says_why_it_has_no_picture_of_a_model(room: type[Room], view: str, filled: str) -> None:
    engine, address = engine_with("pvt_v2")
    here = made(room, engine)

    def entered(address: Address) -> Updates:
        answer = here.fill(now(engine.explore(address.picture)), address)
        if room is FlowRoom:
            answer |= now(here.enter("flow", address, None))
            assert answer.pop(here.filled) == address
        return answer

    def of_panel(address: Address) -> PanelData:
        return now(here.panel.enter(here.key, address, None))[here.panel.panel]

    for language, message in (("en", "only the attention of single blocks"), ("zh", "只能显示单个块的注意力")):
        here_now = replace(address, language=language)
        assert entered(here_now) == {}  # whatever is there keeps what it has
        data = of_panel(here_now)
        assert (data.chosen, data.bare, data.question) == (view, False, VIEWS[view].question.in_(language))
        assert message in data.refused
        assert data.image
    now(engine.explore(SMALL))
    address = Address(model=SMALL.model, image=SMALL.image, weights="random")
    assert set(entered(address)) == {getattr(here, filled)}
    assert (of_panel(address).chosen, of_panel(address).bare) == (view, True)  # the room shows it


@pytest.mark.parametrize("room", ["attention", "flow", "tokens", "outputs", "positions", "size"])
def test_every_view_of_a_room_is_refused_in_a_sentence(room: str) -> None:
    engine, address = engine_with("pvt_v2")
    panel = RoomFigures(RoomContext(engine, Translations(), gr.State()), room)
    for view in panel.views():
        data = now(panel._show(Question(view), address))
        assert bool(data.refused) != VIEWS[view].any_family, view
        assert not data.refused or "only the attention of single blocks" in data.refused


def test_parameters_are_counted_for_every_family() -> None:
    engine, address = engine_with("pvt_v2")
    capture = now(engine.capture(address.picture))
    data = now(made(SizeRoom, engine).enter("size", address, None))
    board = next(value for value in data.values() if isinstance(value, SizeData))
    parts = board.tables[0]
    assert [row.name for row in parts.rows][:3] == ["patch embedding", "stages.0", "stages.1"]
    assert parts.total == board.total.counted == sum(one.numel() for one in capture.model.module.parameters())
    assert board.total.exact is board.total.rough is board.total.macs is None
    assert board.notes[0].startswith("No closed formula")
    assert 'vx.compute("parameters"' in board.python


def test_changes_of_the_pixels_are_possible_where_only_attention_is_stated() -> None:
    engine, address = engine_with("pvt_v2")
    room = made(WhatIfRoom, engine)
    entered = now(room.enter("what_if", address, Address(), None))
    assert not entered[room.picker].refused
    assert entered[room.stage.left].attention != entered[room.stage.right].attention
    refused = {item.key for item in entered[room.picker].items if item.refused}
    assert refused == {"positions", "temperature", "top_k", "heads_off", "registers"}


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.key)
def test_a_room_has_the_name_of_its_folder_and_says_what_it_shows(room: type[Room]) -> None:
    assert room.__module__ == f"vitexplorer.ui.rooms.{room.key}.room"
    assert room.title.en
    assert room.invitation.en
    assert re.fullmatch(r"[MAa-zHVLhvlczZ\d. -]+", room.icon)
    assert room.__doc__.splitlines()[0].endswith(".")


def test_every_view_stands_in_a_room() -> None:
    assert {view.room for view in vx.views().values()} <= {room.key for room in ROOMS}


def test_where_nothing_may_be_trained_no_room_leads_to_fine_tuning(engine: Engine) -> None:
    page = Page(Settings(trainings=0), RoomContext(engine, Translations(), gr.State()))
    assert FinetuneRoom not in page.context.rooms
    assert next_button(page.context.rooms, "compare", "en")["next_room"] == "words"
    assert next_button(page.context.rooms, "what_if", "en") == {"next": "", "next_room": ""}
