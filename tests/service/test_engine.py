"""Engine: one run for each picture, shared by all visitors."""

from __future__ import annotations

import asyncio
from contextvars import copy_context
from dataclasses import replace

import pytest

import vitexplorer as vx
from tests.helpers.page_pictures import ROLLOUT, SMALL
from tests.helpers.waiting import at_once, now
from vitexplorer.core.settings import Settings
from vitexplorer.core.text import ExplainedError
from vitexplorer.models.catalog import catalog
from vitexplorer.service import jobs
from vitexplorer.service.engine import Engine, Picture, weights_of
from vitexplorer.service.jobs import Waiting
from vitexplorer.ui.canvas.block_data import block_data
from vitexplorer.ui.rooms.flow.room import rollout_data

# ---------------------------------------------------------------------------------------------- address and language


def test_sizes_are_offered_with_their_cost_once(engine: Engine) -> None:
    costs = now(engine.size_choices(SMALL.model, SMALL.weights))
    assert [cost.size[0] for cost in costs] == [224, 336, 448, 672]
    assert now(engine.size_choices(SMALL.model, SMALL.weights)) is costs


def test_each_size_has_a_run_of_its_own(engine: Engine) -> None:
    large = now(engine.capture(replace(SMALL, size="32")))
    assert large.provenance.input_size == (32, 32)
    assert now(engine.capture(SMALL)).provenance.input_size == (224, 224)
    assert large.model.module is now(engine.capture(SMALL)).model.module
    assert weights_of(large.model) == 0


# ---------------------------------------------------------------------------------------------- the engine


def test_an_image_and_a_model_run_once(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    first = now(engine.explore(SMALL))
    monkeypatch.setattr(Engine, "_run", lambda *_: pytest.fail("the network ran again"))
    assert now(engine.explore(SMALL)) is first
    block_data(first.capture, 3, "en")
    rollout_data(first.capture, {**ROLLOUT, "head_fusion": "max", "discard_ratio": 0.3, "start_block": 0}, "zh")
    for view in ("attention_map", "head_gallery", "attention_rollout"):
        vx.compute(view, first.capture)


def test_each_fit_has_a_run_of_its_own(engine: Engine) -> None:
    runs = [now(engine.explore(replace(SMALL, fit=fit))).capture for fit in ("crop", "squash", "crop")]
    assert [run.input.fit for run in runs] == ["crop", "squash", "crop"]
    assert runs[0] is runs[2]


def test_many_visitors_share_one_run() -> None:
    engine, runs = Engine(Settings()), []
    real = engine._run
    engine._run = lambda *arguments: (runs.append(1), real(*arguments))[1]
    at_once(*[lambda: now(engine.explore(SMALL))] * 6)
    assert len(runs) == 1


async def test_visitors_with_pictures_of_their_own_load_one_model(monkeypatch: pytest.MonkeyPatch) -> None:
    engine, loaded = Engine(Settings()), []
    load = engine._of_timm
    monkeypatch.setattr(engine, "_of_timm", lambda picture: (loaded.append(picture.model), load(picture))[1])

    waiting = []
    for image in ("scene_flower", "scene_ring", "scene_gear", "scene_fish"):
        context = copy_context()
        context.run(jobs.waiting.set, Waiting(f"visitor of {image}"))
        waiting.append(asyncio.create_task(engine.explore(replace(SMALL, image=image)), context=context))
    captures = [result.capture for result in await asyncio.gather(*waiting)]
    assert loaded == [SMALL.model]
    assert len({capture.provenance.image_hash for capture in captures}) == 4
    assert all(capture.model is captures[0].model for capture in captures)


def test_what_an_installation_forbids_is_refused() -> None:
    closed = Engine(Settings(any_model=False, downloads=False))
    with pytest.raises(ExplainedError, match="listed models only"):
        now(closed.explore(Picture("scene_flower", "vit_tiny_patch16_224_of_mine")))
    not_bundled = next(entry for entry in catalog() if not entry.bundled)
    with pytest.raises(ExplainedError, match="does not fetch weights"):
        now(closed.explore(Picture("scene_flower", not_bundled.name)))
