"""Canvas in a browser: readings against the packed numbers, mouse, keys, files, errors."""

from __future__ import annotations

import csv
import io
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import numpy as np
import PIL.Image
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

import vitexplorer as vx
from tests.helpers.app import hear
from tests.helpers.canvas_cases import CASES, attention_of, open_case, value_of
from tests.helpers.plain_page import PlainPage
from tests.helpers.room_checks import painted
from tests.helpers.small_families import capture_case
from tests.helpers.thorough import always, in_turn, later
from vitexplorer.capturing.capture import Capture
from vitexplorer.ui.canvas.canvas import AttentionCanvas, Selection

pytestmark = pytest.mark.browser


class Canvas:
    """First canvas of a case."""

    def __init__(self, plain: PlainPage, name: str):
        self.plain, self.page, self.case = plain, plain.page, CASES[name]
        self.root = self.page.locator("#first .vx-canvas")
        self.view = self.root.locator(".view")
        self.block = 7

    def next_block(self) -> None:
        """Show the next block, as another control of the page would; block numbers wrap around."""
        self.block = (self.block + 1) % 12
        self.plain.send("first", value_of(self.case, self.block))

    def place(self, row: int, col: int) -> dict[str, float]:
        box = self.view.bounding_box()
        return {"x": box["width"] * (col + 0.5) / self.case.cols, "y": box["height"] * (row + 0.5) / self.case.rows}

    def hover(self, row: int, col: int) -> None:
        self.view.hover(position=self.place(row, col))

    def click(self, row: int, col: int) -> None:
        self.view.click(position=self.place(row, col))

    def shows(self, **data: str) -> None:
        """Wait until the picture is painted for this query, head or key."""
        for name, value in data.items():
            expect(self.root).to_have_attribute(f"data-{name}", value)

    def set(self, **changes: object) -> None:
        self.root.evaluate("(root, changes) => root.vx.set(changes)", changes)
        self.settled()

    def settled(self) -> None:
        painted(self.page)

    def read(self) -> dict:
        self.settled()
        return self.root.evaluate("(root) => root.vx.read()")

    def save(self, form: str) -> tuple[str, bytes]:
        self.root.locator(".more").evaluate("(details) => { details.open = true; }")
        with self.page.expect_download() as download:
            self.root.locator(f"[data-format={form}]").click()
        return download.value.suggested_filename, Path(download.value.path()).read_bytes()


class Tab:
    """Browser tab in which case after case is opened."""

    def __init__(self, page: Page, pages: str):
        self.plain = PlainPage(page, pages)

    def open(self, name: str, width: int = 1440, height: int = 900) -> Canvas:
        self.plain.page.set_viewport_size({"width": width, "height": height})
        open_case(self.plain, name)
        canvas = Canvas(self.plain, name)
        if name not in ("empty", "lost"):
            expect(canvas.root).to_have_attribute("data-query", re.compile("."))
        return canvas


@pytest.fixture(scope="module")
def tab(desktop: BrowserContext, pages: str) -> Iterator[Tab]:
    page = desktop.new_page()
    yield Tab(page, pages)
    page.close()


@pytest.fixture
def show(tab: Tab) -> Callable[..., Canvas]:
    """Show a case in a window of this width and height."""
    return tab.open


@pytest.fixture
def show_in_trouble(tab: Tab, desktop_errors: list[str]) -> Iterator[Callable[..., Canvas]]:
    """Show a case whose files are delayed or lost; the console reports it."""
    yield tab.open
    tab.plain.page.unroute_all()
    desktop_errors.clear()


@pytest.fixture(scope="module")
def phone(chromium: Browser, pages: str) -> Iterator[Tab]:
    """Open a small window with a touch screen."""
    with chromium.new_context(has_touch=True) as context:
        errors: list[str] = []
        hear(context, errors)
        yield Tab(context.new_page(), pages)
        assert errors == []


@pytest.fixture
def show_on_phone(phone: Tab) -> Callable[..., Canvas]:
    return lambda name: phone.open(name, width=390, height=844)


def rows_of(name: str, query: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Slow twin: compute the map, prefix shares and padding of a query for each head from the weights."""
    case = CASES[name]
    attention, positions = attention_of(case, 7)
    maps = np.zeros((case.heads, case.rows * case.cols))
    prefix, padding = np.zeros((case.heads, len(case.prefix))), np.zeros(case.heads)
    if query == "mean":
        queries = range(case.rows * case.cols)
    elif "," in query:
        queries = [int(query.split(",")[0]) * case.cols + int(query.split(",")[1])]
    else:
        queries = [-1 - case.prefix.index(query)]
    for w, at in enumerate(positions):
        for q, token in enumerate(at):
            if token not in queries:
                continue
            for k, key in enumerate(at):
                weights = attention[w, :, q, k] / len(queries)
                if key >= 0:
                    maps[:, key] += weights
                elif key == -32768:
                    padding += weights
                else:
                    prefix[:, -1 - key] += weights
    return maps, prefix, padding


def agrees(read: dict, maps: np.ndarray, prefix: np.ndarray, padding: float) -> None:
    error = max(maps.max(initial=0), prefix.max(initial=0)) / 510 * 1.01 + 1e-7
    np.testing.assert_allclose(read["map"], maps, rtol=0, atol=error)
    np.testing.assert_allclose(read["prefix"], prefix, rtol=0, atol=error)
    assert read["padding"] == pytest.approx(padding, abs=1e-5)


@pytest.mark.parametrize(
    ("name", "row", "col"),
    [
        later("vit", 3, 9),
        always("none", 0, 13),
        always("deit", 13, 0),
        later("registers", 8, 8),
        always("rectangle", 8, 14),
        later("rectangle", 2, 3),
    ],
)
def test_hover_reads_the_packed_numbers(show, name, row, col, thorough):
    canvas = show(name)
    canvas.hover(row, col)
    canvas.shows(query=f"{row},{col}")
    maps, prefix, padding = rows_of(name, f"{row},{col}")
    last = canvas.case.heads - 1
    for head in range(canvas.case.heads) if thorough else (0, 1, last):
        canvas.set(head=head)
        agrees(canvas.read(), maps[head], prefix[head], padding[head])


def rounding(name: str, query: str) -> float:
    """Return the error bound of 8-bit weights in the map of a query: 1/510 of its row's largest weight.

    The rows behind "mean" are rounded one by one, each by its own largest weight, and averaged.
    """
    attention, positions = attention_of(CASES[name], 7)
    largest, patches = attention.max(-1), positions >= 0
    if query == "mean":
        return float((largest * patches[:, None]).sum((0, 2)).max() / patches.sum() / 510)
    return float(largest.max() / 510)


@pytest.mark.parametrize("name", ["vit", "swin"])
def test_fusion_and_the_mean_query_agree_with_numpy(show, name):
    canvas = show(name)
    for query in ("9,6", "mean"):
        canvas.set(query=query)
        canvas.shows(query=query)
        maps, _, padding = rows_of(name, query)
        for how in ("mean", "max", "min"):
            canvas.set(head=how)
            fuse = getattr(np, how)
            read = canvas.read()
            np.testing.assert_allclose(read["map"], fuse(maps, axis=0), rtol=0, atol=rounding(name, query))
            assert read["padding"] == pytest.approx(fuse(padding), abs=1e-5)


def test_scales_end_where_they_say(show):
    canvas = show("deit")
    canvas.set(query="4,4", head=1)
    maps, *_ = rows_of("deit", "4,4")
    attention, _ = attention_of(CASES["deit"], 7)
    for scale, top in (("map", maps[1].max()), ("heads", maps.max()), ("block", attention[..., 2:].max())):
        canvas.set(scale=scale)
        assert canvas.read()["top"] == pytest.approx(top, rel=5e-3)


def mass_mask(values: np.ndarray, keep: float) -> np.ndarray:
    """Compute DINO's mask: renormalise, sort ascending, keep where the cumulative sum exceeds 1 - keep."""
    order = sorted(range(len(values)), key=lambda i: (values[i], i))
    mask, cumulative = np.zeros(len(values), int), 0.0
    for i in order:
        cumulative += values[i] / values.sum()
        mask[i] = cumulative > 1 - keep
    return mask


def test_keep_mass_agrees_with_its_twin(show):
    canvas = show("vit")
    for head, keep in product(("mean", 3), (0.9, 0.6, 0.1)):
        canvas.set(head=head, keep_mass=keep)
        read = canvas.read()
        assert read["mask"] == mass_mask(np.array(read["map"]), keep).tolist()
    canvas.set(keep_mass=1)
    assert canvas.read()["mask"] is None


def test_a_windowed_query_sees_its_window(show):
    canvas = show("swin")
    canvas.shows(query="9,6")
    _, positions = attention_of(CASES["swin"], 7)
    (window,) = [at for at in positions if 9 * 14 + 6 in at]
    read = canvas.read()
    assert {i for i, inside in enumerate(read["inside"]) if inside} == set(window.tolist())
    canvas.hover(0, 0)
    expect(canvas.root.locator(".readout .value")).to_have_text("outside the window")


def test_padding_has_its_own_bar(show):
    canvas = show("padded")
    *_, padding = rows_of("padded", "8,10")
    assert canvas.read()["padding"] == pytest.approx(padding.mean(), abs=1e-5)
    assert padding.mean() > 0.05
    expect(canvas.root.locator(".masses li").last).to_contain_text(f"{100 * padding.mean():.1f}")


def model_of(name: str) -> Capture:
    """Return the capture behind a case of a model."""
    return capture_case(CASES[name].model)


@pytest.mark.parametrize(
    ("name", "blocks", "query", "row", "col"),
    [("pooled", 1, "13,22", 13, 22), ("cut", 1, "1,0", 1, 0), ("units", 0, "1,2", 1, 2), ("units", 2, "3,4", 3, 4)],
)
def test_hover_on_the_queries_draws_the_map_on_the_keys(show, name, blocks, query, row, col):
    """Blocks after the case's first: 16 x 24 queries and 2 x 3 keys, cells beyond the image, windows of two grids."""
    canvas, captured = show(name), model_of(name)
    for step in range(blocks):
        canvas.next_block()
        canvas.shows(block=str((8 + step) % captured.depth))
    block = (7 + blocks) % captured.depth
    grid, keys = captured.grid(block), captured.key_grid(block)
    height, width = captured.input.pixels.shape[:2]
    box = canvas.view.bounding_box()
    y, x = (row + 0.4) * grid.patch_size / height, (col + 0.4) * grid.patch_size / width
    canvas.view.hover(position={"x": x * box["width"], "y": y * box["height"]})
    canvas.shows(query=query)
    for head in range(captured.num_heads(block)):
        canvas.set(head=head)
        truth = vx.compute("attention_map", captured, block=block, head=head, query=(row, col))
        read = canvas.read()
        assert (read["rows"], read["cols"]) == (keys.rows, keys.cols)
        np.testing.assert_allclose(read["map"], truth.values.ravel(), rtol=0, atol=read["error"] * 1.01)
        assert read["padding"] == pytest.approx(truth.padding_mass, abs=1e-5)
    canvas.set(query="mean")
    canvas.page.mouse.move(2, 2)
    canvas.shows(query="mean")
    truth = vx.compute("attention_map", captured, block=block, query="mean", head=0)
    canvas.set(head=0)
    np.testing.assert_allclose(canvas.read()["map"], truth.values.ravel(), rtol=0, atol=canvas.read()["error"] * 1.01)


def test_a_block_is_fetched_where_the_pointer_rests_or_a_person_steps(show):
    canvas, captured = show("pooled"), model_of("pooled")
    tiles, fetched = canvas.root.locator(".small"), []
    expect(tiles).to_have_count(sum(captured.num_heads(block) for block in range(captured.depth)))
    canvas.shows(block=str(captured.depth - 1), part="whole")
    canvas.page.on("request", lambda request: fetched.extend(re.findall(r"/attention/[^/]+/(\d+)", request.url)))
    with canvas.page.expect_request("**/attention/*/0"):
        tiles.first.hover()
    tiles.first.click()
    canvas.shows(block="0", part="whole")
    canvas.view.focus()
    with canvas.page.expect_request("**/attention/*/2"):
        canvas.page.keyboard.press(".")
    canvas.shows(block="1", part="whole")
    assert fetched == ["0", "1", "2"]


def test_the_strip_brings_a_head_onto_the_stage_before_its_block_is_there(show_in_trouble):
    """PVT: 16 x 24 queries and 2 x 3 keys at first, half as many queries in each later stage."""
    canvas, captured = show_in_trouble("pooled"), model_of("pooled")
    tiles, held = canvas.root.locator(".small"), []
    expect(tiles).to_have_count(sum(captured.num_heads(block) for block in range(captured.depth)))
    canvas.page.route("**/attention/*/*", lambda route: held.append(route))
    last = captured.depth - 1
    canvas.shows(block=str(last))
    tiles.first.click()
    canvas.shows(block="0", part="rows", head="0", query="mean")

    def agrees_with_the_view(block: int, head: int) -> None:
        truth = vx.compute("attention_map", captured, block=block, head=head, query="mean").values
        read = canvas.read()
        np.testing.assert_allclose(read["map"], truth.ravel(), rtol=0, atol=read["error"] * 1.01)

    agrees_with_the_view(0, 0)
    expect(tiles.first).to_have_attribute("aria-pressed", "true")
    for route in held:
        route.continue_()
    canvas.page.unroute("**/attention/*/*")
    canvas.shows(block="0", part="whole")
    agrees_with_the_view(0, 0)
    tiles.last.press("ArrowLeft")
    expect(tiles.last).not_to_be_focused()
    before = canvas.root.evaluate("(root) => root.vx.get()")
    assert before["block"] * 100 + int(before["head"]) < last * 100 + captured.num_heads(last) - 1
    canvas.page.wait_for_function("() => !document.querySelector('.vx-canvas').classList.contains('waiting')")
    canvas.view.focus()
    canvas.page.keyboard.press(",")
    canvas.shows(block=str(before["block"] - 1))
    agrees_with_the_view(before["block"] - 1, min(int(before["head"]), captured.num_heads(before["block"] - 1) - 1))


def test_the_rows_of_a_new_value_come_before_its_block(show_in_trouble, tab):
    """Choices made in the meantime stay: a head, a place under the pointer, another block."""
    captured, held = model_of("pooled"), []
    tab.plain.page.route("**/attention/*/*", lambda route: held.append(route))
    for chosen in (None, 1):
        canvas, block = show_in_trouble("pooled"), captured.depth - 1
        canvas.shows(block=str(block), part="rows", query="mean")
        expect(canvas.root.locator(".settings")).to_be_hidden()
        truth = vx.compute("attention_map", captured, block=block, query="mean").values
        read = canvas.read()
        np.testing.assert_allclose(read["map"], truth.ravel(), rtol=0, atol=read["error"] * 1.01)
        canvas.plain.fall_silent()
        canvas.set(head="1", block=chosen)
        canvas.hover(0, 0)
        canvas.root.evaluate("(root) => { root.vx.save('csv'); }")
        with canvas.page.expect_download():
            while held:
                with canvas.page.expect_response(held[0].request.url):
                    held.pop(0).continue_()
        canvas.shows(block=str(block if chosen is None else chosen), part="whole", head="1", query="0,0")


def test_a_block_is_whole_before_python_says_what_stands_around_it(show, tab):
    canvas, captured = show("pooled"), model_of("pooled")
    tab.plain.fall_silent()
    expect(canvas.root.locator(".small")).to_have_count(sum(map(captured.num_heads, range(captured.depth))))
    canvas.root.locator(".small").first.click()
    canvas.shows(block="0", part="whole", head="0", query="mean")
    canvas.set(query="15,23")
    truth = vx.compute("attention_map", captured, block=0, head=0, query=(15, 23)).values
    np.testing.assert_allclose(canvas.read()["map"], truth.ravel(), rtol=0, atol=canvas.read()["error"] * 1.01)
    expect(canvas.root).to_have_class(re.compile("waiting"))


@pytest.mark.thorough
def test_playing_goes_on_until_a_person_does_something(show):
    canvas = show("units")
    first = int(canvas.root.get_attribute("data-block"))
    canvas.root.locator(".play").click()
    canvas.shows(block=str((first + 1) % model_of("units").depth))
    canvas.page.keyboard.press("Shift")
    expect(canvas.root.locator(".play")).to_have_attribute("aria-pressed", "false")


def test_a_held_patch_reads_keys_on_their_own_grid(show):
    canvas, captured = show("pooled"), model_of("pooled")
    canvas.next_block()
    canvas.shows(block="0")
    canvas.set(query="15,23")
    box = canvas.view.bounding_box()
    canvas.view.hover(position={"x": 0.5 * box["width"], "y": 0.9 * box["height"]})
    canvas.shows(query="15,23", key="1,1")
    truth = float(vx.compute("attention_map", captured, block=0, query=(15, 23)).values[1, 1])
    percent = float(canvas.root.locator(".readout .value").text_content().split("\u202f")[0])
    assert percent == pytest.approx(100 * truth, rel=5e-3)
    expect(canvas.root.locator(".notes.site")).to_contain_text("The map lies on the keys, 2 × 3")


def test_a_query_that_does_not_look_is_refused_in_a_sentence(show):
    """CaiT: in the last blocks only the class token attends, in the first ones only the patches."""
    canvas, captured = show("asking"), model_of("asking")
    canvas.shows(block="3", query="cls")
    canvas.click(1, 2)
    canvas.hover(2, 1)
    canvas.shows(query="cls")
    expect(canvas.root.locator(".hint")).to_contain_text(
        "Patches are not queries in this block: the map of the class token"
    )
    assert canvas.root.locator(".from button").count() == 1
    canvas.set(query="0,1")
    canvas.shows(query="cls")
    canvas.set(query="cls")
    canvas.next_block()
    canvas.shows(block="0", query="mean")
    expect(canvas.root.locator(".hint")).to_contain_text("The class token is not a query in this block")
    assert canvas.root.locator(".masses li").count() == 1
    canvas.set(head=1)
    truth = vx.compute("attention_map", captured, block=0, head=1, query="mean")
    read = canvas.read()
    np.testing.assert_allclose(read["map"], truth.values.ravel(), rtol=0, atol=read["error"] * 1.01)
    assert min(read["map"]) < 0
    assert read["top"] == pytest.approx(np.abs(truth.values).max(), rel=0.02)
    expect(canvas.root.locator(".rare .notes")).to_contain_text("blue is below 0")
    expect(canvas.root.locator(".low")).to_have_text(re.compile("^−"))
    canvas.set(mode="map")
    darkest, reddest = np.argmin(read["map"]), np.argmax(read["map"])
    colours = canvas.view.evaluate(
        """(view, cells) => cells.map((i) => [...view.getContext('2d').getImageData(
            (i % 4 + 0.5) / 4 * view.width, (Math.floor(i / 4) + 0.5) / 4 * view.height, 1, 1).data])""",
        [int(darkest), int(reddest)],
    )
    assert colours[0][2] > colours[0][0]
    assert colours[1][0] > colours[1][2] or read["map"][reddest] <= 0


def test_click_pins_hover_then_reads_keys_and_escape_releases(show):
    canvas = show("vit")
    canvas.shows(query="cls")
    canvas.hover(2, 3)
    canvas.shows(query="2,3", key="")
    canvas.click(5, 6)
    canvas.hover(10, 11)
    canvas.shows(query="5,6", key="10,11")
    maps, *_ = rows_of("vit", "5,6")
    percent = float(canvas.root.locator(".readout .value").text_content().split("\u202f")[0])
    assert percent == pytest.approx(100 * maps.mean(0)[10 * 14 + 11], abs=0.06)
    canvas.page.wait_for_function("() => asked.length === 1")
    asked = canvas.page.evaluate("() => asked[0]")
    assert (asked["id"], asked["kind"]) == ("first", "patch_select")
    assert Selection.read(asked["data"], value_of(CASES["vit"], 7)) == Selection(7, "mean", (5, 6), True, asked=1)
    canvas.page.mouse.move(5, 5)
    canvas.shows(query="5,6", key="")
    canvas.view.focus()
    canvas.page.keyboard.press("Escape")
    canvas.shows(query="cls")
    canvas.click(5, 6)
    canvas.click(5, 6)
    canvas.page.mouse.move(5, 5)
    canvas.shows(query="cls")
    canvas.root.get_by_role("button", name="mean over patches").click()
    canvas.shows(query="mean")


def test_an_answer_that_is_overtaken_by_a_later_one_is_ignored(show):
    canvas, case = show("vit"), CASES["vit"]
    for clicks, place in enumerate(((5, 6), (8, 3)), start=1):
        canvas.click(*place)
        canvas.shows(query=f"{place[0]},{place[1]}")
        canvas.page.wait_for_function("(clicks) => asked.length === clicks", arg=clicks)
    for asked, block, expected in ((2, 3, "3"), (1, 4, "3"), (0, 5, "5")):  # 0: another picture
        canvas.plain.send("first", value_of(case, block).model_copy(update={"asked": asked}))
        canvas.page.wait_for_load_state("networkidle")
        canvas.settled()
        canvas.shows(block=expected)


def test_an_answer_whose_file_comes_after_another_choice_is_ignored(show_in_trouble):
    canvas, case, held = show_in_trouble("pooled"), CASES["pooled"], []
    expect(canvas.root.locator(".small").first).to_be_visible()
    canvas.plain.fall_silent()
    canvas.page.route("**/attention/*/1", lambda route: held.append(route))
    canvas.set(block=1)
    canvas.shows(block="1", part="rows")
    canvas.plain.send("first", value_of(case, 1).model_copy(update={"asked": 1}))
    canvas.set(block=0)
    canvas.shows(block="0", part="whole")
    with canvas.page.expect_response(held[0].request.url):
        held[0].continue_()
    canvas.page.wait_for_load_state("networkidle")
    canvas.settled()
    canvas.shows(block="0", part="whole")


def test_rows_that_come_after_their_block_change_nothing(show_in_trouble):
    canvas, case, held = show_in_trouble("pooled"), CASES["pooled"], []
    expect(canvas.root.locator(".small").first).to_be_visible()
    canvas.plain.fall_silent()
    for address in ("**/attention/*/1", "**/heads.bin?again"):
        canvas.page.route(address, lambda route: held.append(route))
    canvas.set(block=1)
    value = value_of(case, 1).model_copy(update={"asked": 1})
    again = value.strip.rows.model_copy(update={"url": f"{value.strip.rows.url}?again"})
    canvas.plain.send("first", value.model_copy(update={"strip": value.strip.model_copy(update={"rows": again})}))
    while len(held) < 2:
        canvas.page.wait_for_timeout(10)
    block, rows = held
    block.continue_()
    canvas.shows(block="1", part="whole")
    count = canvas.root.get_attribute("data-shown")
    with canvas.page.expect_response(rows.request.url):
        rows.continue_()
    expect(canvas.root).to_have_attribute("aria-busy", "false")
    canvas.shows(block="1", part="whole", shown=count)


def test_a_value_that_is_sent_again_resets_nothing(show_in_trouble):
    canvas, case = show_in_trouble("pooled"), CASES["pooled"]
    expect(canvas.root.locator(".small").first).to_be_visible()
    canvas.plain.fall_silent()
    filled = value_of(case, 2).model_copy(update={"filled": 7, "head": "1"})
    canvas.plain.send("first", filled)
    canvas.shows(block="2", head="1", part="whole")
    canvas.set(block=0, head="0")
    for number, block, head in ((7, "0", "0"), (8, "2", "1")):
        canvas.plain.send("first", filled.model_copy(update={"filled": number}))
        canvas.page.wait_for_load_state("networkidle")
        canvas.settled()
        canvas.shows(block=block, head=head)


def test_the_page_hears_of_the_block_that_was_asked_for(show_in_trouble):
    """Another canvas that takes an old block from the address would bring it back to the first."""
    canvas, case = show_in_trouble("pooled"), CASES["pooled"]
    canvas.plain.send("first", value_of(case, 2).model_copy(update={"filled": 7, "strip": None}))
    canvas.shows(block="2", part="whole")
    expect(canvas.root.locator(".below")).to_be_hidden()
    canvas.plain.fall_silent()
    canvas.page.evaluate("document.addEventListener('vx-select', ({detail}) => { window.selected = detail; })")
    canvas.set(block=0)
    canvas.page.wait_for_function("() => window.selected?.block === 0")  # the value before may be told of first
    canvas.shows(block="2")


def test_heads_and_controls(show):
    canvas = show("vit")
    canvas.root.locator(".thumb", has_text="head 5").click()
    canvas.shows(head="5")
    expect(canvas.root.locator(".thumb.chosen")).to_contain_text("head 5")
    canvas.page.wait_for_function("() => asked.at(-1)?.data.head === '5'")
    canvas.root.locator(".fusion label", has_text="max").click()
    canvas.shows(head="max")
    canvas.root.locator(".rare summary").click()
    canvas.root.get_by_label("Colours").select_option("cividis")
    canvas.root.get_by_label("Smooth").check()
    canvas.root.get_by_label("Opacity").fill("35")
    canvas.root.get_by_label("Keep mass").fill("60")
    canvas.root.locator(".mode label", has_text="reveal").click()
    chosen = canvas.root.evaluate("(root) => root.vx.get()")
    assert chosen == {
        "block": 7, "head": "max", "query": "cls", "pinned": False, "mode": "reveal", "colormap": "cividis",
        "opacity": 0.35, "scale": "map", "keep_mass": 0.6, "smooth": True, "sharpen": 1, "settings": {},
    }  # fmt: skip


def test_keyboard(show):
    canvas = show("rectangle")
    canvas.view.focus()
    press = canvas.page.keyboard.press
    press("ArrowRight")
    canvas.shows(query="4,7")
    press("ArrowDown")
    press("ArrowRight")
    canvas.shows(query="5,8")
    for _ in range(20):
        press("ArrowUp")
    canvas.shows(query="0,8")
    press("]")
    canvas.shows(head="0")
    press("PageUp")
    press("[")
    canvas.shows(head="3")
    press("x")
    canvas.shows(head="max")
    press("Home")
    canvas.shows(query="cls")
    expect(canvas.root.locator(".live")).to_contain_text("class token → keys")
    expect(canvas.view).to_have_attribute("aria-label", re.compile("class token → keys, maximum of 4 heads"))


def test_choices_survive_the_next_block(show):
    canvas = show("vit")
    canvas.set(head=2, query="4,5", colormap="greys", keep_mass=0.5)
    canvas.next_block()
    canvas.shows(block="8", head="2", query="4,5")
    chosen = canvas.root.evaluate("(root) => root.vx.get()")
    assert (chosen["colormap"], chosen["keep_mass"], chosen["pinned"]) == ("greys", 0.5, True)
    read, (attention, _) = canvas.read(), attention_of(CASES["vit"], 8)
    np.testing.assert_allclose(read["map"], attention[0, 2, 1 + 4 * 14 + 5, 1:], rtol=0, atol=read["error"] * 1.01)


def test_the_page_hears_of_a_selection(show):
    canvas = show("vit")
    canvas.page.evaluate("() => document.addEventListener('vx-select', (event) => { window.heard = event.detail; })")
    canvas.set(query=[1, 2], head="min")
    canvas.page.wait_for_function("() => window.heard?.query === '1,2' && window.heard.head === 'min'")


def test_nonsense_from_outside_changes_nothing(show):
    canvas = show("vit")
    before = canvas.root.evaluate("(root) => root.vx.get()")
    canvas.set(head=99, query="99,99", mode="x", colormap="jet", scale=3, opacity="a", keep_mass=None, smooth="yes")
    canvas.set(query="dist", colormap="toString", head="constructor")
    assert canvas.root.evaluate("(root) => root.vx.get()") == before


def test_a_query_that_is_not_here_is_asked_of_python(show):
    canvas = show("partial")
    canvas.shows(query="cls")
    canvas.hover(3, 4)
    canvas.shows(query="cls", key="3,4")
    canvas.click(10, 11)
    canvas.shows(query="10,11")
    attention, _ = attention_of(CASES["partial"], 7, 1 + 10 * 24 + 11)
    read = canvas.read()
    np.testing.assert_allclose(read["map"], attention[0, :, 0, 1:].mean(0), rtol=0, atol=read["error"] * 1.01)


def test_linked_canvases_share_the_query_by_place(show):
    canvas = show("linked")
    second = canvas.page.locator("#second .vx-canvas")
    expect(second).to_have_attribute("data-query", "cls")
    canvas.hover(10, 3)
    expect(second).to_have_attribute("data-query", "5,1")
    canvas.page.mouse.move(2, 2)
    expect(second).to_have_attribute("data-query", "cls")
    canvas.click(13, 13)
    expect(second).to_have_attribute("data-query", "6,6")
    canvas.set(head=3)
    expect(second).to_have_attribute("data-head", "3")
    canvas.set(head=11)  # the second has six
    canvas.set(mode="reveal")
    expect(second.locator(".mode input[value=reveal]")).to_be_checked()
    expect(second).to_have_attribute("data-head", "3")


def test_pixels_are_the_colours_of_the_map(show):
    canvas = show("vit")
    canvas.set(mode="map", colormap="greys", head=0)
    canvas.page.mouse.move(2, 2)
    read = canvas.read()
    got = canvas.view.evaluate(
        """(view) => Array.from({length: 196}, (_, i) => view.getContext('2d').getImageData(
            (i % 14 + 0.5) / 14 * view.width, (Math.floor(i / 14) + 0.5) / 14 * view.height, 1, 1).data[0])"""
    )
    order = np.argsort(read["map"], kind="stable")
    assert (np.diff(np.array(got)[order]) >= 0).all()
    assert (got[order[-1]], got[order[0]]) == (255, pytest.approx(0, abs=12))


def test_saved_pictures(show):
    canvas = show("random")
    canvas.set(head=4, query="3,7", mode="map")
    for form, ratio in (("png2", 2), ("png4", 4)):
        name, content = canvas.save(form)
        assert name == "attention_map_vit_small_patch16_224_plain_block7_head4_3-7.png"
        with PIL.Image.open(io.BytesIO(content)) as image:
            assert image.width == 640 * ratio
            assert image.height > 640 * ratio
            assert len(image.convert("RGB").getcolors(2**24)) > 100
    name, content = canvas.save("svg")
    assert name.endswith(".svg")
    figure = ET.fromstring(content.decode())
    text = " ".join(node.text for node in figure.iter("{http://www.w3.org/2000/svg}text"))
    for part in (
        "patch in row 3, column 7 → keys",
        "head 4",
        "block 7",
        "vit_small_patch16_224",
        "RANDOM weights",
        "softmax",
    ):
        assert part in text
    assert len(list(figure.iter("{http://www.w3.org/2000/svg}rect"))) > 196


def test_svg_of_a_window(show):
    canvas = show("swin")
    for smooth in (False, True):
        canvas.set(smooth=smooth, keep_mass=0.7)
        figure = ET.fromstring(canvas.save("svg")[1].decode())
        assert len(list(figure.iter("{http://www.w3.org/2000/svg}path"))) == 2
        assert len(list(figure.iter("{http://www.w3.org/2000/svg}image"))) == 1 + smooth


def test_saved_numbers(show):
    canvas = show("registers")
    canvas.set(head=2, query="cls", keep_mass=0.5)
    name, content = canvas.save("csv")
    assert name == "attention_map_vit_small_patch16_224_plain_block7_head2_cls.csv"
    rows = list(csv.DictReader(content.decode("utf-8-sig").splitlines()))
    read = canvas.read()
    assert [row["token"] for row in rows[:5]] == list(CASES["registers"].prefix)
    assert len(rows) == 5 + 16 * 16
    np.testing.assert_allclose([float(row["share"]) for row in rows], [*read["prefix"], *read["map"]], rtol=1e-5)
    assert [int(row["shown"]) for row in rows[5:]] == read["mask"]
    assert {(row["view"], row["settings"], row["head"], row["query"]) for row in rows} == {
        ("attention_map", "block=7", "2", "cls")
    }


def test_the_map_is_a_table_too(show):
    canvas = show("rectangle")
    canvas.root.locator(".more").evaluate(
        "(details) => { details.open = details.querySelector('.vx-table').open = true; }"
    )
    cells = canvas.root.locator(".vx-table td")
    expect(cells).to_have_count(9 * 15)
    canvas.set(query="2,3", head=1)
    expect(canvas.root.locator(".vx-table caption")).to_contain_text("patch in row 2, column 3 → keys · head 1")
    maps, *_ = rows_of("rectangle", "2,3")
    shares = [float(text.removesuffix("\u202f%").removeprefix("<\u202f")) / 100 for text in cells.all_text_contents()]
    np.testing.assert_allclose(shares, maps[1], rtol=0, atol=maps[1].max() / 510 + 1e-4)  # three digits


def test_a_payload_that_cannot_be_read_says_so(show_in_trouble):
    canvas = show_in_trouble("lost")
    expect(canvas.root.locator(".failed")).to_contain_text("could not be loaded")
    expect(canvas.root.get_by_role("button", name="Try again")).to_be_visible()


def test_a_failed_fetch_keeps_the_picture_and_can_be_tried_again(show_in_trouble):
    canvas = show_in_trouble("vit")
    canvas.set(query="4,5")
    canvas.page.route("**/attention.bin", lambda route: route.abort())
    canvas.next_block()
    expect(canvas.root.locator(".failed")).to_be_visible()
    canvas.shows(block="7", query="4,5")
    canvas.page.unroute("**/attention.bin")
    canvas.root.get_by_role("button", name="Try again").click()
    canvas.shows(block="8", query="4,5")
    expect(canvas.root.locator(".failed")).to_be_hidden()


def test_an_answer_that_comes_too_late_is_not_painted(show_in_trouble):
    canvas, held = show_in_trouble("vit"), []
    canvas.page.route("**/attention.bin", lambda route: route.continue_() if held else held.append(route))
    canvas.next_block()
    while not held:
        canvas.page.wait_for_timeout(20)  # lets the handler run
    canvas.next_block()
    canvas.shows(block="9")
    with canvas.page.expect_response(held[0].request.url):
        held[0].continue_()
    canvas.settled()
    canvas.shows(block="9")


def test_an_empty_value_holds_the_place(show_in_trouble):
    canvas = show_in_trouble("empty")
    expect(canvas.root.locator(".empty")).to_be_visible()
    box = canvas.root.locator(".picture").bounding_box()
    assert box["width"] == pytest.approx(box["height"], abs=1)


@pytest.mark.parametrize(("name", "width"), in_turn(["many", "chinese", "rectangle", "vit"], [390, 768]))
def test_nothing_overflows_on_a_phone(show, name, width):
    canvas = show(name, width=width, height=844)
    assert canvas.page.evaluate("() => document.documentElement.scrollWidth") <= width
    inside = canvas.root.bounding_box()
    for node in canvas.root.locator("button, select, input[type=range], .picture, .segment, .heads").all():
        box = node.bounding_box() or inside
        assert box["x"] >= inside["x"] - 1
        assert box["x"] + box["width"] <= inside["x"] + inside["width"] + 1


def test_targets_are_large_and_nothing_jumps_on_hover(show):
    canvas = show("vit")
    # a small map may be smaller: each of them can be reached by the arrows and thumbs above
    for node in canvas.root.locator(
        "button:not(.small), select, .segment, .thumb, input[type=range], input[type=checkbox]"
    ).all():
        box = node.bounding_box()
        if box:
            assert min(box["width"], box["height"]) >= 24
    before = canvas.root.locator(".save").bounding_box(), canvas.root.bounding_box()
    canvas.hover(12, 12)
    canvas.shows(query="12,12")
    assert (canvas.root.locator(".save").bounding_box(), canvas.root.bounding_box()) == before


def test_an_untouched_first_picture_sharpens_by_itself_until_somebody_acts(show):
    """The server is busy at first. Nothing of it is a choice: the selection stays, and hovering ends it for good."""
    canvas = show("vit")
    plain, page, requests = canvas.read(), canvas.page, []

    def answer(route: Route) -> None:
        requests.append(parse_qs(urlsplit(route.request.url).query))
        cells = int(requests[-1]["sharpen"][0]) * 14 * 14
        if len(requests) == 1:
            route.fulfill(status=204)
        else:
            route.fulfill(body=np.full(cells, 0.25, "<f4").tobytes(), content_type="application/octet-stream")

    address = {"sharpened": "./sharpened/it?view=attention_map", "sharpened_by": ["block", "head", "query"]}
    value = value_of(canvas.case, 7).model_copy(update={**address, "sharpens_itself": True})
    page.route("**/sharpened/**", answer)
    canvas.plain.open(("first", AttentionCanvas, value))
    below = canvas.root.locator(".rare")
    canvas.shows(query="cls")
    before = below.bounding_box()
    fine = "() => document.querySelector('#first .vx-canvas').vx?.read()?.fine?.length === 16 * 14 * 14"
    page.wait_for_function(fine)
    assert [(one["sharpen"], one["idle"], one["query"]) for one in requests] == [
        (["4"], ["1"], ["cls"]),
        (["4"], ["1"], ["cls"]),
        (["16"], ["1"], ["cls"]),
    ]
    expect(canvas.root.locator(".sharpen input:checked")).to_have_value("16")
    assert below.bounding_box() == before  # it has not moved
    assert canvas.root.evaluate("(root) => root.vx.get().sharpen") == 1
    read = canvas.read()
    assert read["map"] == plain["map"]
    assert (read["top"], set(read["fine"])) == (0.25, {0.25})
    canvas.hover(3, 4)
    canvas.shows(query="3,4")
    page.mouse.move(0, 0)
    canvas.shows(query="cls")
    assert canvas.read() == plain
    expect(canvas.root.locator(".sharpen input:checked")).to_have_value("1")
    assert len(requests) == 3
    page.unroute_all()


def test_touch_tap_picks(show_on_phone):
    canvas = show_on_phone("vit")
    box = canvas.view.bounding_box()
    at = canvas.place(6, 2)
    canvas.page.touchscreen.tap(box["x"] + at["x"], box["y"] + at["y"])
    canvas.shows(query="6,2")
    assert canvas.root.evaluate("(root) => root.vx.get().pinned")


def test_touch_drag_moves_the_query_and_holds_the_last(show_on_phone):
    canvas = show_on_phone("vit")
    box, session = canvas.view.bounding_box(), canvas.page.context.new_cdp_session(canvas.page)

    def touch(kind: str, *cells: tuple[int, int]) -> None:
        at = [canvas.place(*cell) for cell in cells]
        points = [{"x": box["x"] + point["x"], "y": box["y"] + point["y"]} for point in at]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    touch("touchStart", (2, 2))
    touch("touchMove", (4, 5))
    for _ in range(2):  # a finger that rests: Chromium draws between the last two places that it was told
        touch("touchMove", (7, 9))
    canvas.shows(query="7,9")
    assert not canvas.root.evaluate("(root) => root.vx.get().pinned")
    touch("touchEnd")
    canvas.settled()
    canvas.shows(query="7,9", key="")
    assert canvas.root.evaluate("(root) => root.vx.get().pinned")


def test_a_single_head_needs_no_strip(show):
    canvas = show("single")
    expect(canvas.root.locator(".of-heads")).to_be_hidden()
    maps, prefix, padding = rows_of("single", "cls")
    agrees(canvas.read(), maps[0], prefix[0], padding[0])
