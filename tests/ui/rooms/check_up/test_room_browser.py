"""Room Check-up in a browser: examples, checks that tick, the verdict with its proof and its repair."""

from __future__ import annotations

import numpy as np
import pytest
from playwright.sync_api import BrowserContext, expect

from tests.helpers.app import Visit
from tests.helpers.plain_page import PlainPage
from tests.helpers.room_checks import (
    PATIENCE,
    assert_fits,
    assert_is_chinese,
    assert_nothing_went_wrong,
    assert_open_to_all,
)
from vitexplorer.core.check_up_results import AnsweredPicturesResult
from vitexplorer.core.text import Text, same
from vitexplorer.core.types import Provenance
from vitexplorer.diagnosis import PARTS, Diagnosis, Finding
from vitexplorer.diagnosis.examples import EXAMPLES, MODEL
from vitexplorer.service.jobs import Step
from vitexplorer.ui.rooms.check_up.check_up import CheckUp, begin_data, done_data, refused_data, working_data

pytestmark = pytest.mark.browser
NEXT = {"next": "", "next_room": ""}
SIZES = ((1920, 1080), (1440, 900), (1366, 768), (390, 844))
CHECKED = 300_000
"""Timeout in milliseconds of a whole check-up beside other tests"""


def a_proof() -> AnsweredPicturesResult:
    pictures = tuple(np.full((32, 32, 3), grey, np.uint8) for grey in (60, 180))
    return AnsweredPicturesResult(
        view="check_up",
        title=Text("Answers", "回答"),
        values=np.array([[0.4, 0.5], [0.9, 0.8]]),
        axes=("sides", "images"),
        unit=Text("probability", "概率"),
        formula="",
        provenance=Provenance("tiny", "pretrained", "hub/tiny"),
        headings=(Text("as it is", "现状"), Text("repaired", "修复后")),
        pixels=(pictures, pictures),
        answers=((same("cat"), same("cat")), (same("dog"), same("cup"))),
        right=((False, False), (True, True)),
    )


def a_report() -> Diagnosis:
    first = Finding("not_scaled", same("Pixels."), 0.99, "accuracy", 0.1, 0.9, len, proof=a_proof())
    second = Finding("dead_heads", same("Two heads add nothing."), 0.9)
    undecided = {"flipped": Text("Changing this changes nothing.", "没有影响。")}
    return Diagnosis("tiny", (first, second), undecided, ("not_scaled", "dead_heads"), 9, 3.0)


def test_a_verdict_has_its_proof_and_its_repair(pages: str, desktop: BrowserContext) -> None:
    page = PlainPage(desktop.new_page(), pages)
    page.open(("check", CheckUp, begin_data("ViT", True, "en", NEXT)))
    root = page.page.locator(".vx-check-up")
    expect(root.locator(".examples li")).to_have_count(len(EXAMPLES))
    root.locator(".examples button").first.click()
    expect(root.locator(".waits")).to_have_text("Getting pictures and model ready ...")
    page.send("check", working_data(Step(1, 8, doing=PARTS[1]), "en"))
    expect(root.locator(".checks li")).to_have_count(8)
    expect(root.locator('.checks [data-state="working"]')).to_have_text("…pictures")
    page.send("check", done_data(a_report(), "import vitexplorer as vx", "en"))
    page.page.locator('.vx-check-up[data-drawn="not_scaled"]').wait_for(timeout=PATIENCE)
    expect(root.locator(".findings li")).to_have_count(2)
    expect(root.locator(".reading")).to_have_text("Pixels.")
    root.locator(".findings summary").first.click()
    expect(root.locator(".findings pre")).to_contain_text("report.findings[0].repaired")
    expect(root.locator(".findings")).to_contain_text("accuracy: 10 % → 90 %")
    root.locator(".findings .title").nth(1).click()
    expect(root.locator(".none")).to_have_text("There is no picture of this.")
    expect(root.locator(".figure")).to_be_hidden()
    root.locator(".undecided summary").click()
    expect(root.locator(".undecided")).to_contain_text("Changing this changes nothing.")
    page.send("check", begin_data("ViT", True, "en", NEXT))
    expect(root).to_have_attribute("data-state", "done")  # another picture keeps the verdict
    page.send("check", begin_data("DINO", True, "en", NEXT))
    expect(root).to_have_attribute("data-state", "begin")
    page.send("check", refused_data("The check-up was stopped."))
    expect(root.locator(".refused")).to_have_text("The check-up was stopped.")
    asked = page.page.evaluate("asked.map(({kind, data}) => [kind, data])")
    assert asked == [["check", {"key": "not_scaled"}]]


DROP = """() => {
  const [room, files] = [document.querySelector('.vx-check-up'), new DataTransfer()];
  files.items.add(new File(['no zip'], 'pictures.zip'));
  for (const kind of ['dragover', 'drop'])
    room.dispatchEvent(new DragEvent(kind, {dataTransfer: files, bubbles: true, cancelable: true}));
  return document.body.classList.contains('vx-dropping');
}"""
"""Script that drops a broken zip on the room; returns true if the page still waits for a drop"""


def test_a_person_checks_the_weights(visit: Visit, url: str) -> None:
    visit.open(url, room="check_up", model="scenes_vit_patch16_192", weights="random")
    root = visit.page.locator(".vx-check-up")
    root.locator(".alone").click()
    expect(root).to_have_attribute("data-verdict", "found", timeout=PATIENCE)
    expect(root.locator(".findings")).to_contain_text("Weights not loaded")
    root.locator(".again").click()
    expect(root.locator(".examples")).to_be_visible()
    assert visit.page.evaluate(DROP) is False
    expect(root.locator(".refused")).to_contain_text("not a .zip file", timeout=PATIENCE)
    assert_nothing_went_wrong(visit.page, "check_up")


CASES = [(key, ("en", "zh")[at % 2], *SIZES[at % len(SIZES)]) for at, key in enumerate([*EXAMPLES] * 2)]


@pytest.mark.thorough
@pytest.mark.parametrize(("key", "language", "width", "height"), CASES)
def test_every_example_gets_its_verdict(
    visit: Visit, url: str, key: str, language: str, width: int, height: int
) -> None:
    visit.page.set_viewport_size({"width": width, "height": height})
    visit.open(url, room="check_up", model=MODEL, lang=language)
    root = visit.page.locator(".vx-check-up")
    root.locator(f'.examples [data-key="{key}"] button').click()
    expect(root).to_have_attribute("data-state", "done", timeout=CHECKED)
    expect(root).to_have_attribute("data-verdict", "healthy" if key == "healthy" else "found")
    expect(root).to_have_attribute("data-drawn", key)
    assert_fits(visit.page, "check_up")
    assert_nothing_went_wrong(visit.page, "check_up")
    assert_open_to_all(visit.page, "check_up", is_whole=False)
    if language == "zh":
        assert_is_chinese(visit.page, "check_up")
