"""Links from each room restore the same picture in a new profile, whatever the settings."""

from __future__ import annotations

import io
import time

import numpy as np
import PIL.Image
import pytest
from playwright.sync_api import Browser, Frame, Page

import vitexplorer as vx
from tests.helpers.app import Visit
from tests.helpers.room_checks import PATIENCE, SHIFTS, go_to, painted, wait_for_room, wait_for_view
from tests.helpers.thorough import quick
from vitexplorer.models.examples import examples
from vitexplorer.ui.kit.words import UI_WORDS

pytestmark = pytest.mark.browser

SET = """(input, value) => { input.value = value;
  for (const kind of ['input', 'change']) input.dispatchEvent(new Event(kind, {bubbles: true})); }"""
ROOMS = {
    "patches": (".vx-board .stage", {".vx-board .gap input": "45", ".vx-board .patches": "ArrowLeft"}),
    "attention": ("#vx-attention-canvas .stage", {"#vx-attention-canvas .view": "]"}),
    "flow": ("#vx-flow-canvas .stage", {"#vx-flow-canvas .view": "ArrowDown"}),
    "tokens": ("#vx-tokens-panel .stage", {'#vx-tokens-panel [name="count"]': "12"}),
    "outputs": ("#vx-outputs-panel .stage", {'#vx-outputs-panel [name="token"]': "mean"}),
    "positions": ("#vx-positions-panel .stage", {'#vx-positions-panel [name="kind"]': "sincos_2d"}),
    "size": ("#vx-size-board .bars", {'#vx-size-board [name="depth"]': "9"}),
    "what_if": (".vx-what-if .stage", {"#vx-plain-canvas .view": "]"}),
    "compare": (".vx-compare .vx-two-sided", {"#vx-right-canvas .view": "ArrowDown"}),
    "finetune": (".vx-methods", {'.vx-methods [name="epochs"]': "7", '.vx-methods [data-key="norm"] input': " "}),
}
"""Element of each room's picture, and its settings: a value, or a key that is pressed"""
LATER = ("patches", "flow", "tokens", "outputs", "positions", "size", "what_if", "compare")
"""Rooms whose links are opened under `--thorough` only"""
KEYS = ("ArrowLeft", "ArrowDown", "]", " ")


def test_a_link_from_each_room_restores_the_same_picture_in_a_new_profile(
    visit: Visit, chromium: Browser, url: str, thorough: bool
) -> None:
    person, other = visit.page, Visit(chromium)
    visit.open(url, model="scenes_vit_patch16_192")
    for room, (stage, settings) in ROOMS.items():
        if room in LATER and not thorough:
            continue
        go_to(person, room)
        if room == "finetune":
            person.locator(".vx-teach .compare").click()
        begun, link = picture(person, stage), person.url
        for selector, value in settings.items():
            control = person.locator(f"{selector}:visible").first
            if value in KEYS:
                control.press(value)
            else:
                control.evaluate(SET, value)
        person.wait_for_function("link => location.href !== link", arg=link)
        other.url = url
        assert_alike(person, other, stage, begun)
    other.close()


def assert_alike(person: Page, other: Visit, stage: str, begun: np.ndarray) -> None:
    """Check that the link shows what the person sees, and not the room's first picture; both may still load."""
    current_url, until = "", time.monotonic() + PATIENCE / 1000
    while time.monotonic() < until:
        if current_url != person.url:
            current_url = person.url
            other.page.goto(current_url)
            other.wait_ready()
        seen, restored = picture(person, stage), picture(other.page, stage)
        if differ(seen, begun) and not differ(seen, restored):
            return
    raise AssertionError(f"{current_url} shows another picture")


def picture(page: Page, stage: str) -> np.ndarray:
    """Return the part in the window, in gray, with the mouse elsewhere."""
    page.mouse.move(0, 0)
    page.evaluate("document.activeElement.blur()")
    page.locator(stage).first.wait_for(timeout=PATIENCE)
    page.locator(stage).first.evaluate("stage => stage.scrollIntoView({behavior: 'instant'})")
    painted(page)
    box = page.locator(stage).first.bounding_box()
    box["height"] = min(box["height"], page.viewport_size["height"] - box["y"])
    with PIL.Image.open(io.BytesIO(page.screenshot(clip=box))) as shot:
        return np.asarray(shot.convert("L"), dtype=np.int16)


def differ(one: np.ndarray, other: np.ndarray) -> bool:
    return one.shape != other.shape or bool((np.abs(one - other) > 8).mean() > 1e-4)


LINKS = {
    "attention": {"block": "3", "head": "1", "query": "4,7"},
    "flow": {"view": "side_by_side"},
    "outputs": {"view": "logit_attribution"},
    "compare": {"other_model": "scenes_swin_patch4_window6_192"},
}
"""Parameters of a link into a room, of which its first answer fills most"""


@pytest.mark.parametrize("size", quick([(1440, 900), (390, 844)], keep=[(390, 844)]))
def test_a_link_that_is_opened_moves_nothing(visit: Visit, url: str, size: tuple[int, int], thorough: bool) -> None:
    page = visit.page
    page.set_viewport_size({"width": size[0], "height": size[1]})
    for room in LINKS if thorough else ("attention", "outputs"):
        visit.open(url, room=room, model="scenes_vit_patch16_192", **LINKS[room])
        page.evaluate(SHIFTS)
        wait_for_room(page, room)
        if "view" in LINKS[room]:
            wait_for_view(page, room, LINKS[room]["view"])
        painted(page)
        assert page.evaluate("window.shift") <= 0.05, room


# ---------------------------------------------------------------------------------------------- in another page


def framed(visit: Visit, url: str, query: str, width: int = 640) -> Frame:
    """Open the page in a frame of a lesson of the same site, and wait for its capture."""
    lesson = f'<!doctype html><iframe src="{url}?{query}" title="lesson" width="{width}" height="480"></iframe>'
    visit.url = url
    visit.page.route(f"{url}lesson.html", lambda route: route.fulfill(body=lesson, content_type="text/html"))
    visit.page.goto(f"{url}lesson.html")
    frame = visit.page.frame_locator("iframe").owner.element_handle().content_frame()
    frame.wait_for_selector('.vx-status[data-kind="ready"]', state="attached", timeout=90_000)
    return frame


def test_a_frame_shows_the_figure_alone_and_leads_to_the_whole_page(visit: Visit, url: str) -> None:
    frame = framed(visit, url, "embed=1&room=attention&model=scenes_vit_patch16_192&image=scene_fish&weights=random")
    frame.wait_for_selector(".vx-canvas[data-part=whole][data-query]", timeout=PATIENCE)
    captured = vx.capture(vx.load_model("scenes_vit_patch16_192", weights="random"), examples()["scene_fish"].path)
    block, grid = captured.depth - 1, captured.grid(captured.depth - 1)
    canvas = frame.locator("#vx-attention-canvas .vx-canvas")
    expected = captured.attention(block)[:, 0, len(captured.prefix_tokens) :].mean(0)
    seen = canvas.evaluate("(root) => [...root.vx.read().map]")
    np.testing.assert_allclose(seen, expected.numpy(), atol=float(captured.attention(block).max()) / 255)
    assert [
        part for part in (".vx-rail", "#vx-header", "#vx-model", ".side", ".below") if is_visible(frame, part)
    ] == []
    foot = frame.locator(".vx-status .foot")
    assert foot.locator("span").inner_text().startswith(UI_WORDS["random_warning"].en)
    assert foot.bounding_box()["height"] < 40  # one line
    assert not is_visible(frame, ".vx-notice")
    box = canvas.locator(".view").bounding_box()
    assert min(box["width"], box["height"]) >= 420
    assert frame.evaluate("document.documentElement.scrollHeight <= innerHeight")

    frame.locator("#vx-attention-canvas .view").press("ArrowRight")
    at = f"{grid.rows // 2},{grid.cols // 2}"
    frame.wait_for_function("() => new URL(location.href).searchParams.get('query') !== 'cls'")
    assert canvas.get_attribute("data-query") == at
    link = frame.locator(".vx-status .foot a").get_attribute("href")
    assert "embed" not in link
    assert f"query={at.replace(',', '%2C')}" in link


def is_visible(frame: Frame, part: str) -> bool:
    return any(one.is_visible() for one in frame.locator(part).all())


@pytest.mark.thorough
def test_a_step_of_the_path_stands_in_a_frame_without_the_way_to_others(visit: Visit, url: str) -> None:
    frame = framed(visit, url, "embed=1&step=heads&lang=zh")
    frame.wait_for_selector(".vx-guide .choices button", timeout=PATIENCE)
    assert frame.locator(".vx-guide h2").is_visible()
    assert [part for part in (".turns", ".steps", ".close") if is_visible(frame, f".vx-guide {part}")] == []
    assert frame.locator(".vx-status .foot a").inner_text() == "打开完整页面"
    frame.locator(".vx-guide .choices button").first.click()
    assert frame.locator(".vx-guide .reveal").inner_text()


@pytest.mark.thorough
def test_the_lines_for_another_page_are_offered_beside_the_link(visit: Visit, url: str) -> None:
    visit.open(url, room="flow", model="scenes_vit_patch16_192")
    visit.page.locator(".vx-header .link").click()
    code = visit.page.locator(".vx-header textarea")
    assert code.is_visible()
    address = code.input_value().split('"')[1].replace("&amp;", "&")
    assert address.startswith(url)
    assert "room=flow" in address
    assert address.endswith("&embed=1")
    assert visit.page.locator(".vx-header .note").inner_text().endswith("at present only its own pages.")
    visit.page.keyboard.press("Escape")
    assert not code.is_visible()
