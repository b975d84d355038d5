"""One walk at four window sizes: first screen, stage, sharpening, verdicts, pictures of one's own, the path."""

from __future__ import annotations

import io
import re
from pathlib import Path

import numpy as np
import PIL.Image
import pytest
from playwright.sync_api import Page, expect

from tests.helpers.app import Visit
from tests.helpers.room_checks import (
    PATIENCE,
    assert_fits,
    assert_nothing_went_wrong,
    assert_open_to_all,
    choose_model,
    choose_view,
    go_to,
    panel_of,
    wait_for_view,
)
from tests.helpers.thorough import later

pytestmark = [pytest.mark.browser, pytest.mark.thorough]

SIZES = ((1920, 1080), (1440, 900), (1366, 768), (390, 844))
FILLED = """(room) => {
  const figure = document.querySelector(`#vx-${room}-panel .vx-panel .figure`).getBoundingClientRect();
  const side = document.querySelector(`#vx-${room}-panel .vx-panel .side`).getBoundingClientRect();
  const gap = Math.max(0, side.left - figure.right);
  return {gap, high: figure.height / innerHeight, right: innerWidth - side.right}; }"""
"""Script that measures what a figure and its inspector leave empty"""
GREY = """(room) => {
  const image = document.querySelector(`#vx-${room}-panel .imagelayer image`);
  const canvas = document.createElement('canvas'), pen = canvas.getContext('2d');
  const source = new Image();
  return new Promise((done) => { source.onload = () => {
    Object.assign(canvas, {width: source.width, height: source.height});
    pen.drawImage(source, 0, 0);
    const {data} = pen.getImageData(0, 0, source.width, source.height);
    let colour = 0;
    for (let i = 0; i < data.length; i += 4) colour = Math.max(colour, Math.abs(data[i] - data[i + 2]));
    done(colour);
  }; source.src = image.href.baseVal; }); }"""
"""Script that finds the strongest colour of the picture under a map, 0 for grey"""


@pytest.mark.parametrize(("width", "height"), [later(*size) for size in SIZES])
def test_the_page_keeps_its_promises_at_every_size(visit: Visit, url: str, tmp_path: Path, width: int, height: int):
    page, is_phone = visit.page, width < 760
    page.set_viewport_size({"width": width, "height": height})
    visit.open(url)
    _first_screen(page, is_phone)
    _sharpens(page)
    choose_model(page, "scenes_vit_patch16_192")
    _stage(page, is_phone)
    _verdicts(page, is_phone)
    _own_picture(page, tmp_path)
    assert visit.forgive() == 1
    _path(page)


def _first_screen(page: Page, is_phone: bool) -> None:
    """Check that the first visit says what the model sees and what is said, and leads to the path."""
    expect(page.locator(".vx-status .line")).to_have_text(re.compile(r"^ViT says: gear \d+\s%$"), timeout=PATIENCE)
    learn = page.locator(".vx-rail .learn")
    expect(learn).to_be_visible()
    assert learn.evaluate("one => one === document.querySelector('.vx-rail button')")
    expect(page.locator(".vx-thread li").first).to_contain_text("patches")
    if not is_phone:
        groups = page.locator(".vx-rail .group > p")
        assert groups.all_inner_texts() == ["Look", "Ask why", "Change"]
        assert page.locator("#vx-rail").evaluate("rail => rail.scrollHeight <= rail.clientHeight")
    assert_fits(page, "attention")
    assert_open_to_all(page, "attention", is_whole=True)


def _sharpens(page: Page) -> None:
    """Sharpen the map on the stage, and go back."""
    canvas = page.locator("#vx-attention-canvas .vx-canvas")
    canvas.locator(".sharpen label", has_text="4").first.click()
    expect(canvas.locator(".sharpened")).to_contain_text("4 passes", timeout=PATIENCE)
    canvas.locator(".sharpen label", has_text="off").click()
    expect(canvas.locator(".sharpened")).to_be_empty()


def _stage(page: Page, is_phone: bool) -> None:
    """Check that a map is drawn over a grey picture and fills its stage, with the strip and the views beside it."""
    go_to(page, "flow")
    choose_view(page, "flow", "attn_lrp")
    assert page.evaluate(GREY, "flow") == 0
    filled = page.evaluate(FILLED, "flow")
    if not is_phone:
        assert filled["gap"] < 60, filled
        assert filled["high"] > 0.5, filled
    groups = page.locator(".view-group:visible").evaluate_all("all => all.map((one) => one.innerText.split('\\n')[0])")
    assert groups == ["Attention", "Gradient", "Perturbation", "Judge"]
    save = panel_of(page, "flow").locator(".save button").all_inner_texts()
    assert save == ["PNG 2×", "PNG 4×", "SVG", "CSV"] or is_phone
    assert_fits(page, "flow")


def _verdicts(page: Page, is_phone: bool) -> None:
    """Check that rooms that compare open with a sentence and the picture that shows it."""
    go_to(page, "compare")
    compare = panel_of(page, "compare")
    expect(compare.locator(".reading")).to_contain_text("attention")
    blink = compare.locator(".fading .blink")
    expect(blink).to_be_visible()
    if not is_phone:
        assert blink.bounding_box()["y"] < page.viewport_size["height"]
    assert_nothing_went_wrong(page, "compare")
    go_to(page, "what_if")
    expect(page.locator(".vx-changes")).to_contain_text(re.compile("answer", re.IGNORECASE), timeout=PATIENCE)
    expect(page.locator(".vx-changes .scales")).to_have_text(re.compile(r"^Two scales: .*%.*% in the changed run\.$"))
    assert_nothing_went_wrong(page, "what_if")
    go_to(page, "folder")
    assert page.locator("input[webkitdirectory]").count() >= 1
    go_to(page, "finetune")
    expect(page.locator(".vx-teach .box").first).to_be_visible(timeout=PATIENCE)
    assert_fits(page, "finetune")


def _own_picture(page: Page, folder: Path) -> None:
    """Upload a picture, whose name stands in the bar, and one that is none, which is refused by its name."""
    pixels = np.random.default_rng(0).integers(0, 255, (60, 80, 3), np.uint8)
    buffer = io.BytesIO()
    PIL.Image.fromarray(pixels).save(buffer, "PNG")
    (folder / "holiday.png").write_bytes(buffer.getvalue())
    (folder / "notes.png").write_bytes(b"no picture")
    go_to(page, "attention")
    page.locator("#vx-image .file").set_input_files(folder / "holiday.png")
    expect(page.locator("#vx-image .chip")).to_contain_text("holiday.png", timeout=PATIENCE)
    page.locator("#vx-image .file").set_input_files(folder / "notes.png")
    expect(page.locator("#vx-image .alert")).to_have_text(re.compile(r"^notes\.png: "), timeout=PATIENCE)
    page.keyboard.press("Escape")


def _path(page: Page) -> None:
    """Open the guided path, go on, and close it: model and room are given back."""
    before = page.locator("#vx-model .vx-model").get_attribute("data-model")
    page.locator(".vx-rail .learn").click()
    guide = page.locator(".vx-guide")
    expect(guide.locator("h2")).to_be_visible(timeout=PATIENCE)
    following = guide.locator(".turns .next")
    expect(following).to_be_visible()
    box = following.bounding_box()
    assert 0 <= box["y"] <= page.viewport_size["height"]
    guide.locator(".close").click()
    expect(page.locator("#vx-model .vx-model")).to_have_attribute("data-model", before, timeout=PATIENCE)
    wait_for_view(page, "attention")
    assert_nothing_went_wrong(page, "attention")
