"""Motion on the page: one map blends into the next, a press ends it, and those who prefer none see none."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.helpers.app import Visit

pytestmark = pytest.mark.browser
LOG = """() => {
  globalThis.blended = 0;
  const count = ({addedNodes}) => {
    blended += [...addedNodes].filter((node) => node.matches?.('.fading')).length;
  };
  const picture = document.querySelector('#vx-attention-canvas .picture');
  new MutationObserver((changes) => changes.forEach(count)).observe(picture, {childList: true});
}"""
"""Script that counts the copies that fade out over the picture"""
APPEARING = "() => document.getAnimations().filter(({effect}) => effect.target.matches('.thumb canvas')).length"


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
    assert page.evaluate("blended") == (motion == "no-preference")
    if motion == "no-preference":
        page.evaluate("document.querySelector('#vx-attention-canvas .after').click()")
        page.wait_for_function("() => blended === 2")
        page.keyboard.press("Shift")
        expect(canvas.locator(".fading")).to_have_count(0, timeout=100)
        assert page.evaluate(APPEARING) == 0
