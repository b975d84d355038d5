"""Room Network in a browser: numbers on the screen, the followed token, the run of the pass, links to other rooms."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

import cv2
import numpy as np
import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

import vitexplorer as vx
from tests.helpers.app import Visit
from tests.helpers.plain_page import PlainPage, sent
from tests.helpers.room_checks import PATIENCE, assert_fits, assert_nothing_went_wrong, assert_open_to_all
from tests.helpers.thorough import quick
from vitexplorer.core.format import percent
from vitexplorer.core.network_result import NetworkResult
from vitexplorer.models.examples import examples
from vitexplorer.ui.network.network import NetworkPicture, network_data

pytestmark = pytest.mark.browser

KINDS = {
    "vit": {"model": "scenes_vit_patch16_192"},
    "swin": {"model": "scenes_swin_patch4_window6_192"},
    "dino": {"model": "scenes_dino_patch16_192"},
    "distilled": {"model": "scenes_deit_patch16_192"},
    "registers": {"model": "scenes_several_vit_reg4_patch16_192"},
    "masked": {"model": "scenes_mae_patch16_192"},
    "base": {"model": "vit_base_patch16_224", "weights": "random"},
    "hybrid": {"model": "vit_tiny_r_s16_p8_224", "weights": "random"},
}
SIZES = ((1920, 1080), (1440, 900), (1366, 768), (390, 844))
CASES = [(kind, *size) for kind, size in product(KINDS, SIZES)]
FAINTEST = 0.004
MOVED = """room => {
  const [question, reading, stage] = ['.question', '.reading', '.stage'].map((name) => room.querySelector(name));
  const down = () => stage.getBoundingClientRect().top - question.getBoundingClientRect().top;
  const before = down();
  reading.replaceChildren();
  return down() - before;
}"""
"""Script that takes the sentence away; returns by how many pixels the stage moves, as when the sentence comes"""
KEEP = [("vit", 1440, 900), ("dino", 390, 844)]


def opened(visit: Visit, url: str, **address: str) -> Locator:
    """Open the room and wait until any token can be followed and the numbers of the blocks are there."""
    visit.open(url, room="network", **address)
    root = visit.page.locator(".vx-network")
    visit.page.locator(".vx-network[data-ready]").wait_for(timeout=PATIENCE)
    expect(root.locator(".reading")).not_to_be_empty(timeout=PATIENCE)
    return root


def table_of(page: Page) -> list[list[str]]:
    """Return the rows of the table of numbers under the picture."""
    page.locator(".vx-network .more > summary").click()
    page.locator(".vx-network .vx-table > summary").click()
    rows = page.locator(".vx-network .vx-table tbody tr")
    return [row.locator("th, td").all_inner_texts() for row in rows.all()]


def computed(kind: str) -> NetworkResult:
    options = KINDS[kind]
    model = vx.load_model(options["model"], options.get("weights", "auto"))
    return vx.compute("network", vx.capture(model, examples()["scene_gear"].path))


def drawn_share(root: Locator) -> float:
    """Return how much of the followed token's attention the lines hold, in percent, as the page says it."""
    return float(re.search(r"[\d.]+(?=\s%)", root.locator(".drawn").inner_text())[0])


def drawn(result: NetworkResult) -> float:
    """Return the mean over all heads of the sum of links that are strong enough to be drawn."""
    weights = [row for links in result.links for row in links.weights]
    return float(np.mean([row[row >= FAINTEST].sum() for row in weights]))


@pytest.mark.parametrize("case", quick(CASES, keep=KEEP))
def test_the_numbers_on_the_screen_are_the_views(visit: Visit, url: str, case: tuple[str, int, int]) -> None:
    page, (kind, width, height) = visit.page, case
    page.set_viewport_size({"width": width, "height": height})
    root = opened(visit, url, **KINDS[kind])
    result = computed(kind)
    assert root.locator(".reading").inner_text() == vx.reading(result)
    assert drawn_share(root) == pytest.approx(100 * drawn(result), abs=0.5)
    for block, (number, name, value, *adds) in enumerate(table_of(page)):
        assert number == str(block)
        answer = result.lens[block] if result.lens else None
        if answer:
            assert value == percent(answer.value)
            assert name in (result.class_names[answer.index].en if result.class_names else f"class {answer.index}")
        if result.attention_adds is not None:
            expected = (result.attention_adds[block], result.mlp_adds[block])
            assert [float(text) for text in adds] == pytest.approx(expected, rel=1e-3, abs=1e-6)
    assert root.evaluate(MOVED) == 0
    assert_fits(page, "network")
    assert_nothing_went_wrong(page, "network")
    assert_open_to_all(page, "network", is_whole=False)


def test_a_person_follows_a_patch_and_runs_the_pass(visit: Visit, url: str) -> None:
    page = visit.page
    page.emulate_media(reduced_motion="no-preference")
    page.add_init_script(WATCH)
    root = opened(visit, url, **KINDS["vit"])
    page.wait_for_function("() => window.hasRun")  # on a first visit by itself
    picture = root.locator("canvas.links")
    picture.focus()
    page.locator(".vx-network[data-whole]").wait_for(timeout=PATIENCE)  # any token can be followed
    expect(root).to_have_attribute("data-query", "cls")
    picture.press("ArrowDown")  # from the class token into the grid below it
    expect(root).to_have_attribute("data-query", "0,6")
    picture.press("ArrowDown")
    picture.press("ArrowLeft")
    expect(root).to_have_attribute("data-query", "1,5")
    expect(page).to_have_url(re.compile(r"query=1%2C5"))
    expect(page.locator(".vx-thread li").nth(1)).to_have_text("Patch row 1, column 5")
    expect(root.locator(".reading")).to_contain_text("the patch in row 1, column 5 reads")
    expect(root).not_to_have_attribute("data-runs", "")

    root.locator(".play").click()
    expect(root).to_have_attribute("data-runs", "")
    picture.click(position={"x": 640, "y": 8})  # a touch stops it where it is
    expect(root).not_to_have_attribute("data-runs", "")
    assert float(root.get_attribute("data-at")) < 8
    root.locator(".on").click()
    assert float(root.get_attribute("data-at")).is_integer()
    picture.press("Home")
    expect(root).to_have_attribute("data-query", "cls")

    head = page.evaluate(HEAD, [3, 1])
    picture.hover(position=head)
    expect(root.locator(".tip")).to_contain_text("Block 3, head 1: ")
    picture.click(position=head)
    canvas = page.locator('#vx-attention-canvas .vx-canvas[data-block="3"]')
    expect(canvas).to_have_attribute("data-head", "1", timeout=PATIENCE)
    page.go_back()
    expect(root).to_be_visible()


WATCH = """new MutationObserver(() => { window.hasRun ||= Boolean(document.querySelector('.vx-network[data-runs]')); })
  .observe(document, {subtree: true, attributes: true, attributeFilter: ['data-runs']});"""
"""Script that notes that the pass runs, also where it is over before anybody asks"""


def test_a_patch_of_a_fine_grid_is_the_same_place_in_a_coarse_one(visit: Visit, url: str) -> None:
    page = visit.page
    root = opened(visit, url, **KINDS["swin"])  # grids of 48, 24, 12 and 6
    picture = root.locator("canvas.links")
    picture.press("ArrowDown")
    picture.press("ArrowDown")
    expect(root).to_have_attribute("data-query", "1,24")
    expect(page).to_have_url(re.compile(r"(?=.*query=1%2C24)(?=.*block=0)"))
    page.reload()
    expect(root).to_have_attribute("data-query", "1,24", timeout=PATIENCE)
    expect(root.locator(".reading")).to_contain_text("the patch in row 0, column 3 reads", timeout=PATIENCE)
    picture.click(position=page.evaluate(HEAD, [9, 5]))
    canvas = page.locator('#vx-attention-canvas .vx-canvas[data-block="9"]')
    expect(canvas).to_have_attribute("data-query", "0,3", timeout=PATIENCE)


def test_a_sentence_stays_where_the_rows_of_a_token_come_right_after_it(pages: str, desktop: BrowserContext) -> None:
    capture = vx.capture(vx.load_model("scenes_vit_patch16_192"), examples()["scene_gear"].path)
    rows = network_data(capture, (1, 2), "en")
    whole = rows.model_copy(update={"asks": False, "reading": "Of the whole pass."})
    page = PlainPage(desktop.new_page(), pages)
    page.open(("network", NetworkPicture, rows))
    page.page.locator(".vx-network[data-ready]").wait_for()
    page.page.evaluate(
        "([whole, rows]) => { show('network', whole); show('network', rows); }", [sent(whole), sent(rows)]
    )
    expect(page.page.locator(".vx-network .reading")).to_have_text("Of the whole pass.")
    page.page.close()


HEAD = """async ([block, head]) => {
  for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame); // a new sentence moves the heads
  const {headOf} = document.querySelector('.vx-network');
  const [x, y, wide, tall] = headOf(block, head);
  return {x: x + wide / 2, y: y + tall / 2}; }"""
"""Script that finds the middle of a head's map on the picture"""


@pytest.mark.thorough
def test_the_pass_is_saved_as_a_film(visit: Visit, url: str, tmp_path: Path) -> None:
    root = opened(visit, url, **KINDS["vit"])
    with visit.page.expect_download(timeout=PATIENCE) as downloading:
        root.locator(".record").click()
    assert downloading.value.suggested_filename.endswith(".mp4")
    path = tmp_path / "pass.mp4"
    downloading.value.save_as(path)
    film = cv2.VideoCapture(str(path))
    frames = [frame for _, frame in iter(film.read, (False, None))]
    assert len(frames) > 20
    assert np.abs(frames[0].astype(float) - frames[-1]).mean() > 5, "the first frame has no blocks yet"
    still = root.locator("canvas.links").evaluate("(canvas) => canvas.clientWidth / canvas.clientHeight")
    high, wide, _ = frames[-1].shape
    assert wide / high == pytest.approx(still, rel=0.01)
