"""Motion on the page: one map blends into the next, a press ends it, and those who prefer none see none."""

from __future__ import annotations

import pytest
from playwright.sync_api import Route, expect

from tests.helpers.app import Visit

pytestmark = pytest.mark.browser
LONGEST_WAIT = 500
"""Milliseconds that a question waits for a map at most; a busy machine may take longer to bring it"""
LOG = """() => {
  globalThis.blended = {view: 0, thumb: 0};
  const draw = CanvasRenderingContext2D.prototype.drawImage;
  CanvasRenderingContext2D.prototype.drawImage = function (image, ...place) {
    const {canvas, globalAlpha} = this;
    const kind = canvas.matches('.view') ? 'view' : canvas.closest('.thumb') ? 'thumb' : null;
    if (kind && image.localName === 'canvas' && !image.isConnected && globalAlpha > 0 && globalAlpha < 1)
      blended[kind] += 1;
    return draw.call(this, image, ...place);
  };
}"""
"""Script that counts how often an earlier picture is laid over a part of the canvas"""


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
    page.wait_for_timeout(600)
    blended = page.evaluate("blended")
    if motion == "reduce":
        assert blended == {"view": 0, "thumb": 0}
        return
    assert blended["view"] > 0, "a busy machine paints few frames, but not none"
    assert blended["thumb"] > blended["view"], "of each of several heads"
    page.evaluate("document.querySelector('#vx-attention-canvas .after').click()")
    page.wait_for_function("(before) => blended.view > before", arg=blended["view"])
    page.keyboard.press("Shift")
    ended = page.evaluate(
        "() => new Promise((frame) => requestAnimationFrame(() => setTimeout(frame, 0, blended.view)))"
    )
    page.wait_for_timeout(100)
    assert page.evaluate("blended.view") == ended, "a press ends it"


def test_a_blend_ends_with_the_new_picture(visit: Visit, url: str) -> None:
    visit.open(url, room="attention", block="2")
    page, canvas = visit.page, visit.page.locator("#vx-attention-canvas .vx-canvas")
    pixels = "document.querySelector('#vx-attention-canvas .view').toDataURL()"
    expect(canvas.locator(".small").first).to_be_visible()
    canvas.locator(".after").click()
    expect(canvas).to_have_attribute("data-block", "3")
    page.wait_for_timeout(600)
    blended = page.evaluate(pixels)
    page.emulate_media(reduced_motion="reduce")
    canvas.locator(".before").click()
    expect(canvas).to_have_attribute("data-block", "2")
    canvas.locator(".after").click()
    expect(canvas).to_have_attribute("data-block", "3")
    page.wait_for_function(f"(blended) => {pixels} === blended", arg=blended)


def test_questions_wait_for_the_map_that_is_loading(visit: Visit, url: str) -> None:
    visit.open(url, room="attention", block="2")
    page, canvas = visit.page, visit.page.locator("#vx-attention-canvas .vx-canvas")
    held: list[Route] = []
    page.route("**/attention/**", lambda route: held.append(route))
    canvas.locator(".after").click()
    expect(canvas).to_have_attribute("aria-busy", "true")
    page.evaluate(
        """() => {
          const since = performance.now(), canvas = document.querySelector('#vx-attention-canvas .vx-canvas');
          globalThis.asked = vxLook('').then(() => [canvas.ariaBusy, performance.now() - since]);
        }"""
    )
    page.wait_for_timeout(100)
    for route in held:
        route.continue_()
    page.unroute_all()
    expect(canvas).to_have_attribute("aria-busy", "false")
    busy, waited = page.evaluate("asked")
    assert busy == "false" or waited >= LONGEST_WAIT, "the map was not there when the question was asked"
    page.evaluate("document.body.ariaBusy = 'true'")
    page.evaluate("vxLook('')")  # it does not wait for ever
