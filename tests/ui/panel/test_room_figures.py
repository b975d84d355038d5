"""Slow views: progress is reported, a stop ends them within one step, and nothing of them stays."""

from __future__ import annotations

import json
import threading
import time
from dataclasses import replace
from itertools import groupby
from unittest.mock import AsyncMock

import gradio as gr
import numpy as np
import pytest

import vitexplorer as vx
from tests.helpers.app import Steps
from tests.helpers.built_parts import built
from tests.helpers.small_models import capture_small
from tests.helpers.waiting import now, until
from vitexplorer.controls import TargetControl
from vitexplorer.core.settings import Settings
from vitexplorer.core.text import Progress, same
from vitexplorer.core.types import CurvesResult, Result
from vitexplorer.models.examples import examples
from vitexplorer.service.engine import Engine
from vitexplorer.service.jobs import StoppedError
from vitexplorer.ui.kit.language import Translations
from vitexplorer.ui.panel.figure_panel import ONLY, PanelData
from vitexplorer.ui.panel.room_figures import RoomFigures
from vitexplorer.ui.rooms.attention.room import AttentionRoom
from vitexplorer.ui.shell.address import Address
from vitexplorer.ui.shell.room_context import RoomContext
from vitexplorer.views import VIEWS
from vitexplorer.views.record import GROUPS, View

STEPS = 1000
PATIENCE = 60.0
"""Seconds until a test gives up"""


class Slow:
    """Slow view that counts its steps and does nothing else."""

    def __init__(self, steps: int = STEPS, seconds: float = 0.02):
        self.done, self.steps, self.seconds = 0, steps, seconds
        self.ended = threading.Event()

    def compute(self, capture, target: int, progress: Progress | None = None) -> Result:
        try:
            for step in range(1, self.steps + 1):
                self.done = step
                time.sleep(self.seconds)
                progress(self.done, self.steps)
        finally:
            self.ended.set()
        return CurvesResult(
            view="slow",
            title=same("Slow"),
            values=np.arange(3.0),
            axes=("points",),
            unit=same(""),
            formula="",
            provenance=capture.provenance,
            settings={"target": target},
            x=np.arange(3.0),
            x_name=same("x"),
            curves=(same("y"),),
        )

    def view(self) -> View:
        return View(
            same("Slow"),
            same("?"),
            same("!"),
            "flow",
            self.compute,
            lambda result: same("."),
            (TargetControl(),),
            runs="many",
        )

    def assert_stopped(self) -> None:
        """Check that it ended, at most one step after the stop."""
        before = self.done
        assert self.ended.wait(PATIENCE)
        assert self.done <= before + 1 < self.steps


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Engine:
    made = Engine(Settings())
    monkeypatch.setattr(made, "capture", AsyncMock(return_value=capture_small("vit")))
    return made


@pytest.fixture
def panel(engine: Engine) -> RoomFigures:
    context = RoomContext(engine, Translations(), gr.State(Address()))
    return built(RoomFigures(context, "flow", own=("attention_rollout",)))


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Slow:
    made = Slow()
    monkeypatch.setitem(VIEWS._entries, "slow", made.view())
    return made


PERSON = gr.Request(session_hash="a person")
ADDRESS = Address(image="scene_ring", model="small")
NOTHING = gr.EventData(None, {})


def assert_ended(answers: Steps) -> None:
    """Check that a visitor who left gets no further message."""
    with pytest.raises(StoppedError):
        list(answers)


def asking(view: str, number: int = 1, **settings: str) -> gr.EventData:
    return gr.EventData(None, {"view": view, "settings": settings, "theme": "dark", "asked": number})


def test_a_slow_view_says_how_far_it_is_and_stops(panel: RoomFigures, slow: Slow):
    answers = Steps(panel.work(asking("slow", 7), replace(ADDRESS, language="zh"), PERSON))
    until(lambda: next(answers).work.share is not None)
    data = next(answers)
    assert data.asked == 7
    assert data.chosen == ""  # the earlier figure stays
    assert f"/ {STEPS}" in data.work.text
    assert "约剩" in data.work.text
    assert 0 < data.work.share < 1
    panel.stop(PERSON)
    assert_ended(answers)
    slow.assert_stopped()


@pytest.mark.parametrize("how", ["page closed", "another view"])
def test_nobody_waits_for_a_slow_view(panel: RoomFigures, slow: Slow, how: str):
    answers = Steps(panel.work(asking("slow"), ADDRESS, PERSON))
    until(lambda: (next(answers), slow.done)[1] > 0)
    if how == "page closed":
        answers.close()
    else:
        assert now(panel.answer(asking("random", 2), ADDRESS, PERSON)).chosen == "random"
        assert_ended(answers)
    slow.assert_stopped()


def test_the_page_is_usable_after_a_stop(panel: RoomFigures, slow: Slow):
    answers = Steps(panel.work(asking("slow"), ADDRESS, PERSON))
    next(answers)
    panel.stop(PERSON)
    assert_ended(answers)
    slow.steps, slow.seconds = 3, 0.0
    *_, last = Steps(panel.work(asking("slow", 2), ADDRESS, PERSON))
    assert (last.chosen, last.asked, last.refused) == ("slow", 2, "")
    assert last.figure is not None


def test_a_slow_view_is_computed_once(panel: RoomFigures, slow: Slow):
    slow.steps = 3
    list(Steps(panel.work(asking("slow", target="0"), ADDRESS, PERSON)))
    slow.done = 0
    list(Steps(panel.work(asking("slow", target="1"), ADDRESS, PERSON)))
    assert slow.done == 3  # another class
    slow.done = 0
    *_, again = Steps(panel.work(asking("slow", target="1"), replace(ADDRESS, language="zh"), PERSON))
    assert slow.done == 0
    assert again.figure is not None


def test_every_room_lists_its_slow_views_for_the_browser(panel: RoomFigures):
    data = now(panel.answer(asking("random"), ADDRESS, PERSON))
    assert {view.key for view in data.views if view.slow} == {
        key for key, view in VIEWS.items() if view.room == "flow" and view.runs != "nothing"
    }


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_views_of_a_room_are_listed_by_group(panel: RoomFigures, language: str):
    data = now(panel.answer(asking("random"), replace(ADDRESS, language=language), PERSON))
    titles = [title.in_(language) for title in GROUPS.values()]
    assert [title for title, _ in groupby(view.group for view in data.views)] == titles
    assert [view.key for view in data.views if view.group == titles[-1]][:2] == ["side_by_side", "trust"]
    attention = RoomFigures(panel.context, "attention")
    assert {VIEWS[key].group for key in attention.listed()} == {""}


def test_what_goes_wrong_is_a_sentence(panel: RoomFigures, slow: Slow, monkeypatch, caplog):
    monkeypatch.setattr(slow, "steps", "many")
    *_, last = Steps(panel.work(asking("slow"), ADDRESS, PERSON))
    assert "Something went wrong" in last.refused
    assert "many" not in last.refused
    assert "TypeError" in caplog.text


def test_a_stop_is_never_a_sentence(panel: RoomFigures, engine: Engine, monkeypatch):
    monkeypatch.setattr(engine, "compute", AsyncMock(side_effect=StoppedError))
    with pytest.raises(StoppedError):
        now(panel.answer(asking("random"), ADDRESS, PERSON))


def test_a_head_of_the_whole_network_opens_its_map(engine: Engine):
    room = built(AttentionRoom(RoomContext(engine, Translations(), gr.State(Address()))))
    opened = now(room.open(gr.EventData(None, {"block": 1, "head": 2}), ADDRESS))
    data = opened[room.canvas]
    assert (data.block, data.head, data.query, data.asked) == (1, "2", "cls", 0)
    assert "block=1, head=2" in data.python
    for wrong in ({}, {"block": 3, "head": 0}, {"block": 0, "head": 3}, {"block": None, "head": None}):
        assert now(room.open(gr.EventData(None, wrong), ADDRESS)) == gr.skip()


@pytest.mark.parametrize("sent", [{}, {"view": "random"}, {"view": "cellar", "settings": {}}])
def test_a_question_that_is_none_changes_nothing(panel: RoomFigures, sent: dict):
    event = gr.EventData(None, sent)
    assert not isinstance(now(panel.answer(event, ADDRESS, PERSON)), PanelData)
    assert list(Steps(panel.work(event, ADDRESS, PERSON))) == []


def test_a_panel_that_nothing_reached_begins_with_the_first_view(panel: RoomFigures):
    entered = now(panel.enter(panel.room, ADDRESS, None))[panel.panel]
    assert now(panel.begin(NOTHING, ADDRESS)).chosen == entered.chosen
    sent = json.dumps({"search": "?room=flow&view=random&v.seed=3&v.noise=1", "theme": "dark"})
    assert not now(panel.begin(NOTHING, ADDRESS, sent)).settings  # there is no such setting
    data = now(panel.begin(gr.EventData(None, {"asked": 2}), ADDRESS, sent.replace("&v.noise=1", "")))
    assert (data.chosen, data.settings, data.theme, data.asked) == ("random", {"seed": "3"}, "dark", 2)
    assert [one.key for one in data.views if one.preview] == ["random"]
    for junk in ("", "{}", "[1]", '{"search": 3, "theme": null}'):
        assert now(panel.begin(NOTHING, ADDRESS, junk)).bare  # the room's own
    assert not isinstance(now(panel.begin(NOTHING, Address())), PanelData)


def test_a_link_to_a_view_that_the_model_lacks_shows_that_of_another(engine: Engine, panel: RoomFigures, monkeypatch):
    swin = ONLY["relative_position_bias"]
    models = {"small": "scenes_vit_patch16_192", swin: swin}
    captures = {
        key: vx.capture(vx.load_model(model), examples()["scene_ring"].path, size=96) for key, model in models.items()
    }
    monkeypatch.setattr(engine, "capture", AsyncMock(side_effect=lambda picture: captures[picture.model]))
    positions = built(RoomFigures(panel.context, "positions"))
    search = "?room=positions&view=relative_position_bias&v.block=0"
    data = now(positions.begin(NOTHING, ADDRESS, json.dumps({"search": search, "theme": "light"})))
    assert (data.chosen, data.refused, data.settings) == ("relative_position_bias", "", {"block": "0"})
    assert data.elsewhere.changes["model"] == ONLY[data.chosen]
    assert ONLY[data.chosen] in data.python
    swin_address = replace(ADDRESS, model=swin)
    same_view = now(positions.begin(NOTHING, swin_address, json.dumps({"search": search, "theme": "light"})))
    assert same_view.elsewhere is None
    assert (same_view.figure, same_view.csv, same_view.reading) == (data.figure, data.csv, data.reading)
