"""The strip under every room: its stops for models of every kind, and choices that a model lacks."""

from __future__ import annotations

from dataclasses import replace

import pytest

import vitexplorer as vx
from tests.helpers.waiting import now
from vitexplorer.core.format import measured, percent, signed
from vitexplorer.core.text import SettingError, same
from vitexplorer.service.engine import Engine
from vitexplorer.ui.kit.language import Translations
from vitexplorer.ui.shell.address import Address, Chosen
from vitexplorer.ui.shell.room_context import RoomContext
from vitexplorer.ui.thread.thread import Thread, ThreadData, thread_data

pytestmark = pytest.mark.usefixtures("unchecked")  # a context without a page

VIT = Address(image="scene_gear", model="scenes_vit_patch16_192")
SWIN = replace(VIT, model="scenes_swin_patch4_window6_192")
DINO = replace(VIT, model="scenes_dino_patch16_192")


def strip(engine: Engine, address: Address, **sent) -> ThreadData:
    """Answer an event as the page does."""
    thread = Thread()
    thread._context = RoomContext(engine, Translations(), None)
    return now(thread.answer(type("Event", (), {"_data": sent})(), address))


def texts(data: ThreadData) -> dict[str, str]:
    return {stop.label: stop.text for stop in data.stops}


def test_the_stops_say_what_the_views_say(engine: Engine) -> None:
    data = strip(engine, VIT, query="4,5", block=3, head="", target="", whole=True)
    capture = now(engine.capture(VIT.picture))
    shares = [vx.compute("attention_map", capture, block=3, head=head, query="cls").values[4, 5] for head in range(3)]
    norm = vx.compute("token_norms", capture).values[3, 1 + 4 * 12 + 5]
    attribution = vx.compute("logit_attribution", capture)
    adds = attribution.values[attribution.parts.index("block 3 attn")]
    assert texts(data) == {
        "Image": "12 × 12 patches",
        "Patch": "row 4, column 5",
        "Token": f"norm {measured(norm)}",
        "Strongest head": f"block 3, head {shares.index(max(shares))}: {percent(max(shares))}".replace(" %", "\u00a0%"),
        "Attention adds": signed(adds),
        "Answer": "gear 96.7\u00a0%",
    }
    assert not data.asks
    patch = data.stops[1]
    assert patch.crop == pytest.approx([5 / 12, 4 / 12, 1 / 12, 1 / 12])
    assert patch.chosen == {"query": "4,5"}


def test_what_needs_another_pass_comes_later(engine: Engine) -> None:
    first = strip(engine, VIT, query="", block=None, head="", target="", whole=False)
    assert first.asks
    assert [stop.label for stop in first.stops][1] == "Strongest patch"
    assert [stop.view for stop in first.stops][-2:] == ["logit_attribution", ""]  # its place is kept
    assert texts(first)["Attention adds"] == "…"
    whole = strip(engine, VIT, **first.chosen | {"block": None}, whole=True)
    assert [stop.view for stop in whole.stops] == [stop.view for stop in first.stops]
    assert texts(whole)["Attention adds"] != "…"


def test_a_chosen_class_and_head_are_followed(engine: Engine) -> None:
    data = texts(strip(engine, VIT, query="", block=None, head="2", target="3", whole=True))
    capture = now(engine.capture(VIT.picture))
    name, share = capture.model.class_names[3], percent(capture.logits.softmax(-1)[3].item()).replace(" %", "\u00a0%")
    assert data["Chosen class"] == f"{name} {share}"
    assert data["Chosen head"].startswith("block 5, head 2: ")


def test_a_model_without_a_classifier_has_its_companion_s_answer(engine: Engine) -> None:
    data = strip(engine, DINO, query="", block=None, head="", target="", whole=True)
    assert data.stops[-1].label == "ViT (drawn scenes) says"
    assert data.stops[-1].text == "gear 96.7\u00a0%"
    assert "logit_attribution" not in [stop.view for stop in data.stops]


def test_a_model_whose_logit_is_no_sum_leaves_that_stop_out(engine: Engine) -> None:
    data = strip(engine, SWIN, query="1,2", block=0, head="", target="", whole=True)
    assert [stop.room for stop in data.stops] == ["patches", "patches", "tokens", "attention", "outputs"]
    rows = now(engine.capture(SWIN.picture)).grid(0).rows
    assert data.stops[0].text == f"{rows} × {rows} patches"


@pytest.mark.parametrize(
    "sent", [{"query": "900,900"}, {"query": "<b>"}, {"head": "77"}, {"target": "99999"}, {"target": "no such class"}]
)
def test_a_choice_that_the_model_lacks_counts_as_none(engine: Engine, sent: dict) -> None:
    plain = strip(engine, VIT, query="", block=None, head="", target="", whole=True)
    assert texts(strip(engine, VIT, **{"block": 99, **sent}, whole=True)) == texts(plain)


def test_the_last_block_counts_as_not_chosen(engine: Engine) -> None:
    capture = now(engine.capture(VIT.picture))
    assert thread_data(capture, VIT, Chosen(block="5")).chosen["block"] == ""
    assert thread_data(capture, VIT, Chosen(block="0")).chosen["block"] == "0"
    chinese = thread_data(capture, replace(VIT, language="zh"), Chosen())
    assert [stop.text for stop in chinese.stops][-1] == "齿轮 96.7\u00a0%"


def test_random_weights_are_named(engine: Engine) -> None:
    random = replace(VIT, weights="random")
    assert thread_data(now(engine.capture(random.picture)), random, Chosen()).stops[-1].label == "Random weights say"


def test_a_model_without_such_a_path_has_no_strip(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise SettingError(same("no patches"))

    monkeypatch.setattr("vitexplorer.quantities.token_path.token_path", refused)
    capture = now(engine.capture(replace(VIT, image="scene_ring").picture))
    assert thread_data(capture, VIT, Chosen()) == ThreadData()
