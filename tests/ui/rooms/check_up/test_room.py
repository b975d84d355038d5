"""Room Check-up without a browser: ways to begin, progress, verdicts, and the sentence for every refusal."""

from __future__ import annotations

import shutil
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import gradio as gr
import numpy as np
import pytest
from PIL import Image

from tests.helpers.app import Steps
from tests.helpers.built_parts import built
from vitexplorer.core.settings import Settings
from vitexplorer.core.text import same
from vitexplorer.diagnosis import PARTS, Diagnosis, Finding
from vitexplorer.diagnosis.examples import EXAMPLES, Case
from vitexplorer.models.loading import load_model
from vitexplorer.service.engine import Engine
from vitexplorer.service.jobs import Step
from vitexplorer.ui.kit.language import Translations
from vitexplorer.ui.rooms.check_up.check_up import CheckUpData, begin_data, done_data, working_data
from vitexplorer.ui.rooms.check_up.room import CheckUpRoom
from vitexplorer.ui.shell.address import Address
from vitexplorer.ui.shell.room_context import RoomContext

HERE = Address(image="scene_gear", model="scenes_vit_patch16_192", language="en")


@pytest.fixture(scope="module")
def room() -> CheckUpRoom:
    return built(CheckUpRoom(RoomContext(Engine(Settings()), Translations(), address=gr.State())))


def event(**data: object) -> gr.EventData:
    return gr.EventData(None, data)


def person() -> gr.Request:
    return gr.Request(session_hash="person")


def checked(room: CheckUpRoom, address: Address = HERE, **asked: object) -> list[CheckUpData]:
    return [updates[room.view] for updates in Steps(room.check(event(**asked), address, "a" * 32, person()))]


def test_pictures_of_examples_are_drawn_once(monkeypatch: pytest.MonkeyPatch) -> None:
    first = begin_data("a model", False, "en", {})
    monkeypatch.setattr("vitexplorer.diagnosis.examples.draw_scene", None)
    again = begin_data("another model", False, "zh", {})
    assert [example.picture for example in again.examples] == [example.picture for example in first.examples]
    assert all(example.picture.path.is_file() for example in again.examples)


def test_weights_alone_are_checked_at_once(room: CheckUpRoom) -> None:
    *_, verdict = checked(room, what="weights")
    assert (verdict.state, verdict.verdict, verdict.findings) == ("done", "healthy", [])
    assert verdict.reading.startswith("Healthy")
    assert 'vx.load_model("scenes_vit_patch16_192")' in verdict.python
    assert {entry["title"] for entry in verdict.undecided} >= {"Colour channels swapped", "Labels permuted"}
    *_, random = checked(room, replace(HERE, weights="random"), what="weights")
    assert random.verdict == "found"
    assert random.findings[0].cause == "weights_not_loaded"
    assert random.findings[0].figures == {}


def test_a_folder_gets_its_verdict(room: CheckUpRoom, tmp_path: Path) -> None:
    for number, name in enumerate(("a.png", "b.png", "c.png")):
        Image.fromarray(np.full((64, 64, 3), 40 * (number % 2), np.uint8)).save(tmp_path / name)
    *working, verdict = checked(room, text=f" {tmp_path} ")
    assert verdict.verdict == "found"
    (finding,) = verdict.findings
    assert finding.cause == "duplicates"
    assert finding.figures.keys() == {"light", "dark"}
    assert finding.figures["light"].url != finding.figures["dark"].url
    assert all(value.state == "working" for value in working)
    assert repr(str(tmp_path)) in verdict.python


def test_a_zip_is_unpacked_first(room: CheckUpRoom, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    Image.fromarray(np.zeros((32, 32, 3), np.uint8)).save(tmp_path / "in" / "a.png")
    packed = shutil.make_archive(str(tmp_path / "pictures"), "zip", tmp_path / "in")
    *_, verdict = checked(room, files=[packed])
    assert (verdict.state, verdict.verdict, verdict.refused) == ("done", "healthy", "")
    assert "1 picture " in verdict.checked
    broken = tmp_path / "broken.zip"
    broken.write_bytes(b"PK no zip")
    *_, refused = checked(room, files=[str(broken)])
    assert (refused.state, "not a .zip" in refused.refused) == ("refused", True)


@pytest.mark.parametrize("text", [" ", "/no/such/folder", 7])
def test_a_folder_that_is_not_there_gets_a_sentence(room: CheckUpRoom, text: object) -> None:
    *_, refused = checked(room, text=text)
    assert refused.state == "refused"
    assert refused.refused.startswith("There is no folder")


def test_an_example_is_checked_and_no_other_key(room: CheckUpRoom, monkeypatch: pytest.MonkeyPatch) -> None:
    model = load_model(HERE.model)
    small = EXAMPLES["healthy"]._replace(make=lambda: Case(model, [np.zeros((192, 192, 3), np.uint8)] * 2, [0, 0]))
    monkeypatch.setitem(EXAMPLES, "healthy", small)
    *_, verdict = checked(room, key="healthy")
    assert verdict.state == "done"
    assert 'EXAMPLES["healthy"]' in verdict.python
    for key in ("no_such", None, 7, ["healthy"]):
        (refused,) = checked(room, key=key)
        assert refused.refused == "Choose an example, or pictures of your own."


def test_a_stopped_check_up_says_so(room: CheckUpRoom) -> None:
    steps = Steps(room.check(event(key="healthy"), HERE, "", person()))
    first = next(steps)[room.view]
    assert first.state == "working"
    room.stop(person())
    *_, last = (updates[room.view] for updates in steps)
    assert (last.state, last.refused) == ("refused", "The check-up was stopped.")


def test_a_defect_of_ours_is_no_traceback(room: CheckUpRoom, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: object, **options: object) -> Diagnosis:
        raise ZeroDivisionError

    monkeypatch.setattr(import_module("vitexplorer.diagnosis"), "diagnose", broken)
    *_, refused = checked(room, what="weights")
    assert refused.refused.startswith("Something went wrong on our side")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_beginning_names_model_and_examples(language: str) -> None:
    data = begin_data("ViT", True, language, {"next": "", "next_room": ""})
    assert "ViT" in data.model
    assert [example.key for example in data.examples] == [*EXAMPLES]
    assert all(example.title and example.story and example.label for example in data.examples)


def test_progress_before_the_checks_has_a_line() -> None:
    assert working_data(Step(place=3), "en").waits == "Number 3 in the queue for the model ..."
    assert working_data(Step(), "en").waits == "Getting pictures and model ready ..."
    assert working_data(Step(doing=same("Loading x ...")), "en").waits == "Loading x ..."
    states = [check.state for check in working_data(Step(2, len(PARTS), doing=PARTS[2]), "zh").checks]
    assert states == ["done", "done", "working"] + ["waiting"] * (len(PARTS) - 3)


def test_a_repair_is_named_by_its_kind() -> None:
    repairs = {
        "labels_shifted": [1, 2],
        "qkv_misordered": {},
        "heads_miscounted": load_model(HERE.model),
        "flipped": len,
        "dead_heads": None,
    }
    findings = [
        Finding(cause, same("x"), 0.9, "accuracy", 0.1, None if repair is None else 0.95, repair)
        for cause, repair in repairs.items()
    ]
    data = done_data(Diagnosis("m", tuple(findings), {}, tuple(repairs), 9, 1.0), "", "en")
    lines = [finding.python for finding in data.findings]
    assert ["labels" in lines[0], "state dict" in lines[1], "model" in lines[2], "batch" in lines[3]] == [True] * 4
    assert lines[4] == ""
    assert data.findings[0].change == "accuracy: 10\u00a0% → 95\u00a0%"
    assert (data.findings[0].before, data.findings[0].after) == (0.1, 0.95)
    assert data.findings[4].change == ""
    unnamed = Finding("flipped", same("x"), 0.9, "information of the answers, nats", 0.25, 1.5, len)
    assert done_data(Diagnosis("m", (unnamed,), {}, (), 9, 1.0), "", "en").findings[0].before is None
