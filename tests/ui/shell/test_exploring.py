"""Capturing a picture for the page: errors, impossible sizes and hints are sentences."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from tests.helpers.app import Steps
from tests.helpers.page_pictures import SMALL
from tests.helpers.waiting import now
from vitexplorer.models.catalog import find
from vitexplorer.service.engine import Engine, Picture
from vitexplorer.service.jobs import Waiting, following
from vitexplorer.ui.shell.address import Address
from vitexplorer.ui.shell.exploring import companion, exploring, ready
from vitexplorer.ui.shell.status import StatusData


def test_a_failed_exploration_ends_in_a_sentence(engine: Engine) -> None:
    wrong = Address.read({"model": "vit_tinny_patch16_224", "weights": "random"})
    *_, last = Steps(exploring(engine, "a person", wrong, Address.read({})))
    assert isinstance(last, StatusData)
    assert last.kind == "error"
    assert "Did you mean" in last.text
    assert "the last good one" in last.text
    nothing_on_the_screen = Address()
    *_, last = Steps(exploring(engine, "a person", replace(wrong, language="zh"), nothing_on_the_screen))
    assert "您是指" in last.text
    assert "上一次" not in last.text


@pytest.mark.parametrize("size", ["100", "1", "100000", "0", "3x900000000"])
def test_a_link_with_an_impossible_size_shows_the_models_own_and_says_so(engine: Engine, size: str) -> None:
    odd = Address.read({"model": SMALL.model, "image": SMALL.image, "weights": "random", "size": size})
    cached = now(engine.explore(SMALL))
    *_, instead, result = Steps(exploring(engine, "a person", odd, Address()))
    assert instead.address == replace(odd, size="")
    assert result is cached
    assert "Nearest: " in ready(result, instead.address, instead.reason).hint
    *_, last = Steps(exploring(engine, "a person", odd, instead.address))  # what is on the screen stays
    assert last.kind == "error"


def test_a_cached_capture_appears_while_somebody_else_has_the_turn(engine: Engine) -> None:
    result, address = now(engine.explore(SMALL)), Address(model=SMALL.model, image=SMALL.image, weights="random")
    ended = threading.Event()
    busy = Steps(following(Waiting("another"), engine.short.run("busy", lambda report: ended.wait(5))))
    next(busy)
    assert list(Steps(exploring(engine, "a person", address, Address()))) == [result]
    ended.set()
    list(busy)


def test_a_photograph_before_a_model_of_drawn_scenes_is_met_with_a_hint(engine: Engine) -> None:
    address = Address.read({"model": "scenes_vit_patch16_192", "image": "chelsea"})
    info = ready(now(engine.explore(address.picture)), address)
    assert "knows photographs" in info.hint
    assert find(info.hint_model) is not None
    scene = replace(address, image="scene_fish")
    info = ready(now(engine.explore(scene.picture)), scene)
    assert (info.hint, info.answer) == ("", "fish 92\u00a0%")


@pytest.mark.parametrize(("image", "model"), [("scene_gear", "scenes_vit"), ("creature_forktail", "creatures_vit")])
def test_a_companion_answers_for_a_model_without_a_classifier(engine: Engine, image: str, model: str) -> None:
    address = Address.read({"model": "scenes_dino_patch16_192", "image": image, "size": "96", "fit": "native"})
    exploration = now(engine.explore(replace(address, fit="crop").picture))
    beside = companion(address, exploration.capture)
    assert beside == Picture(image, f"{model}_patch16_192")
    answer = now(engine.capture(beside))
    best = answer.model.class_texts[int(answer.logits.argmax())]
    without, line = ready(exploration, address), ready(exploration, address, beside=answer)
    assert (without.answer, without.asks) == ("maps only", True)
    assert f"ViT says: {best.en} " in line.answer
    assert not line.asks
    assert not ready(exploration, address, "another size").asks  # whose hint would be lost
    assert companion(address, answer) is None
    photograph = now(engine.explore(Picture("chelsea", "scenes_dino_patch16_192")))
    assert companion(address, photograph.capture) is None
    assert not ready(photograph, address).asks
    random = now(engine.capture(Picture(image, "scenes_dino_patch16_192", "random")))
    assert companion(address, random) is None


def test_a_model_without_a_classifier_shows_maps_only(engine: Engine) -> None:
    address = Address.read({"model": "scenes_dino_patch16_192"})
    info = ready(now(engine.explore(address.picture)), address)
    assert (info.answer, info.text.split(" · ")[-1]) == ("maps only", "no classifier")
    info = ready(now(engine.explore(address.picture)), replace(address, language="zh"))
    assert (info.answer, info.text.split(" · ")[-1]) == ("只给出图", "无分类头")


def test_an_unforeseen_error_is_logged_and_hidden(engine: Engine, monkeypatch, caplog) -> None:
    monkeypatch.setattr(engine, "explore", lambda *_: 1 / len(""))
    *_, last = Steps(exploring(engine, "a person", Address.read({}), Address()))
    assert last.kind == "error"
    assert "division" not in last.text
    assert "division" in caplog.text
