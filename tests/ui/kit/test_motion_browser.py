"""Motion on the page: one map blends into the next, a press ends it, and those who prefer none see none."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.helpers.app import Visit

pytestmark = pytest.mark.browser
LOG = """() => {
  globalThis.blended = {picture: 0, tile: 0};
  const count = ({target, addedNodes}) => {
    for (const node of addedNodes) if (node.matches?.('.fading')) blended[target.classList[0]] += 1;
  };
  const canvas = document.querySelector('#vx-attention-canvas .vx-canvas');
  new MutationObserver((changes) => changes.forEach(count)).observe(canvas, {childList: true, subtree: true});
}"""
"""Script that counts the copies that fade out over the picture and over the maps of the heads"""


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_a_block_blends_into_the_next(visit: Visit, url: str, motion: str) -> None:
    visit.page.emulate_media(reduced_motion=motion)
    visit.open(url, room="attention", block="2")
    page, canvas = visit.page, visit.page.locator("#vx-attention-canvas .vx-canvas")
    expect(canvas.locator(".small").first).to_be_visible()
    page.evaluate(LOG)
    canvas.locator(".after").click()
    expect(canvas).to_have_attribute("data-block", "3")
    expect(canvas).to_have_attribute("data-part", "whole")
    expect(canvas.locator(".fading")).to_have_count(0)
    maps = canvas.locator(".thumb").count()
    moves = motion == "no-preference"
    assert page.evaluate("blended") == ({"picture": 1, "tile": maps} if moves else {"picture": 0, "tile": 0})
    if moves:
        page.evaluate("document.querySelector('#vx-attention-canvas .after').click()")
        page.wait_for_function("() => blended.picture === 2")
        page.keyboard.press("Shift")
        expect(canvas.locator(".fading")).to_have_count(0, timeout=100)
