"""Teaching in a browser: boxes filled, a picture classified, a live webcam, and export."""

from __future__ import annotations

import base64
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

import vitexplorer as vx
from tests.helpers.app import ARGUMENTS, PLACES, Visit
from tests.helpers.room_checks import (
    assert_fits,
    assert_focus_is_seen,
    assert_is_read,
    assert_nothing_went_wrong,
    assert_open_to_all,
    go_to,
)
from vitexplorer.finetune.data import example_folder
from vitexplorer.finetune.probe import feature_of, fit_probe, shares
from vitexplorer.models.images import open_image
from vitexplorer.service.teaching.boxes import Boxes

pytestmark = pytest.mark.browser

MODEL = "scenes_dino_patch16_192"
CAMERA = ("--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream")
SOON = 60_000
"""Milliseconds to wait for the page"""


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Path]]:
    """Draw pictures of two classes."""
    folder = example_folder(tmp_path_factory.mktemp("drawn") / "all", per_class=3, size=96)
    return {name: sorted((folder / name).iterdir()) for name in ("fish", "ring")}


@pytest.fixture
def filmed(chromium: Browser, url: str) -> Iterator[Visit]:
    """Open a page in a browser whose camera films a moving dial."""
    result = next(place for place in PLACES if place.exists())
    with_camera = chromium.browser_type.launch(executable_path=result, args=[*ARGUMENTS, *CAMERA])
    visit = Visit(with_camera)
    visit.context.grant_permissions(["camera"], origin=url.rstrip("/"))
    yield visit
    visit.close()
    with_camera.close()


def answers(page: Page) -> dict[str, float]:
    """Return the share of each class on the screen."""
    rows = page.locator(".vx-teach .shares li")
    return dict(
        rows.evaluate_all("rows => rows.map((row) => [row.querySelector('.name').textContent, +row.dataset.share])")
    )


def teach(page: Page, drawn: dict[str, list[Path]]) -> None:
    for number, (name, paths) in enumerate(drawn.items()):
        box = page.locator(".vx-teach .box").nth(number)
        box.locator("input[type=text]").fill(name)
        box.locator("input[type=text]").press("Tab")
        box = page.locator(f'.vx-teach .box:has(input[placeholder^="Class {number + 1},"])')
        box.locator("input[type=file]").set_input_files(paths[:2])
        expect(box).to_have_attribute("data-count", "2", timeout=SOON)


def test_a_person_teaches_two_classes(visit: Visit, url: str, drawn: dict[str, list[Path]], tmp_path: Path) -> None:
    """The page and the engine agree about the same pictures; the training steps are one button away."""
    page = visit.page
    visit.open(url, room="finetune")
    expect(page.locator(".vx-teach .doing")).to_have_text("Add a picture to at least two classes.", timeout=SOON)
    assert page.evaluate("document.documentElement.scrollHeight <= innerHeight"), "it fills the window and no more"
    expect(page.locator(".vx-methods")).to_be_hidden()
    cards, bold = page.locator(".vx-teach .box"), page.locator(".vx-teach .primary")
    assert cards.locator("input[type=text]").first.get_attribute("placeholder") == "Class 1, for example: cup"
    expect(cards.first.locator(".hint")).to_contain_text("about five pictures of one kind here: cup")
    expect(bold).to_have_text(["Fill with drawn examples"])
    expect(page.locator(".vx-teach .compare")).to_have_text("Compare methods on a folder")
    cards.first.locator("input[type=file]").set_input_files(drawn["fish"][0])
    expect(cards.nth(1).locator(".primary")).to_have_text("Add pictures", timeout=SOON)
    expect(bold).to_have_count(1)
    teach(page, drawn)
    expect(bold).to_have_text(["Ask the webcam"])
    page.locator(".vx-teach .answer .file").set_input_files(drawn["ring"][2])
    expect(page.locator(".vx-teach .shares li")).to_have_count(2, timeout=SOON)
    expect(bold).to_have_text(["Compare methods on these pictures"])
    expect(page.locator(".vx-teach .says")).to_contain_text("frozen features of DINO (drawn scenes), taught with 4")

    model, boxes = vx.load_model(MODEL), Boxes(tmp_path / "boxes")
    saved = [
        boxes.add(key, open_image(path)) for key, paths in zip("12", drawn.values(), strict=True) for path in paths[:2]
    ]
    features = np.stack([feature_of(vx.capture(model, path)) for path in saved])
    asked = feature_of(vx.capture(model, drawn["ring"][2]))
    expected = shares(fit_probe(features, np.array([0, 0, 1, 1])), asked[None])[0]
    assert answers(page) == pytest.approx(dict(zip(drawn, expected.tolist(), strict=True)), abs=1e-4)

    page.locator(".vx-teach .compare").click()
    expect(page.locator(".vx-report .summary")).to_contain_text("4 images, 2 classes", timeout=SOON)
    expect(page.locator(".vx-methods")).to_be_visible(timeout=SOON)
    assert "compare=1" in page.url
    page.locator(".vx-teach .back").click()
    expect(page.locator(".vx-teach .shares li")).to_have_count(2)
    page.locator(".vx-teach .forget").click()
    page.locator(".vx-teach .forget").click()
    expect(page.locator(".vx-teach .box .thumb")).to_have_count(0, timeout=SOON)


@pytest.mark.thorough
def test_a_person_teaches_with_a_webcam(filmed: Visit, url: str) -> None:
    """Pictures come while a button is held, answers while the camera is on, and none on a hidden page."""
    page = filmed.page
    filmed.open(url, room="finetune")
    holds = page.locator(".vx-teach .hold")
    for number in range(2):
        holds.nth(number).hover()
        page.mouse.down()
        box = page.locator(".vx-teach .box").nth(number)
        expect(box).to_have_attribute("data-count", re.compile("^[3-9]|[0-9]{2}"), timeout=SOON)
        page.mouse.up()
    expect(page.locator(".vx-teach .shares li")).to_have_count(2, timeout=SOON)
    asked = lambda: sum("/teach/ask" in address for address in filmed.requests)  # noqa: E731
    before = asked()
    page.wait_for_timeout(1500)
    assert 2 <= asked() - before <= 1500 / 120 + 1
    assert_is_read(page, "finetune")
    go_to(page, "size")
    assert page.evaluate("document.querySelector('.vx-teach video').srcObject") is None
    page.wait_for_timeout(500)
    before = asked()
    page.wait_for_timeout(700)
    assert asked() == before


@pytest.mark.thorough
def test_the_same_camera_takes_the_picture_that_all_rooms_show(filmed: Visit, url: str) -> None:
    page = filmed.page
    filmed.open(url)
    page.locator(".vx-image .chip").click()
    page.locator(".vx-image .webcam").click()
    expect(page.locator(".vx-image .camera")).to_be_visible(timeout=SOON)
    page.wait_for_function("() => document.querySelector('.vx-image video').videoWidth > 0")
    page.locator(".vx-image .take").click()
    expect(page.locator(".vx-image")).to_have_attribute("data-image", re.compile("^upload-"), timeout=SOON)
    assert page.evaluate("document.querySelector('.vx-image video').srcObject") is None
    expect(page.locator(".vx-image .camera")).to_be_hidden()


GIVEN = """([selector, kind, address]) => {
  const bytes = Uint8Array.from(atob(address.split(',')[1]), (one) => one.charCodeAt(0)), given = new DataTransfer();
  given.items.add(new File([bytes], 'ring.jpg', {type: 'image/jpeg'}));
  const event = kind === 'paste' ? new ClipboardEvent(kind, {clipboardData: given, bubbles: true})
    : new DragEvent(kind, {dataTransfer: given, bubbles: true, cancelable: true});
  document.querySelector(selector).dispatchEvent(event); }"""
"""Script that drops or pastes a picture"""


@pytest.mark.thorough
def test_pictures_are_dropped_into_boxes_and_pasted_to_ask(
    visit: Visit, url: str, drawn: dict[str, list[Path]]
) -> None:
    """The picture of the other rooms stays."""
    page = visit.page
    visit.open(url, room="finetune")
    boxes = page.locator(".vx-teach .box")
    expect(boxes).to_have_count(2, timeout=SOON)
    before = page.locator(".vx-image").get_attribute("data-image")
    addresses = [f"data:image/jpeg;base64,{base64.b64encode(path.read_bytes()).decode()}" for path in drawn["ring"]]
    for number in range(2):
        page.evaluate(GIVEN, [f".vx-teach .box:nth-child({number + 1})", "drop", addresses[number]])
        expect(boxes.nth(number)).to_have_attribute("data-count", "1", timeout=SOON)
    page.evaluate(GIVEN, ["body", "paste", addresses[2]])
    expect(page.locator(".vx-teach .shares li")).to_have_count(2, timeout=SOON)
    boxes.first.locator("input[type=file]").set_input_files(
        {"name": "a.jpg", "mimeType": "image/jpeg", "buffer": b"no"}
    )
    expect(page.locator(".vx-teach .alert")).to_be_visible(timeout=SOON)
    expect(boxes.first).to_have_attribute("data-count", "1")
    assert page.locator(".vx-image").get_attribute("data-image") == before

    page.goto(f"{url}?room=finetune&plan=x")  # of the part behind
    visit.wait_ready()
    page.locator(".vx-teach .back").click()
    expect(boxes.first).to_be_visible(timeout=SOON)
    page.reload()
    visit.wait_ready()
    expect(boxes.first).to_be_visible(timeout=SOON)
    assert "plan=x" in page.url
    visit.errors[:] = [error for error in visit.errors if "422" not in error]  # as the browser tells of a refusal


@pytest.mark.thorough
def test_a_refused_camera_is_reported(visit: Visit, url: str) -> None:
    visit.open(url, room="finetune")
    visit.page.locator(".vx-teach .live").click()
    expect(visit.page.locator(".vx-teach .alert")).to_contain_text("camera", timeout=SOON)


@pytest.mark.thorough
@pytest.mark.parametrize(("language", "width"), [("en", 1440), ("zh", 390)])
def test_drawn_examples_show_it_at_once(chromium: Browser, url: str, tmp_path: Path, language: str, width: int) -> None:
    visit = Visit(chromium, width, 844)
    page = visit.page
    visit.open(url, room="finetune", lang=language)
    page.locator(".vx-teach .fill").click()
    expect(page.locator(".vx-teach .shares li")).to_have_count(3, timeout=SOON)
    expect(page.locator(".vx-teach .score p").first).not_to_be_empty(timeout=SOON)
    page.locator(".vx-teach .others .thumb").nth(3).click()
    name = page.locator(".vx-teach .others .thumb").nth(3).get_attribute("title")
    expect(page.locator(".vx-teach .shares .best .name")).to_have_text(name, timeout=SOON)
    for check in (assert_fits, assert_nothing_went_wrong, assert_is_read, assert_focus_is_seen):
        check(page, "finetune")
    assert_open_to_all(page, "finetune", is_whole=False)
    page.reload()
    visit.wait_ready()
    expect(page.locator(".vx-teach .box .thumb")).to_have_count(15, timeout=SOON)
    with page.expect_download() as saved:
        page.locator(".vx-teach .save").click()
    with zipfile.ZipFile(saved.value.path()) as packed:
        assert len(packed.namelist()) == 15
    expect(page.locator(".vx-teach .score .wrong").first).to_be_visible(timeout=SOON)
    label = page.locator(".vx-teach .score .wrong").first.get_attribute("title")
    page.locator(".vx-teach .score .wrong").first.click()
    expect(page.locator(".vx-came-from")).to_contain_text(label, timeout=SOON)
    expect(page.locator(".vx-status")).to_have_attribute("data-kind", "ready", timeout=SOON)
    page.locator(".vx-came-from .back").click()
    expect(page.locator(".vx-teach .box").first).to_be_visible(timeout=SOON)
    page.locator(".vx-teach .box .thumb").first.click()
    expect(page.locator(".vx-teach .box").first).to_have_attribute("data-count", "4", timeout=SOON)
    visit.close()
