"""Room What if without a browser: the chosen change is what runs, and the figures name it."""

from __future__ import annotations

import re
from dataclasses import replace
from importlib import import_module
from urllib.parse import parse_qsl

import gradio as gr
import numpy as np
import pytest
import torch

import vitexplorer as vx
from tests.helpers.attention_payload import fetched, unpack_attention
from tests.helpers.built_parts import built
from tests.helpers.least_settings import cheaply
from tests.helpers.small_models import capture_small
from tests.helpers.waiting import now
from vitexplorer.core.format import measured
from vitexplorer.core.settings import Settings
from vitexplorer.core.text import UnsupportedError
from vitexplorer.figures import render
from vitexplorer.figures.caption import caption
from vitexplorer.models.examples import examples
from vitexplorer.service.engine import Engine
from vitexplorer.service.first_picture import SCENE
from vitexplorer.ui.kit.language import Translations
from vitexplorer.ui.panel.figure_panel import Question
from vitexplorer.ui.rooms.what_if.changes import STRIKING, changes_data
from vitexplorer.ui.rooms.what_if.room import WhatIfRoom, answer
from vitexplorer.ui.shell.address import Address
from vitexplorer.ui.shell.room_context import RoomContext
from vitexplorer.views import VIEWS
from vitexplorer.views.before_after import followed, put_back
from vitexplorer.views.translation import correlation, moved_right

HERE = Address(image="scene_flower", model="scenes_vit_patch16_192", room="what_if")


@pytest.fixture(scope="module")
def room() -> WhatIfRoom:
    return built(WhatIfRoom(RoomContext(Engine(Settings()), Translations(), address=gr.State())))


def event(**data: object) -> gr.EventData:
    return gr.EventData(None, data)


def entered(room: WhatIfRoom, address: Address = HERE) -> dict:
    return now(room.enter("what_if", address, Address(), None))


# ------------------------------------------------------------------------------------------------ the room


def test_a_result_is_there_before_the_first_click(room):
    updates = entered(room)
    data, plain, changed = (updates[part] for part in (room.picker, room.stage.left, room.stage.right))
    address = updates[room.changed]
    assert address.change == "temperature:temperature=4"
    assert updates[room.filled] == HERE
    assert [item.key for item in data.items if item.on] == ["temperature"]
    assert data.reading
    assert plain.link == changed.link
    assert "CHANGED RUN" in changed.warning
    assert "attention temperature 4" in changed.weights
    assert "attention temperature 4" not in plain.weights
    run = vx.intervene(now(room.context.engine.capture(HERE.picture)), address.change)
    weights, _, _ = unpack_attention(fetched(changed.attention))
    truth = run.call(run.depth - 1).weights().numpy()
    assert np.abs(weights - truth).max() <= truth.max() / 509


def test_nobody_waits_who_looks_elsewhere(room):
    assert now(room.enter("attention", HERE, Address(), None)) == gr.skip()
    assert now(room.enter("what_if", HERE, Address(), HERE)) == gr.skip()


def test_a_link_opens_the_very_change(room):
    linked = replace(HERE, change="top_k:k=4;heads_off:heads=5.0+5.1,how=mean")
    updates = entered(room, linked)
    assert updates[room.changed].change == linked.change == updates[room.picker].text
    assert entered(room, replace(HERE, change="nothing"))[room.changed].change == ""


def test_other_changes_are_made_once(room, monkeypatch):
    updates = now(
        room.choose(
            event(text="positions:how=off;top_k:k=8"), entered(room, replace(HERE, language="zh"))[room.changed], 2
        )
    )
    plain, changed, then = (updates[part] for part in (room.stage.left, room.stage.right, room.changed))
    assert then.change == "positions:how=off,seed=0;top_k:k=8"
    assert (plain.block, changed.block) == (2, 2)
    assert "位置编码关闭" in changed.weights
    monkeypatch.setattr(
        import_module("vitexplorer.interventions"), "intervene", lambda *_: pytest.fail("the network ran again")
    )
    again = now(room.choose(event(text=then.change), then, 2))
    assert again[room.picker].reading == updates[room.picker].reading
    result = now(room.show_block(event(to=3), then))
    assert {result[canvas].block for canvas in (room.stage.left, room.stage.right)} == {result[room.block]} == {3}
    assert now(room.show_block(event(to=99), then)) == gr.skip()


@pytest.mark.parametrize("text", ["heads_off:heads=99.0", "no_such", "top_k:k=x", "top_k", None])
def test_whatever_a_browser_sends_is_checked(room, text):
    updates = now(room.choose(event(text=text), entered(room)[room.changed], 5))
    if text == "top_k":
        assert updates[room.changed].change == "top_k:k=8"
    elif text:
        assert set(updates) == {room.picker}
        assert updates[room.picker].refused
    else:
        assert updates == gr.skip()


def test_another_model_without_such_a_head_begins_anew(room):
    before = replace(HERE, change="heads_off:heads=11.2")
    updates = now(room.enter("what_if", HERE, before, replace(HERE, image="scene_ring")))
    assert updates[room.changed].change == "shuffle_patches:seed=0"
    assert not updates[room.picker].refused


def test_the_panel_shows_the_changed_run_and_its_lines(room):
    address = entered(room)[room.changed]
    data = now(room.panel.enter("what_if", address, None))[room.panel.panel]
    assert data.chosen == "before_after"
    assert not data.refused
    assert 'vx.intervene(capture, "temperature:temperature=4")' in data.python


def test_a_pass_before_the_change_and_one_after_it(room):
    address = entered(room)[room.changed]
    plain, run = (now(room.context.engine.changed(address.picture, change)) for change in ("", address.change))
    expected = vx.compare("network", plain, run, query=(3, 4))
    result = now(room.panel.compute(address, run, "network", {"query": "3,4"}))
    np.testing.assert_array_equal(result.values, expected.values)
    assert [name.en for name in result.names] == ["left: plain run", "right: changed run"]
    data = now(room.panel._show(Question("network", {}), address))
    assert data.reading.startswith("The answer")
    assert not data.refused
    assert 'right = vx.intervene(right, "temperature:temperature=4")' in data.python
    assert "left = vx.intervene" not in data.python
    assert 'vx.compare("network", left, right' in data.python


def test_changed_runs_are_bounded():
    engine = Engine(Settings(capture_cache_megabytes=40))
    for k in (1, 2, 3, 4, 5):
        now(engine.changed(HERE.picture, f"top_k:k={k}"))
    assert engine.memory.nbytes <= 40 << 20
    assert len(engine.caches["changed"]) < 5
    assert now(engine.changed(HERE.picture, "")) is now(engine.capture(HERE.picture))


@pytest.mark.parametrize("key", ["vit", "swin", "dinov3", "encoder"])
def test_the_picker_knows_what_a_model_can_be_changed_in(key):
    captured = capture_small(key)
    data = changes_data(captured, {}, "zh")
    assert {item.key for item in data.items} == set(vx.interventions())
    assert not any(item.on for item in data.items)
    refused = [item.key for item in data.items if item.refused]
    assert refused == ([] if key == "encoder" else ["registers"])  # whose tokens are about as long as each other
    for example in data.examples:
        vx.intervene(captured, example["text"])
    kinds = {(item.key, control.name): control.kind for item in data.items for control in item.controls}
    assert kinds["heads_off", "heads"] == "heads"
    assert kinds["mask_patches", "patches"] == "patches"
    assert "text" not in kinds.values()


# ------------------------------------------------------------------------------------------------ the figures


@pytest.mark.parametrize("key", ["vit", "swin_padded", "dinov3", "siglip"])
@pytest.mark.parametrize("kind", ["rollout", "attention"])
def test_before_and_after(key, kind):
    captured = capture_small(key)
    changed = vx.intervene(captured, "shuffle_patches:seed=1")
    result = vx.compute("before_after", changed, map=kind, attention_block=0)
    back = put_back(result.after, result.grid, changed.change.moved)
    np.testing.assert_allclose(result.values, back - result.before)
    assert sorted(back.ravel()) == sorted(result.after.ravel())
    for one in result.classes:
        shares = [run.logits.double().softmax(-1)[one.index] for run in (captured, changed)]
        assert [one.before, one.after] == pytest.approx([float(share) for share in shares])
    assert len(result.cosines) == captured.depth
    for language in ("en", "zh"):
        figure = render(result, language=language)
        assert changed.provenance.changes[0].in_(language) in " ".join(note.text for note in figure.layout.annotations)


@pytest.mark.parametrize("key", ["vit", "siglip"])
def test_without_positions_a_puzzle_has_no_difference(key):
    captured = capture_small(key)
    plain = vx.intervene(captured, "positions")
    puzzle = vx.intervene(captured, "positions;shuffle_patches")
    grid, moved = captured.grid(0), puzzle.change.moved
    there = followed((1, 2), grid, moved)
    one = vx.compute("attention_map", plain, block=1, query=(1, 2)).values
    other = vx.compute("attention_map", puzzle, block=1, query=there).values
    np.testing.assert_allclose(put_back(other, grid, moved), one, atol=1e-5)


def test_every_figure_of_a_changed_run_says_so():
    changed = vx.intervene(capture_small("vit"), "top_k:k=6")
    for view, record in VIEWS.items():
        if record.refuses(changed) is not None or record.runs == "many":
            continue
        result = cheaply(view, changed)
        assert "top 6 keys" in caption(result).en, view
        words = " ".join(note.text for note in render(result).layout.annotations)
        assert "Changed run" in words, view


def test_a_plain_run_has_no_before_and_after():
    with pytest.raises(UnsupportedError, match="Nothing is changed"):
        vx.compute("before_after", capture_small("vit"))


# ------------------------------------------------------------------------------------------------ translation


def test_shifts_of_features_by_hand():
    row = torch.arange(4.0)[None, :, None]
    assert moved_right(row, 1)[0, :, 0].tolist() == [3, 0, 1, 2]
    assert moved_right(row, 0.5)[0, :, 0].tolist() == [1.5, 0.5, 1.5, 2.5]
    assert correlation(row, 3 * row + 2) == pytest.approx(1)
    assert correlation(row, -row) == pytest.approx(-1)
    assert correlation(row, torch.ones_like(row)) == 0


def test_what_moves_with_the_image():
    """Shifts by a whole patch: exact without positions, not with them; the CNN at each of its strides."""
    result = vx.compute("translation", capture_small("vit"), patches=1)
    assert result.values.shape == (3, 9)
    np.testing.assert_allclose(result.values[:, 0], 1)
    with_positions, without, cnn = result.values[:, -1]
    assert without == pytest.approx(1, abs=1e-5)
    assert with_positions < 0.999
    assert cnn > 0.9
    assert without > result.values[1, 4] + 0.01  # half a patch is no shift of tokens
    assert "RANDOM" in result.curves[2].en or "bundled" in result.curves[2].en


@pytest.mark.parametrize(
    ("model", "change", "message", "chinese"),
    [
        (
            "vit",
            "temperature:temperature=4",
            r"The answer changes: gear \(\d.*depends on what was changed",
            "答案改变：齿轮（",
        ),
        ("vit", "shuffle_patches:seed=0", r"^The answer stays: gear, [\d.]+\s% → [\d.]+\s%\.$", "答案不变：齿轮，"),
        ("vit", "mask_patches", r"less confidence: gear, 9\d.* → [67]\d", "把握变小：齿轮，"),
        ("dino", "temperature:temperature=4", r"names no class.*\(cosine -?0\.\d+\)", "（余弦 "),
    ],
)
def test_the_result_says_what_follows(model, change, message, chinese):
    plain = vx.capture(vx.load_model(f"scenes_{model}_patch16_192"), "assets/examples/scene_gear.webp")
    run = vx.intervene(plain, change)
    assert re.search(message, answer(plain, run, "en"))
    assert chinese in answer(plain, run, "zh")


@pytest.mark.parametrize("change", ["shuffle_patches:seed=0", "mask_patches"])
@pytest.mark.parametrize("texts", ["a pink square; a red gear; a blue mug", "a zebra"])
def test_the_result_of_a_model_that_reads_texts_has_their_cosines(change, texts):
    plain = vx.capture(vx.load_model("scenes_clip"), "assets/examples/scene_blue_mug.webp")
    run = vx.intervene(plain, change)
    given = [text.strip() for text in texts.split(";")] if "mug" in texts else ["an object", "the background"]
    before, after = (vx.compute("text_scores", each, texts=given).values for each in (plain, run))
    sentence = answer(plain, run, "en", texts)
    for values in (before, after):
        assert f"“{given[values.argmax()]}”" in sentence
        assert measured(values.max()) in sentence
    assert sentence.startswith("Another text" if before.argmax() != after.argmax() else "“")
    assert "余弦" in answer(plain, run, "zh", texts) or "改变" in answer(plain, run, "zh", texts)


def test_the_first_preset_breaks_the_answer_of_the_first_picture():
    image = f"assets/examples/{dict(parse_qsl(SCENE))['image']}.webp"
    for model in ("scenes_vit_patch16_192", "scenes_deit_patch16_192", "scenes_swin_patch4_window6_192"):
        plain = vx.capture(vx.load_model(model), image)
        _, first, *_ = changes_data(plain, {}, "en").examples
        run = vx.intervene(plain, first["text"])
        assert run.logits.argmax() != plain.logits.argmax(), model


def test_the_first_change_changes_the_answer_in_every_scene():
    model = vx.load_model(HERE.model)
    scenes = [example for example in examples().values() if example.kind == "scene"]
    assert scenes
    for scene in scenes:
        plain = vx.capture(model, scene.path)
        assert answer(plain, vx.intervene(plain, STRIKING), "en").startswith("The answer changes: "), scene.id
