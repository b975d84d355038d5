"""Views run and read what their record states: passes of the network, and parts of a capture."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from unittest.mock import AsyncMock

import gradio as gr
import numpy as np
import pytest
import torch
from torch import nn

import vitexplorer as vx
from tests.helpers.least_settings import cheaply, text_settings
from tests.helpers.small_captioner import small_captioner
from tests.helpers.small_models import load_small, picture
from tests.helpers.waiting import now
from vitexplorer.capturing.capture import Capture
from vitexplorer.core.capture_protocol import parts_of
from vitexplorer.core.settings import Settings
from vitexplorer.core.text import UnsupportedError
from vitexplorer.models.mae import MaeDecoder
from vitexplorer.models.seeding import seeded
from vitexplorer.service.engine import Engine
from vitexplorer.service.scheduler import Scheduler
from vitexplorer.ui.kit.language import Translations
from vitexplorer.ui.panel.room_figures import Question, RoomFigures
from vitexplorer.ui.rooms.what_if.room import ChangedFigures
from vitexplorer.ui.shell.address import Address
from vitexplorer.ui.shell.room_context import RoomContext
from vitexplorer.views import VIEWS, refusal

COSTLIEST = {"text_map": {"method": "legrad"}, "text_segmentation": {"method": "bimodal"}}
"""Settings with which a view runs what it says, where the usual ones run less"""
ADDRESS = Address(image="scene_ring", model="small")


def fresh(key: str) -> Capture:
    """Capture with a module that no other test uses and no cached gradient; of a ViT with decoder and captioner."""
    model = copy.deepcopy(load_small(key))
    if key == "vit":
        patches = model.module.patch_embed
        with seeded(0):
            decoder = MaeDecoder(model.module.embed_dim, 32, 1, patches.grid_size, patches.patch_size[0]).eval()
        model = replace(model, decoder=decoder, captioner=small_captioner(model.module.embed_dim))
    return vx.capture(model, picture(*model.preprocessing.input_size), fit="squash")


def capture_for(view: str) -> Capture:
    """Return a run that the view supports: a plain one, a changed one, one with windows."""
    for key, change in (("vit", ""), ("vit", "temperature"), ("swin", "")):
        captured = fresh(key)
        captured = vx.intervene(captured, change) if change else captured
        if refusal(view, captured) is None:
            return captured
    raise AssertionError(f"no small model for {view}")


@contextmanager
def counting(captured: Capture) -> Iterator[dict[str, int]]:
    """Count the images through each block, by its name; blocks without images are left out."""
    seen = {site.name: 0 for site in captured.sites}
    blocks = {captured.model.module.get_submodule(name): name for name in seen}

    def count(block: nn.Module, inputs: tuple[torch.Tensor, ...]) -> None:
        if inputs[0].device.type != "meta":
            seen[blocks[block]] += len(inputs[0])

    hooks = [block.register_forward_pre_hook(count) for block in blocks]
    yield seen
    for hook in hooks:
        hook.remove()


def test_runs_are_counted_at_all():
    captured = fresh("swin")
    with counting(captured) as seen:
        captured.run(captured.input.tensor.expand(2, -1, -1, -1))
    assert set(seen.values()) == {2}


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_runs_what_it_says(view):
    captured, record = capture_for(view), VIEWS[view]
    with counting(captured) as seen:
        cheaply(view, captured, **COSTLIEST.get(view, {}))
    if record.runs == "many":
        assert min(seen.values()) > 1
    else:
        assert set(seen.values()) == {{"nothing": 0, "once": 1}[record.runs]}
    assert ("progress" in inspect.signature(record.compute).parameters) == (record.runs == "many")


@pytest.mark.parametrize("view", [key for key, view in VIEWS.items() if view.runs == "nothing"])
@pytest.mark.parametrize("key", ["deit_distilled", "swinv2"])
def test_the_network_does_not_run_again(view, key):
    captured = fresh(key)
    if refusal(view, captured) is None:
        with counting(captured) as seen:
            vx.compute(view, captured, **text_settings(view, captured))
        assert set(seen.values()) == {0}


@pytest.mark.parametrize("view", [key for key in VIEWS if key != "before_after"])  # changed runs keep all parts
def test_a_view_reads_what_it_says(view):
    captured, record = capture_for(view), VIEWS[view]
    settings = COSTLIEST.get(view, {}) | text_settings(view, captured)
    slim = vx.capture(captured.model, picture(*captured.input.pixels.shape[:2]), fit="squash", keep=record.reads)
    assert slim.parts == parts_of(record.reads)
    np.testing.assert_equal(cheaply(view, slim, **settings).values, cheaply(view, captured, **settings).values)
    for part in record.reads:
        with pytest.raises(UnsupportedError, match=r"keeps no .* Make another with keep="):
            vx.compute(view, replace(slim, parts=slim.parts - {part}))


# ------------------------------------------------------------------------------------------------ in the page


class CountedScheduler(Scheduler):
    """Engine's scheduler that counts how often a turn was taken."""

    taken = 0

    async def run(self, key, work):
        self.taken += 1
        return await super().run(key, work)


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Engine:
    made, captured = Engine(Settings()), fresh("vit")
    made.short = CountedScheduler("counted")
    monkeypatch.setattr(made, "capture", AsyncMock(return_value=captured))
    return made


def panel_of(engine: Engine, room: str) -> RoomFigures:
    context = RoomContext(engine, Translations(), gr.State(Address()))
    return (ChangedFigures if room == "what_if" else RoomFigures)(context, room)


@pytest.mark.parametrize("view", ["mae_reconstruction", "pooling", "random", "grad_cam"])
def test_the_page_takes_its_turn_and_remembers_what_runs_the_model(engine, view):
    passes = {"nothing": 0, "once": 1}[VIEWS[view].runs]
    room = panel_of(engine, VIEWS[view].room)
    with counting(now(engine.capture(ADDRESS.picture))) as seen:
        answers = [now(room._show(Question(view), ADDRESS)) for _ in range(2)]
    assert engine.short.taken == passes
    assert set(seen.values()) == {passes}
    assert answers[0].refused == answers[1].refused == ""


def test_a_view_of_a_changed_run_is_remembered_with_its_change(engine):
    room, given = panel_of(engine, "what_if"), {"patches": "1"}
    hot = replace(ADDRESS, change="temperature")
    captures = {address: now(room.capture(address)) for address in (ADDRESS, hot)}
    with counting(now(engine.capture(ADDRESS.picture))) as seen:
        results = [now(room.compute(at, captures[at], "translation", given)) for at in (ADDRESS, hot)]
        ran = dict(seen)
        again = [now(room.compute(at, captures[at], "translation", given)) for at in (ADDRESS, hot)]
    assert seen == ran
    assert min(ran.values()) > 2
    assert [one is other for one, other in zip(results, again, strict=True)] == [True, True]
    assert results[0].provenance != results[1].provenance
