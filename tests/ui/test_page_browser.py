"""A walk through the page in a real browser: everything visible is right, and nothing fails."""

from __future__ import annotations

import re
import urllib.parse
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import PIL.Image
import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect

import vitexplorer as vx
from tests.helpers.app import Visit, Visiting
from tests.helpers.plain_page import PlainPage
from tests.helpers.room_checks import (
    PATIENCE,
    SHIFTS,
    assert_fits,
    choose_model,
    go_to,
    painted,
    wait_for_room,
    wait_for_view,
)
from tests.helpers.thorough import quick
from vitexplorer.core.settings import ASSETS
from vitexplorer.core.text import Language
from vitexplorer.ui.page import ROOMS
from vitexplorer.ui.shell.header import Header, header_data
from vitexplorer.ui.shell.rail import Rail, RailData, RailItem

pytestmark = pytest.mark.browser


def canvas_state(page: Page, room: str = "attention") -> dict:
    """Return the numbers on a canvas."""
    page.wait_for_function(f"() => document.querySelector('#vx-{room}-canvas .vx-canvas')?.dataset.state === 'ready'")
    painted(page)
    return page.wait_for_function(
        f"() => document.querySelector('#vx-{room}-canvas .vx-canvas').vx.read()"
    ).json_value()


def place_of(page: Page, row: int, col: int, room: str) -> dict[str, float]:
    """Return the middle of a patch in pixels of the canvas."""
    state, box = canvas_state(page, room), page.locator(f"#vx-{room}-canvas .view").bounding_box()
    return {"x": (col + 0.5) / state["cols"] * box["width"], "y": (row + 0.5) / state["rows"] * box["height"]}


def hover_patch(page: Page, row: int, col: int, room: str = "attention") -> dict:
    """Point at a patch and read the map."""
    page.locator(f"#vx-{room}-canvas .view").hover(position=place_of(page, row, col, room))
    return canvas_state(page, room)


def parameters(page: Page) -> dict[str, str]:
    return dict(urllib.parse.parse_qsl(urllib.parse.urlparse(page.url).query))


def test_a_persons_path(visit: Visit, url: str, tmp_path: Path) -> None:
    page = visit.page
    visit.open(url)
    first = canvas_state(page)
    assert first["query"] == "cls"
    dino = vx.capture(vx.load_model("scenes_dino_patch16_192"), ASSETS / "examples" / "scene_gear.webp", size=384)
    truth = vx.compute("attention_map", dino).values.ravel()
    np.testing.assert_allclose(first["map"], truth, atol=truth.max() / 255)
    choose_model(page, "scenes_vit_patch16_192")
    page.wait_for_function("() => document.querySelector('#vx-attention-canvas .vx-canvas').vx.read()?.rows === 12")
    first, model = canvas_state(page), vx.load_model("scenes_vit_patch16_192")
    picture = vx.capture(model, ASSETS / "examples" / "scene_gear.webp")

    maps = [hover_patch(page, row, col)["map"] for row, col in ((1, 2), (6, 6), (9, 3))]
    assert all(np.abs(np.subtract(one, first["map"])).max() > 1e-4 for one in maps)
    truth = vx.compute("attention_map", picture, query=(9, 3)).values.ravel()
    np.testing.assert_allclose(maps[-1], truth, atol=2 * truth.max() / 255)

    page.mouse.move(0, 0)
    page.locator("#vx-attention-canvas .heads label").nth(2).click()  # the fused map is first
    assert canvas_state(page)["head"] == "1"
    page.locator("#vx-attention-canvas .blocks .before").click()
    page.wait_for_function("() => document.querySelector('#vx-attention-canvas .vx-canvas').dataset.block === '4'")
    state = canvas_state(page)
    truth = vx.compute("attention_map", picture, block=4, head=1).values.ravel()
    np.testing.assert_allclose(state["map"], truth, atol=2 * truth.max() / 255)
    page.wait_for_function("() => new URLSearchParams(location.search).get('block') === '4'")
    assert {"block": "4", "head": "1", "query": "cls"}.items() <= parameters(page).items()

    photo = tmp_path / "照片 1.png"
    PIL.Image.fromarray(np.random.default_rng(0).integers(0, 255, (300, 400, 3), dtype=np.uint8)).save(photo)
    page.locator("#vx-image .file").set_input_files(photo)
    page.wait_for_function("() => new URLSearchParams(location.search).get('image')?.startsWith('upload-')")
    chip = page.locator("#vx-image .chip b")
    expect(chip).to_have_text("照片 1.png")
    page.locator(".vx-header .link").click()
    expect(page.locator(".vx-header .own")).to_contain_text("for 2 hours")
    page.keyboard.press("Escape")
    uploaded = vx.compute("attention_map", vx.capture(model, photo), block=5).values.ravel()
    page.wait_for_function("() => document.querySelector('#vx-attention-canvas .vx-canvas').dataset.block === '5'")
    canvas_state(page)
    page.locator("#vx-attention-canvas .heads label").first.click()
    np.testing.assert_allclose(canvas_state(page)["map"], uploaded, atol=2 * uploaded.max() / 255)

    page.locator("#vx-model .chip").click()
    page.get_by_role("radio", name="random").check()
    page.keyboard.press("Escape")
    expect(page.locator(".vx-status .warning")).to_be_visible()
    choose_model(page, "swin_tiny_patch4_window7_224")
    page.wait_for_function("() => document.querySelector('#vx-attention-canvas .vx-canvas').vx.read()?.rows === 7")
    assert canvas_state(page)["cols"] == 7

    rooms = page.locator(".vx-rail")
    rooms.get_by_role("button", name="Flow").click()
    state = canvas_state(page, "flow")
    assert (state["rows"], state["cols"]) == (56, 56)
    assert sum(state["map"]) == pytest.approx(1, abs=0.02)

    rooms.get_by_role("button", name="Size & cost").click()
    expect(page.get_by_text("28,288,354").first).to_be_visible()
    assert parameters(page)["room"] == "size"
    page.go_back()
    expect(page.locator("#vx-flow-canvas")).to_be_visible()
    page.go_forward()
    expect(page.get_by_text("28,288,354").first).to_be_visible()


PICTURE = {"image": "scene_ring", "model": "scenes_vit_patch16_192", "block": "2", "head": "1", "query": "4,7"}
DISPLAY = {
    "mode": "map", "colormap": "viridis", "scale": "heads", "opacity": "0.35", "smooth": "1", "keep": "0.6",
    "sharpen": "4",
}  # fmt: skip
FLOW = {"fusion": "max", "discard": "0.9", "start": "2"}


@pytest.fixture(scope="module")
def linked(visiting: Visiting, url: str) -> Iterator[Visit]:
    """Open the page by a link, for all tests that go on from there."""
    with visiting() as visit:
        visit.open(url, room="attention", **PICTURE, **DISPLAY, **FLOW)
        yield visit


def test_a_link_opens_the_very_picture(linked: Visit) -> None:
    page = linked.page
    state = canvas_state(page)
    display = {**DISPLAY, "opacity": 0.35, "smooth": True, "keep_mass": 0.6, "sharpen": 4}
    display.pop("keep")
    chosen = page.locator("#vx-attention-canvas .vx-canvas").evaluate("(root) => root.vx.get()")
    assert display.items() <= chosen.items()
    assert (state["query"], state["head"]) == ("4,7", "1")
    expect(page.locator("#vx-attention-canvas .question")).to_contain_text("row 4, column 7")
    model = vx.load_model("scenes_vit_patch16_192")
    capture = vx.capture(model, ASSETS / "examples" / "scene_ring.webp")
    truth = vx.compute("attention_map", capture, block=2, head=1, query=(4, 7)).values.ravel()
    np.testing.assert_allclose(state["map"], truth, atol=truth.max() / 255)
    canvas = page.locator("#vx-attention-canvas .vx-canvas")
    canvas.evaluate("(root) => { for (const block of [3, 1, 4]) root.vx.set({block}); }")  # faster than the answers
    expect(canvas.and_(page.locator('[data-block="4"][data-part="whole"]'))).to_have_count(1)
    truth = vx.compute("attention_map", capture, block=4, head=1, query=(4, 7)).values.ravel()
    np.testing.assert_allclose(canvas_state(page)["map"], truth, atol=truth.max() / 255)
    go_to(page, "flow")
    canvas = page.locator("#vx-flow-canvas .vx-canvas")
    truth = vx.compute("attention_rollout", capture, query=(4, 7), head_fusion="max", discard_ratio=0.9, start_block=2)
    np.testing.assert_allclose(canvas_state(page, "flow")["map"], truth.values.ravel(), atol=truth.values.max() / 255)
    assert display.items() <= canvas.evaluate("(root) => root.vx.get()").items()
    canvas.locator(".view").click(position=place_of(page, 6, 2, "flow"))
    expect(canvas).to_have_attribute("data-query", "6,2")  # Python was asked: a rollout travels row by row
    truth = vx.compute("attention_rollout", capture, query=(6, 2), head_fusion="max", discard_ratio=0.9, start_block=2)
    np.testing.assert_allclose(canvas_state(page, "flow")["map"], truth.values.ravel(), atol=truth.values.max() / 255)
    canvas.locator(".before").click()  # the rollout grows by a block
    expect(canvas).to_have_attribute("data-block", "1")
    truth = vx.compute("attention_rollout", capture, query=(6, 2), head_fusion="max", discard_ratio=0.9, start_block=1)
    np.testing.assert_allclose(canvas_state(page, "flow")["map"], truth.values.ravel(), atol=truth.values.max() / 255)
    canvas.locator(".mode label", has_text="reveal").click()
    canvas.locator(".settings select").select_option("min")
    page.wait_for_function("() => new URLSearchParams(location.search).get('fusion') === 'min'")
    flow = {"fusion": "min", "discard": "0.9", "start": "1"}
    gone_on = {**PICTURE, "block": "4", **DISPLAY, **flow, "query": "6,2", "mode": "reveal"}
    assert gone_on.items() <= parameters(page).items()
    canvas.locator(".mode label", has_text="overlay").click()  # how it begins
    page.wait_for_function("() => !new URLSearchParams(location.search).has('mode')")


def test_what_is_chosen_stays_chosen_from_room_to_room(linked: Visit) -> None:
    page = linked.page
    thread = page.locator(".vx-thread li")
    expect(thread.nth(1)).to_have_text("Patch row 6, column 2")
    expect(thread.nth(3)).to_contain_text("block 4, head 1: ")
    go_to(page, "tokens")
    page.locator("#vx-tokens-panel .vx-previews button", has_text="Patch similarity").click()
    wait_for_view(page, "tokens", "patch_similarity")
    assert {"v.block": "4", "v.query": "6,2"}.items() <= parameters(page).items()
    page.locator('#vx-tokens-panel [name="block"]').fill("1")
    page.locator('#vx-tokens-panel [name="block"]').press("Enter")
    expect(thread.nth(3)).to_contain_text("block 1, head 1: ")
    thread.nth(3).locator("button").click()
    canvas = page.locator('#vx-attention-canvas .vx-canvas[data-block="1"][data-part="whole"]')
    expect(canvas).to_have_attribute("data-query", "6,2")
    thread.nth(4).locator("button").click()
    wait_for_view(page, "outputs", "logit_attribution")
    page.go_back()
    expect(canvas).to_be_visible()
    for width, height in SIZES:  # at the foot of the window, on a phone over the rail, with nothing over it
        page.set_viewport_size({"width": width, "height": height})
        painted(page)
        assert_fits(page, "attention")
        assert page.evaluate(FOOT) == [62 if width < 760 else 0, 0], width
    page.set_viewport_size({"width": 1440, "height": 900})


FOOT = """() => { const {left, top, bottom} = document.querySelector('.vx-thread li').getBoundingClientRect();
  const isOnTop = document.elementFromPoint(left + 20, (top + bottom) / 2).closest('.vx-thread');
  const strip = document.getElementById('vx-thread').getBoundingClientRect();
  return isOnTop && [innerHeight - strip.bottom, document.documentElement.clientWidth - strip.right]; }"""
"""Script that measures the strip's distances from the window's lower and right edge; null where something covers it"""


def test_wrong_files_get_a_sentence(linked: Visit, tmp_path: Path) -> None:
    go_to(linked.page, "attention")
    before = canvas_state(linked.page)
    broken = tmp_path / "broken.png"
    broken.write_bytes(b"\x89PNG\r\n\x1a\n not a picture")
    linked.page.locator("#vx-image .file").set_input_files(broken)
    message = linked.page.locator("#vx-image .alert")
    expect(message).to_have_text(re.compile(r"^broken\.png: .*picture"))
    assert "Traceback" not in message.inner_text()
    assert linked.forgive() == 1
    assert canvas_state(linked.page)["map"] == before["map"]


def test_views_are_saved_stepped_through_and_exported(visit: Visit, url: str, tmp_path: Path) -> None:
    page, tray = visit.page, visit.page.locator(".vx-kept")
    visit.open(url, model="scenes_vit_patch16_192", block="2", head="1")
    before = canvas_state(page)["map"]
    tray.locator(".chip").click()
    tray.locator(".keep").click()
    expect(tray.locator(".list img")).to_have_count(1)
    page.keyboard.press("Escape")
    page.locator('.vx-rail [data-room="size"]').click()
    choose_model(page, "scenes_dino_patch16_192")
    expect(page.locator("#vx-model .vx-model")).to_have_attribute("data-model", "scenes_dino_patch16_192")
    tray.locator(".chip").click()
    tray.locator(".keep").click()
    expect(tray.locator(".list .open")).to_have_count(2)
    files = {}
    for button in ("page", "export"):
        with page.expect_download() as downloading:
            tray.locator(f".{button}").click()
        files[button] = tmp_path / downloading.value.suggested_filename
        downloading.value.save_as(files[button])
    tray.locator(".file").set_input_files(files["export"])
    expect(tray.locator(".list .open")).to_have_count(4)
    page.keyboard.press("Escape")

    page.locator(".vx-header .lecture-mode").click()
    page.keyboard.press("PageUp")
    expect(page.locator(".vx-status")).to_have_attribute("data-text", re.compile(r"^scenes_vit.*\bms\b"))
    page.wait_for_function("() => document.querySelector('#vx-attention-canvas .vx-canvas')?.dataset.block === '2'")
    state = canvas_state(page)
    assert (state["map"], state["head"]) == (before, "1")
    there = {"model": "scenes_vit_patch16_192", "block": "2", "head": "1", "lecture": "1"}
    assert there.items() <= parameters(page).items()

    assert files["page"].stat().st_size < 5e6
    home = visit.context.new_page()
    home.goto(files["page"].as_uri())
    slides = home.locator("section")
    expect(slides).to_have_count(2)
    assert slides.nth(0).locator("img").evaluate("image => image.naturalWidth") > 400
    home.keyboard.press("PageDown")
    expect(slides.nth(1)).to_be_visible()
    expect(slides.nth(0)).to_be_hidden()
    home.close()
    visit.requests = [address for address in visit.requests if not address.startswith("file:")]


def test_a_column_fades_while_there_is_more_below(linked: Visit) -> None:
    page = linked.page
    go_to(page, "flow")
    page.emulate_media(reduced_motion="no-preference")
    fades = """(length) => [...document.querySelectorAll('.vx-frame .side')].filter((side) => side.checkVisibility())
        .every((side) => getComputedStyle(side).getPropertyValue('--vx-fade') === length)"""
    page.wait_for_function(fades, arg="36px")
    page.locator(".vx-frame .side:visible").evaluate("(side) => side.scrollTo(0, side.scrollHeight)")
    page.wait_for_function(fades, arg="0px")
    page.emulate_media(reduced_motion="reduce")


@pytest.mark.thorough
@pytest.mark.parametrize(("width", "height"), [(1440, 900), (390, 844)])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_room_that_is_opened_fits_its_window(chromium, url: str, width: int, height: int, theme: str) -> None:
    """Without `--thorough` windows are resized in test_rooms_browser.py."""
    visit = Visit(chromium, width, height)
    for room in (sign.key for sign in ROOMS):
        visit.open(url, __theme=theme, room=room)
        assert_fits(visit.page, room)
    visit.close()


def test_the_picture_is_sent_once(chromium, url: str) -> None:
    """To the canvas, and to the thumbnails that show it a moment later."""
    visit = Visit(chromium)
    visit.open(url)
    url_of_thumbnail = (
        "getComputedStyle(document.querySelector('.vx-thread i')).backgroundImage.match(/^url[(].(.*).[)]$/)?.[1]"
    )
    address = visit.page.wait_for_function(url_of_thumbnail).json_value()
    sent = visit.page.evaluate(
        """async (url) => {
          const image = new Image();
          image.src = url;
          await image.decode(); // the thumbnails have it then
          const entries = performance.getEntriesByName(url, 'resource');
          return entries.filter(({transferSize}) => transferSize > 1000).length;
        }""",
        address,
    )
    assert sent == 1
    visit.close()


def test_an_unknown_model_is_named(linked: Visit, url: str) -> None:
    page = linked.page
    page.goto(f"{url}?model=vit_tinny_patch16_224")
    page.wait_for_selector('.vx-status[data-kind="error"]')
    expect(page.locator(".vx-status .line")).to_contain_text("Did you mean")
    page.get_by_role("button", name="Show one").click()
    expect(page.locator(".vx-status")).to_have_attribute("data-kind", "ready")
    assert parameters(page)["model"] == "scenes_dino_patch16_192"


def test_the_reason_of_a_refusal_appears(linked: Visit, url: str) -> None:
    page = linked.page
    for language, error, message in (
        ("en", "This picture is gone.", "This picture is gone."),
        ("zh", None, "程序内部出错"),
    ):
        if language == "zh":
            linked.open(url, lang=language)
        answer = partial(Route.fulfill, status=422, json={"error": error})
        page.route("**/run/predict**", answer, times=1)  # what else the page asks is answered
        page.locator("#vx-attention-canvas .blocks .before").click()
        expect(page.locator(".vx-status[data-kind='error'] .line")).to_contain_text(message)
        assert linked.forgive() == 1


def test_the_rail_shows_every_room_in_a_low_window(linked: Visit) -> None:
    linked.page.set_viewport_size({"width": 1366, "height": 768})
    expect(linked.page.locator(".vx-rail [data-room]")).to_have_count(len(ROOMS))
    assert linked.page.locator("#vx-rail").evaluate("rail => rail.scrollHeight <= rail.clientHeight")


COVERED = """() => {
  scrollTo(0, 0);
  const band = document.querySelector('.vx-notices');
  return [...document.querySelectorAll('a[href], button, input, select, summary, textarea, [tabindex="0"]')]
    .filter((one) => one.checkVisibility({visibilityProperty: true}) && !band.contains(one)).filter((one) => {
      const {x, y, width, height} = one.getBoundingClientRect();
      return width && band.contains(document.elementFromPoint(x + width / 2, y + height / 2));
    }).map((one) => one.outerHTML.slice(0, 200)); }"""
"""Script that lists controls whose middle is under a notice"""
SHOW_NOTICES = """async () => {
  window.shift = 0;
  document.dispatchEvent(new CustomEvent('vx-refused', {detail: {why: 'This picture is gone. '.repeat(4), asked: {}}}));
  const {module} = await import(new URL(document.querySelector('[data-modules]').dataset.modules, document.baseURI));
  module('kit/notices.js').cameFrom('scenes, gear 12', {board_back: 'Back', board_close: 'Close'}, () => {});
}"""
"""Script that shows every other notice: reason of a refusal, source of a picture"""
SIZES = [(1920, 1080), (1440, 900), (1366, 768), (390, 844)]
NOTED = [(kind, size, lang) for kind in ("hint", "warning") for size in SIZES for lang in ("en", "zh")]


@pytest.mark.parametrize("case", quick(NOTED, keep=[("hint", (390, 844), "en")]))
def test_a_notice_covers_no_control_and_is_closed(
    visit: Visit, url: str, case: tuple[str, tuple[int, int], Language], thorough: bool
) -> None:
    """The controls of a photograph stay in reach of the mouse under every notice."""
    (kind, size, lang), page = case, visit.page
    notices = page.locator(".vx-notice:visible")
    page.set_viewport_size({"width": size[0], "height": size[1]})
    visit.open(url, lang=lang, image="chelsea", room="attention", weights="random" if kind == "warning" else "trained")
    page.evaluate(SHIFTS)
    for room in ("flow", "compare", "attention") if thorough else ("flow", "attention"):
        go_to(page, room, lang)
        expect(page.locator(f".vx-notice.{kind}")).to_be_visible()
        assert page.evaluate(COVERED) == [], room
        page.evaluate(SHOW_NOTICES)
        expect(notices).to_have_count(3)
        painted(page)
        assert page.evaluate("window.shift") < 0.25, room  # of three notices, in one frame or in several
        assert page.evaluate(COVERED) == [], room
        assert_fits(page, room)
        page.locator(".vx-notice.error .close").click()
        page.locator(".vx-came-from .close").click()
    page.evaluate(SHOW_NOTICES)
    for one in (".vx-came-from", f".{kind}", ".error"):
        close = page.locator(f".vx-notice{one} .close")
        assert close.get_attribute("aria-label")
        close.press("Enter")
    expect(notices).to_have_count(0)
    page.wait_for_function("() => getComputedStyle(document.documentElement).getPropertyValue('--vx-note') === '0px'")

    guide = page.locator(".vx-guide")
    page.locator(".vx-rail .learn").click()
    page.evaluate(SHOW_NOTICES)
    first = guide.locator("h2").inner_text()
    guide.locator(".next").click(timeout=PATIENCE)
    expect(guide.locator("h2")).not_to_have_text(first)
    assert page.evaluate(COVERED) == []
    guide.locator(".before").click()
    expect(guide.locator("h2")).to_have_text(first)


CONTROLS = """() => [...document.querySelectorAll('a[href], button, input, select, summary, canvas, [tabindex]')]
  .filter((one) => one.checkVisibility({visibilityProperty: true})).map((one) => one.getBoundingClientRect())
  .map(({x, y, width, height}) => [x + width / 2, y + height / 2])
  .filter(([x, y]) => x > 0 && y > 0 && x < innerWidth && y < innerHeight)"""
RECORD_EVENTS = """() => {
  for (const kind of ['vx-room', 'vx-learn', 'vx-address', 'vx-ready', 'vx-link-opened', 'vx-opened', 'vx-picture'])
    document.dispatchEvent(new CustomEvent(kind, {bubbles: true, detail: {room: 'flow', give() {}}}));
  document.dispatchEvent(new ClipboardEvent('paste', {clipboardData: new DataTransfer(), bubbles: true}));
  document.dispatchEvent(new DragEvent('drop', {dataTransfer: new DataTransfer(), bubbles: true}));
  dispatchEvent(new PopStateEvent('popstate'));
  location.hash = 'here';
}"""
"""Script that sends messages between parts of the page, drops and pastes, and navigates"""
OF_THE_PICTURE = ("Enter", " ", "ArrowLeft", ",", ".", "[", "]", "m", "x", "n", "Home", "Escape", "PageDown")


def press_everything(page: Page) -> None:
    """Press every visible control with the mouse, and the keys of a canvas."""
    for x, y in page.evaluate(CONTROLS):
        page.mouse.click(x, y)
    for view in page.locator(".vx-canvas .view:visible").all():
        view.focus()
        for key in OF_THE_PICTURE:
            page.keyboard.press(key)
    page.keyboard.press("Escape")


class Held:
    """Requests of a page, held until they are released; `address` is a URL pattern of Playwright."""

    def __init__(self, page: Page, address: str):
        self._asked: list[Route] = []
        self._is_free = False
        page.route(address, self._hear)

    def _hear(self, asked: Route) -> None:
        if self._is_free:
            asked.continue_()
        else:
            self._asked.append(asked)

    def let_go(self) -> None:
        self._is_free = True
        for asked in self._asked:
            asked.continue_()


def test_who_acts_before_the_first_answer_breaks_nothing(visit: Visit, url: str) -> None:
    """Before the first answer nothing can be pressed, and without a picture nothing happens."""
    page = visit.page
    answers = Held(page, "**/gradio_api/{run,queue}/**")
    page.goto(f"{url}?room=attention&image=scene_gear")
    page.locator(".vx-skip").wait_for(state="attached")  # by a component: scripts are there
    of_the_frame = page.locator(":is(#vx-bar, #vx-rail) button")
    assert of_the_frame.evaluate_all("buttons => buttons.every((one) => one.closest('[inert]'))")
    before = page.url
    press_everything(page)
    page.evaluate(RECORD_EVENTS)
    assert page.url == f"{before}#here"
    answers.let_go()
    visit.wait_ready()
    wait_for_room(page, "attention")

    maps = Held(page, "**/heads.bin")
    with page.expect_request("**/heads.bin"):
        page.goto(f"{url}?room=attention&image=scene_ring")
    canvas = page.locator("#vx-attention-canvas .vx-canvas")
    expect(canvas).not_to_have_attribute("data-state", "ready")
    for button in (".before", ".after", ".play", ".retry"):
        canvas.locator(button).dispatch_event("click")
    canvas.locator(".view").focus()
    for key in OF_THE_PICTURE:
        page.keyboard.press(key)
    page.evaluate(RECORD_EVENTS)
    maps.let_go()
    visit.wait_ready()
    rail = page.locator(".vx-rail")
    expect(rail).not_to_have_attribute("data-room", "attention")
    wait_for_room(page, rail.get_attribute("data-room"))


def test_a_room_is_filled_although_the_one_before_is_answered_later(linked: Visit) -> None:
    """A person passes through a room, and the server answers that entry after the entry into the next."""
    page, requests = linked.page, "**/gradio_api/run/**"
    held: list[Route] = []  # the entry into the first room, then what fills the second

    def hold(asked: Route) -> None:
        entered = asked.request.post_data_json["data"]
        if entered == ["what_if"] or (held and held[0] is None):
            asked.continue_()
        else:
            held.append(asked)

    page.route(requests, hold)
    for room in ("check_up", "what_if"):
        with page.expect_request(requests):
            page.locator(f'.vx-rail [data-room="{room}"]').dispatch_event("click")
    with page.expect_request(lambda request: (request.post_data_json or {}).get("data", [""])[0] is None):
        pass
    with page.expect_response(lambda answer: answer.request == held[0].request):
        held[0].continue_()
    fillings, held[:] = held[1:], [None]
    for asked in fillings:
        asked.continue_()
    wait_for_room(page, "what_if")


def test_the_room_that_is_looked_at_is_filled_when_the_rail_hears_late_which_it_is(
    pages: str, desktop: BrowserContext
) -> None:
    page = PlainPage(desktop.new_page(), pages)
    page.open(("rail", Rail(rooms=("attention", "flow")), None), ("header", Header, None))
    page.page.evaluate("vxLook()")
    assert page.page.evaluate("asked") == []
    assert page.page.evaluate("document.querySelector('.vx-header').closest('[inert]') !== null")
    rooms = [RailItem(key="attention", title="Attention"), RailItem(key="flow", title="Flow")]
    page.send("rail", RailData(label="Rooms", learn="Learn", rooms=rooms, room="flow", first="attention"))
    page.send("header", header_data("en", "'self'"))
    assert [one["kind"] for one in page.page.evaluate("asked")] == ["enter", "look_flow"]
    page.page.evaluate("vxLook()")
    assert page.page.evaluate("asked.at(-1).kind") == "look_flow"
    page.page.get_by_role("button", name="Link").click()
    page.page.close()


def test_what_the_policy_forbids_is_heard(desktop: BrowserContext, pages: str, desktop_errors: list[str]) -> None:
    """Any walk fails if the page needs what its Content-Security-Policy forbids."""
    page = desktop.new_page()
    page.goto(pages)
    page.evaluate("""() => { const brought = document.createElement('script');
      brought.textContent = 'window.brought = true';
      document.head.append(brought, Object.assign(new Image(), {src: 'https://elsewhere.example/picture.png'})); }""")
    assert page.evaluate("window.brought") is None
    page.wait_for_timeout(0)
    for directive in ("script-src-elem", "img-src"):
        assert [one for one in desktop_errors if f"Content-Security-Policy: {directive}" in one], directive
    page.close()
    desktop_errors.clear()


def test_a_page_that_the_server_has_forgotten_loads_again(
    desktop: BrowserContext, pages: str, desktop_errors: list[str]
) -> None:
    """A page that has only just loaded does not reload: it would do so for ever."""
    page = desktop.new_page()
    page.route("**/forgotten", lambda asked: asked.fulfill(status=410))
    page.goto(pages)
    page.evaluate("fetch('/forgotten').then(() => { window.stayed = true; })")
    page.wait_for_function("() => window.stayed")
    page.evaluate("() => { performance.now = () => 6000; }")
    with page.expect_navigation():
        page.evaluate("void fetch('/forgotten')")
    assert page.evaluate("window.stayed") is None
    page.close()
    desktop_errors.clear()
