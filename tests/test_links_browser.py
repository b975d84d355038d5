"""A link from each room restores the same picture in a new profile, whatever a person has set there."""

from __future__ import annotations

import io
import time

import numpy as np
import PIL.Image
import pytest
from playwright.sync_api import Browser, Page

from tests.app import Visit
from tests.rooms import PATIENCE, go_to, painted

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
    "compare": (".vx-compare .stage", {"#vx-right-canvas .view": "ArrowDown"}),
    "finetune": (".vx-methods", {'.vx-methods [name="epochs"]': "7", '.vx-methods [data-key="norm"] input': " "}),
}
"""where the picture of a room is, and what is set there: a value, or a key that is pressed"""
LATER = ("patches", "outputs", "positions", "size", "compare")
"""rooms of a panel alone, as Tokens is, and those with a board of their own"""
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
    """The link shows what the person sees, which is not what the room began with; both may still be on their way."""
    said, until = "", time.monotonic() + PATIENCE / 1000
    while time.monotonic() < until:
        if said != person.url:
            said = person.url
            other.page.goto(said)
            other.wait_ready()
        seen, restored = picture(person, stage), picture(other.page, stage)
        if differ(seen, begun) and not differ(seen, restored):
            return
    raise AssertionError(f"{said} shows another picture")


def picture(page: Page, stage: str) -> np.ndarray:
    """What of it is in the window, in gray; nobody points at it."""
    page.mouse.move(0, 0)
    page.evaluate("() => { document.activeElement.blur(); scrollTo(0, 0); }")
    painted(page)
    page.locator(stage).first.wait_for(timeout=PATIENCE)
    box = page.locator(stage).first.bounding_box()
    box["height"] = min(box["height"], page.viewport_size["height"] - box["y"])
    with PIL.Image.open(io.BytesIO(page.screenshot(clip=box))) as shot:
        return np.asarray(shot.convert("L"), dtype=np.int16)


def differ(one: np.ndarray, other: np.ndarray) -> bool:
    return one.shape != other.shape or bool((np.abs(one - other) > 8).mean() > 1e-4)
