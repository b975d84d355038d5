"""Surveying a folder in a browser: start, brush, open the surest mistake in every room; compare two surveys."""

from __future__ import annotations

import re
import urllib.parse
from collections.abc import Iterator
from pathlib import Path

import PIL.Image
import pyarrow.parquet as pq
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.helpers.app import Visit, running_app
from tests.helpers.room_checks import (
    assert_fits,
    assert_focus_is_seen,
    assert_is_read,
    assert_nothing_went_wrong,
    assert_open_to_all,
    assert_still,
)
from tests.helpers.survey_folder import synthetic_survey
from vitexplorer.finetune.data import example_folder
from vitexplorer.survey.card import read_card, write_card

pytestmark = [pytest.mark.browser, pytest.mark.thorough]

MODEL = "scenes_vit_patch16_192"
SOON, SURVEYED = 60_000, 300_000
"""Milliseconds to wait for the page"""
CHARTS = ("histogram", "scatter", "map", "heads", "maps", "classes", "beside")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make two surveys of the same made-up images for the charts."""
    folder = tmp_path_factory.mktemp("runs")
    for name, seed in (("first", 0), ("second", 1)):
        synthetic_survey(folder / name, 300, seed=seed, model=MODEL)
        card = read_card(folder / name)
        write_card(folder / name, card.model_copy(update={"root": str(folder / "pictures")}))
    for file in sorted((folder / "first" / "rows").glob("*.parquet")):
        for path in pq.read_table(file, columns=["path"]).column(0).to_pylist():
            picture = folder / "pictures" / path
            picture.parent.mkdir(parents=True, exist_ok=True)
            PIL.Image.new("RGB", (24, 24), (200, 90, 20)).save(picture, "PNG")
    return folder


@pytest.fixture(scope="module")
def address(runs: Path) -> Iterator[str]:
    with running_app(VIT_RUNS_FOLDER=str(runs)) as url:
        yield url


@pytest.fixture
def visit(chromium: Browser) -> Iterator[Visit]:
    visit = Visit(chromium)
    yield visit
    visit.close()


def parameters(page: Page) -> dict[str, str]:
    return dict(urllib.parse.parse_qsl(urllib.parse.urlparse(page.url).query))


def drag(page: Page) -> None:
    """Brush over the left half of the chart."""
    box = page.locator(".vx-survey .host").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 70, box["y"] + box["height"] / 3)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=5)
    page.mouse.up()


def chosen(page: Page) -> int:
    return int(page.get_attribute(".vx-survey", "data-chosen") or -1)


def test_a_person_surveys_a_folder(visit: Visit, address: str, tmp_path: Path) -> None:
    page, folder = visit.page, example_folder(tmp_path / "scenes", per_class=42)
    visit.open(address, room="folder", model=MODEL, image="scene_gear")
    survey = page.locator(".vx-survey")
    survey.locator(".path").fill(str(folder))
    survey.locator(".look").click()
    expect(survey.locator(".chosen")).to_have_text("scenes: 504 images in 12 folders.", timeout=SOON)
    page.emulate_media(reduced_motion="no-preference")
    survey.locator(".go").click()
    moving = "document.getAnimations().some(({animationName: name}) => name === 'vx-pass')"
    page.wait_for_function(moving, timeout=SOON)  # before there is a number
    page.emulate_media(reduced_motion="reduce")
    expect(survey).to_have_attribute("data-state", "open", timeout=SOON)
    page.reload()  # it goes on without the page
    visit.wait_ready()
    expect(survey).to_have_attribute("data-run", "finished", timeout=SURVEYED)
    expect(survey).to_have_attribute("data-chosen", "504", timeout=SOON)
    expect(survey.locator(".facts-line")).to_contain_text("are classified as their label says")

    drag(page)
    page.wait_for_function("() => Number(document.querySelector('.vx-survey').dataset.chosen) < 504", timeout=SOON)
    assert "probability:" in parameters(page)["v.where"]
    page.locator(".vx-survey .clear").click()
    expect(survey).to_have_attribute("data-chosen", "504", timeout=SOON)

    expect(survey.locator(".pace")).to_contain_text(
        re.compile(r"^504 images: \d+ groups of alike images"), timeout=SOON
    )
    group = survey.locator(".group").first
    group.click()
    expect(survey).to_have_attribute("data-chosen", group.locator("small").inner_text(), timeout=SOON)
    expect(survey.locator(".chip-of")).to_contain_text(f"Group: {group.locator('b').inner_text()}")
    group.click()
    expect(survey).to_have_attribute("data-chosen", "504", timeout=SOON)

    worst = survey.locator(".gallery li button").first
    surest_mistake = worst.locator(".caption").inner_text()
    survey.locator(".gallery select").select_option("low_label")
    expect(worst.locator(".caption")).not_to_have_text(surest_mistake, timeout=SOON)
    expect(worst.locator("img")).to_have_js_property("complete", True, timeout=SOON)
    assert worst.locator("img").evaluate("picture => picture.naturalWidth") > 100
    caption = worst.locator(".caption").inner_text()
    worst.click()
    page.wait_for_function("() => new URL(location.href).searchParams.get('room') === 'attention'", timeout=SOON)
    visit.wait_ready()
    assert parameters(page)["image"].startswith("upload-")
    expect(page.locator(".vx-came-from p")).to_contain_text(caption)
    page.locator(".vx-came-from .back").click()
    expect(survey.locator(".title")).to_contain_text("scenes · ViT (drawn scenes)", timeout=SOON)
    expect(survey.locator(".gallery li button").first).to_be_visible(timeout=SOON)

    survey.locator(".back").click()
    expect(survey.locator(".earlier li").first).to_contain_text("504 of 504 images", timeout=SOON)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_chart_is_read_by_mouse_and_keyboard(visit: Visit, address: str, language: str) -> None:
    page = visit.page
    visit.open(address, room="survey", lang=language, **{"v.survey": "first", "v.beside": "second"})  # its former name
    page.wait_for_url("**room=folder**")
    survey = page.locator(".vx-survey")
    expect(survey).to_have_attribute("data-chosen", "300", timeout=SOON)
    for width, height in ((1440, 900), (390, 844)):
        page.set_viewport_size({"width": width, "height": height})
        for chart in CHARTS:
            survey.locator(f'[data-chart="{chart}"]').click()
            expect(survey.locator(".chart")).to_have_attribute("data-drawn", chart, timeout=SOON)
            expect(survey.locator(".chart:not([data-working])")).to_be_visible(timeout=SOON)
            assert_nothing_went_wrong(page, chart)
            assert_fits(page, chart)
            assert_open_to_all(page, chart, is_whole=False)
    page.set_viewport_size({"width": 1440, "height": 900})
    survey.locator('[data-chart="scatter"]').click()
    expect(survey.locator(".chart")).to_have_attribute("data-drawn", "scatter", timeout=SOON)
    assert_is_read(page, "folder")
    assert_still(page, "folder")
    assert_focus_is_seen(page, "folder")

    host = survey.locator(".host")
    host.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+ArrowUp")
    page.wait_for_function("() => Number(document.querySelector('.vx-survey').dataset.chosen) < 300", timeout=SOON)
    page.keyboard.press("Escape")
    expect(survey).to_have_attribute("data-chosen", "300", timeout=SOON)

    with page.expect_download() as rows:
        survey.locator('.keep [data-as="csv"]').click()
    assert len(Path(rows.value.path()).read_text(encoding="utf-8-sig").splitlines()) == 301
    assert_nothing_went_wrong(page, "rows")

    survey.locator('[data-chart="heads"]').click()
    expect(survey.locator(".chart")).to_have_attribute("data-drawn", "heads", timeout=SOON)
    host.focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    expect(survey.locator(".chart")).to_have_attribute("data-drawn", "histogram", timeout=SOON)
    assert parameters(page)["v.x"] == "distance[1,1]"

    survey.locator(".below summary").first.click()
    with page.expect_download() as saved:
        survey.locator('.save [data-format="svg"]').click()
    assert re.search(r"distance", saved.value.suggested_filename)
    with page.expect_download() as table:
        survey.locator('.save [data-format="csv"]').click()
    assert len(Path(table.value.path()).read_text(encoding="utf-8-sig").splitlines()) == 41
