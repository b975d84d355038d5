"""A person fine-tunes in the page: a zip in, methods compared, a wrong image explained, the model taken home and back."""

from __future__ import annotations

import re
import shutil
import urllib.parse
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.app import Visit, browser, running_app
from vitexplorer.finetune.data import example_folder

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SOON, TRAINED = 30_000, 240_000
"""milliseconds"""


@pytest.fixture(scope="module")
def url(tmp_path_factory) -> Iterator[str]:
    runs = tmp_path_factory.mktemp("runs")
    with running_app(VIT_RUNS_FOLDER=str(runs)) as address:
        yield address


@pytest.fixture(scope="module")
def chromium():
    with browser() as launched:
        yield launched


@pytest.fixture
def visit(chromium) -> Iterator[Visit]:
    opened = Visit(chromium)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def scenes(tmp_path_factory) -> Path:
    """A zip of three classes of drawn scenes, eight images each."""
    folder = example_folder(tmp_path_factory.mktemp("scenes") / "all", per_class=8, size=96)
    for place in sorted(folder.iterdir())[3:]:
        shutil.rmtree(place)
    return Path(shutil.make_archive(str(folder.parent / "shapes"), "zip", folder))


def parameters(page: Page) -> dict[str, str]:
    return dict(urllib.parse.parse_qsl(urllib.parse.urlparse(page.url).query))


def tick_only(page: Page, *methods: str) -> None:
    """Tick these methods and no other."""
    boxes = page.locator("#vx-training-methods .item")
    for key in boxes.evaluate_all("items => items.map((item) => item.dataset.key)"):
        box = page.locator(f'#vx-training-methods .item[data-key="{key}"] .head input')
        if box.is_checked() != (key in methods):
            shown = page.locator(".vx-methods").get_attribute("data-shown")
            box.set_checked(key in methods)
            page.wait_for_function(f"document.querySelector('.vx-methods').dataset.shown !== '{shown}'")


def test_a_person_fine_tunes(visit: Visit, url: str, scenes: Path, tmp_path: Path) -> None:
    page = visit.page
    visit.open(url, room="finetune")
    page.locator("input[data-testid=\"Upload a zip-upload-button\"]").set_input_files(scenes)
    report = page.locator(".vx-report")
    expect(report).to_have_attribute("data-state", "ready", timeout=SOON)
    expect(report.locator(".summary")).to_contain_text("24 images, 3 classes")
    assert report.locator(".chart .count").all_inner_texts() == ["8", "8", "8"]
    expect(report.locator(".findings")).to_contain_text("fewer than 10 images")

    expect(page.locator(".vx-methods")).to_have_attribute("data-state", "ready", timeout=SOON)
    tick_only(page, "linear", "lora", "vpt_shallow")
    lora = page.locator('.vx-methods .item[data-key="lora"]')
    before = lora.locator(".counts").inner_text()
    lora.locator("summary").click()
    lora.locator("input[type=number]").first.fill("4")
    lora.locator("input[type=number]").first.press("Tab")
    expect(lora.locator(".counts")).not_to_have_text(before)
    page.locator(".vx-methods [name=epochs]").fill("3")
    page.locator(".vx-methods .start").click()

    progress = page.locator(".vx-progress")
    expect(progress).to_have_attribute("data-state", "running", timeout=SOON)
    assert parameters(page)["run"] == progress.get_attribute("data-run")
    expect(progress.locator(".chart.metric .level")).to_be_visible(timeout=TRAINED)
    expect(progress.locator(".chart.loss svg")).to_be_visible()
    page.wait_for_function("Number(document.querySelector('.chart.loss').dataset.points) > 1", timeout=TRAINED)

    page.reload()
    visit.wait_ready()
    expect(progress).to_have_attribute("data-run", parameters(page)["run"], timeout=SOON)
    expect(progress).to_have_attribute("data-state", "finished", timeout=TRAINED)
    board = page.locator(".vx-results")
    expect(board).to_have_attribute("data-rows", "3", timeout=SOON)
    assert set(board.locator("tbody tr[data-run]").evaluate_all("rows => rows.map((row) => row.dataset.run)")) == {
        "linear",
        "lora-r=4",
        "vpt_shallow",
    }
    expect(board.locator(".verdicts p")).to_have_count(2)
