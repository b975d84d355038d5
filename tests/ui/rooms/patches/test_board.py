"""Patches board: the data sent to it, and its use in headless Chromium."""

from __future__ import annotations

import base64
import re
import string
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.helpers.plain_page import PlainPage
from vitexplorer.core.text import Text
from vitexplorer.core.types import PatchGrid
from vitexplorer.ui.kit.served_files import image_file
from vitexplorer.ui.rooms.patches.board import BoardData, PatchesBoard, board_data, reading
from vitexplorer.ui.rooms.patches.words import BOARD_WORDS

BOARDS = {
    "distilled": (PatchGrid(3, 5, 4, 2), ("cls", "dist")),
    "bare": (PatchGrid(64, 64, 2), ()),
    "registers": (PatchGrid(7, 7, 8, 5), ("cls", "reg1", "reg2", "reg3", "reg4")),
}
HOSTILE = "<b>model</b> ${window.stolen = 1} {{value}} & 次"


def pixels_of(grid: PatchGrid) -> np.ndarray:
    """Make pixels whose red is their row, green their column and blue a constant, all distinct in a small image."""
    rows, cols = np.indices((grid.rows * grid.patch_size, grid.cols * grid.patch_size))
    return np.stack([rows % 256, cols % 256, np.full_like(rows, 200)], axis=-1).astype(np.uint8)


# ---------------------------------------------------------------------------------------------- what is sent


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_value_holds_the_whole_sequence_in_one_language(language):
    grid, prefix = BOARDS["distilled"]
    data = board_data(image_file(pixels_of(grid)), grid, prefix, 192, language, [Text("weights", "权重")])
    assert data.num_tokens == 2 + 15
    assert data.prefix_tokens == {"en": ["class token", "distillation token"], "zh": ["类别标记", "蒸馏标记"]}[language]
    assert data.caption == [{"en": "weights", "zh": "权重"}[language]]
    assert data.words.items() >= {key: text.in_(language) for key, text in BOARD_WORDS.items()}.items()


@pytest.mark.parametrize(
    ("prefix", "en", "zh"),
    [
        ((), "15 tokens and no class token", "共 15 个图块标记，没有类别标记"),
        (("cls",), "15 tokens and 1 class token", "15 个图块标记，另加 1 个类别标记"),
        (("cls", "dist"), "15 tokens and 2 prefix tokens", "15 个图块标记，另加 2 个前缀标记"),
    ],
)
def test_the_reading_is_the_cut_in_numbers(prefix, en, zh):
    size, grid = (12, 21), BOARDS["distilled"][0]  # the last column of pixels belongs to no patch
    assert reading(size, grid, prefix, 192, "en") == (
        f"12 × 21 px cut into 3 × 5 patches of 4 × 4 px: {en}. The 48 numbers of a patch become a vector of 192."
    )
    assert reading(size, grid, prefix, 192, "zh") == (
        f"12 × 21 像素切成 3 × 5 个图块，每块 4 × 4 像素：{zh}。每个图块的 48 个数变成 192 维向量。"
    )


def fields(template: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(template) if name}


@pytest.mark.parametrize("key", BOARD_WORDS)
def test_both_languages_say_the_same_things(key):
    text = BOARD_WORDS[key]
    assert fields(text.en) == fields(text.zh)
    assert re.search("[\u4e00-\u9fff]", text.zh)


# ---------------------------------------------------------------------------------------------- in the browser


@pytest.fixture(scope="module")
def boards() -> list[tuple[str, type[PatchesBoard], BoardData]]:
    """Return a board's data for each entry of BOARDS."""
    caption = [Text(HOSTILE, HOSTILE)]
    return [
        (name, PatchesBoard, board_data(image_file(pixels_of(grid)), grid, prefix, 192, "en", caption))
        for name, (grid, prefix) in BOARDS.items()
    ]


@pytest.fixture(scope="module")
def tab(desktop: BrowserContext, pages: str) -> Iterator[PlainPage]:
    page = desktop.new_page()
    yield PlainPage(page, pages)
    page.close()


@pytest.fixture
def page(tab: PlainPage, boards: list) -> Page:
    """Return the boards on a wide screen."""
    tab.page.set_viewport_size({"width": 1440, "height": 900})
    tab.open(*boards)
    for name in BOARDS:
        expect(board(tab.page, name)).to_have_attribute("data-ready", re.compile(r"\d+"))
    return tab.page


def board(page: Page, name: str) -> Locator:
    return page.locator(f"#{name} .vx-board")


def point_at(board: Locator, row: int, col: int, rows: int, cols: int) -> dict[str, float]:
    """Return the middle of a patch in CSS pixels of the canvas; the outline has a margin of 5 px on each side."""
    box = board.locator(".patches").bounding_box()
    side = min((box["width"] - 10) / cols, (box["height"] - 10) / rows)
    left, top = (box["width"] - side * cols) / 2, (box["height"] - side * rows) / 2
    return {"x": left + (col + 0.5) * side, "y": top + (row + 0.5) * side}


@pytest.mark.browser
@pytest.mark.parametrize("gap", ["0", "12", "60"])
def test_the_patch_under_the_mouse_is_enlarged_with_its_numbers(page, gap):
    patches_board = board(page, "distilled")
    patches_board.locator(".gap input").fill(gap)
    patches_board.locator(".patches").hover(position=point_at(patches_board, 2, 3, 3, 5))
    expect(patches_board.locator(".title")).to_have_text("Patch in row 2, column 3")
    expect(patches_board.locator(".index .math")).to_have_text("2 + 2 × 5 + 3 = 15")
    expect(patches_board.locator(".numbers")).to_have_text("4 × 4 × 3 → 48 numbers → D = 192")
    expect(patches_board.locator(".length")).to_have_text("The sequence: 17 tokens = 2 prefix + 15 patches")
    expect(patches_board.locator(".marked")).to_have_text("15")
    zoom = patches_board.locator(".zoom").bounding_box()
    patches_board.locator(".patches").click(position=point_at(patches_board, 2, 3, 3, 5))
    patches_board.locator(".zoom").hover(position={"x": zoom["width"] * 0.9, "y": zoom["height"] * 0.1})
    expect(patches_board.locator(".pixel")).to_have_text("Pixel in row 0, column 3 of the patch")
    expect(patches_board.locator(".planes .value")).to_have_text([str(2 * 4), str(3 * 4 + 3), "200"])


@pytest.mark.browser
def test_a_click_pins_the_patch_and_reports_it(page):
    patches_board = board(page, "distilled")
    patches_board.locator(".patches").click(position=point_at(patches_board, 0, 1, 3, 5))
    page.wait_for_function("() => asked.length")
    assert page.evaluate("() => asked") == [{"id": "distilled", "kind": "patch_select", "data": {"row": 0, "col": 1}}]
    patches_board.locator(".patches").hover(position=point_at(patches_board, 2, 4, 3, 5))
    expect(patches_board).to_have_attribute("data-index", "16")
    page.mouse.move(0, 0)
    expect(patches_board).to_have_attribute("data-index", "3")


@pytest.mark.browser
def test_arrow_keys_move_and_stop_at_the_edge(page):
    patches_board = board(page, "distilled")
    patches_board.locator(".patches").focus()
    for key in ["Home", "ArrowLeft", "ArrowUp", "ArrowUp", "ArrowUp"]:
        page.keyboard.press(key)
    expect(patches_board).to_have_attribute("data-index", "2")
    for key in ["ArrowDown", "End", "ArrowRight"]:
        page.keyboard.press(key)
    expect(patches_board).to_have_attribute("data-index", str(2 + 5 + 4))
    expect(patches_board.locator(".spoken")).to_have_text("Patch in row 1, column 4, index in the sequence 11")
    patches_board.locator(".strip").focus()
    page.keyboard.press("ArrowRight")
    expect(patches_board.locator(".title")).to_have_text("Patch in row 2, column 0")


@pytest.mark.browser
def test_a_long_sequence_shows_the_picked_token_and_few_others(page):
    patches_board = board(page, "bare")
    patches_board.evaluate("board => board.pick(63, 63)")
    expect(patches_board.locator(".marked")).to_have_text("4095")
    patches_board.locator(".strip").scroll_into_view_if_needed()
    expect(patches_board.locator(".marked")).to_be_in_viewport()
    assert patches_board.locator(".tile").count() < 60
    expect(patches_board.locator(".length")).to_have_text("The sequence: 4,096 tokens, one for each patch")
    patches_board.locator("[data-patch='4090']").hover()
    expect(patches_board.locator(".title")).to_have_text("Patch in row 63, column 58")


@pytest.mark.browser
def test_the_gap_moves_nothing_on_the_page(page):
    patches_board = board(page, "registers")
    places = "board => [...board.querySelectorAll('.stage, .patch, .sequence')].map((part) => part.offsetTop)"
    before = patches_board.evaluate(places)
    for gap in ("0", "60"):
        patches_board.locator(".gap input").fill(gap)
        assert patches_board.evaluate(places) == before


@pytest.mark.browser
@pytest.mark.parametrize("gap", ["0", "30"])
def test_the_saved_pictures_hold_the_pixels_and_the_caption(page, gap):
    patches_board = board(page, "distilled")
    patches_board.locator(".gap input").fill(gap)
    patches_board.evaluate("board => board.pick(1, 4)")
    patches_board.locator(".more > summary").click()
    with page.expect_download() as download:
        patches_board.locator("[data-format=svg]").click()
    assert download.value.suggested_filename == "patches_3x5_row1-column4.svg"
    drawing = Path(download.value.path()).read_text(encoding="utf-8")
    assert HOSTILE.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;") in drawing
    images = [
        np.asarray(Image.open(BytesIO(base64.b64decode(data))).convert("RGB"))
        for data in re.findall(r'href="data:image/png;base64,([^"]+)"', drawing)
    ]
    grid = BOARDS["distilled"][0]
    patch = pixels_of(grid)[4:8, 16:20]
    assert sum(np.array_equal(image, patch) for image in images) == (2 if gap == "0" else 3)  # zoom, strip, board
    with page.expect_download() as download:
        patches_board.locator("[data-format=png2]").click()
    with Image.open(download.value.path()) as saved:
        width, height = saved.size
    viewed = re.search(r'viewBox="-24 -24 (\S+) (\S+)"', drawing)
    assert (width, height) == (2 * int(viewed[1]), round(2 * float(viewed[2])))


@pytest.mark.browser
def test_nothing_on_the_page_runs_what_a_caption_says(page):
    assert page.evaluate("typeof window.stolen") == "undefined"


@pytest.mark.browser
def test_a_narrow_page_does_not_scroll_sideways(page):
    page.set_viewport_size({"width": 390, "height": 844})
    for name in BOARDS:
        box = board(page, name).locator(".patches").bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
    assert page.evaluate("document.documentElement.scrollWidth") == 390
