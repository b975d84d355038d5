"""Welcome of a first visitor: the blocks run by once, and two buttons lead on; everyone else finds the page still."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.helpers.app import Visit

pytestmark = pytest.mark.browser

LOG_BLOCKS = """() => {
  window.blocks = [];
  new MutationObserver((records) => {
    for (const {target} of records) {
      const {block} = target.dataset;
      if (target.matches('.vx-canvas') && block && window.blocks.at(-1) !== block) window.blocks.push(block);
    }
  }).observe(document, {subtree: true, attributes: true, attributeFilter: ['data-block']});
}"""
"""Script that keeps the number of every block on the stage, each once"""


def canvas_of(page: Page) -> Locator:
    return page.locator("#vx-attention-canvas .vx-canvas")


def test_a_first_visitor_sees_the_blocks_run_by_and_is_led_on(visit: Visit, url: str) -> None:
    page, promise = visit.page, visit.page.locator(".welcome")
    page.emulate_media(reduced_motion="no-preference")
    page.add_init_script(f"({LOG_BLOCKS})()")
    visit.open(url)
    expect(promise.locator("p")).to_contain_text("what a vision transformer looks at")
    page.wait_for_function("() => blocks.length > 6 && blocks.at(-1) === '5'")
    assert page.evaluate("blocks") == ["5", "0", "1", "2", "3", "4", "5"]
    expect(canvas_of(page)).to_have_attribute("data-part", "whole")
    expect(page).to_have_url(re.compile("block=5"))
    promise.get_by_role("button", name="My picture").click()
    expect(page.locator("#vx-image .sheet")).to_be_visible()
    expect(promise).to_have_count(0)
    visit.open(url)
    expect(canvas_of(page)).to_have_attribute("data-part", "whole")
    expect(page.locator("#vx-attention-canvas .small").first).to_be_visible()
    assert page.evaluate("blocks") == ["5"], "a second visit begins still"
    expect(promise).to_have_count(0)


def test_who_prefers_no_motion_is_led_on_at_once(visit: Visit, url: str) -> None:
    page, promise = visit.page, visit.page.locator(".welcome")
    page.add_init_script(f"({LOG_BLOCKS})()")
    visit.open(url, lang="zh")
    promise.get_by_role("button", name="带我看看").press("Enter")
    expect(page.locator(".vx-guide")).to_be_visible()
    expect(promise).to_have_count(0)
    assert page.evaluate("blocks")[0] == "5"


@pytest.mark.thorough
@pytest.mark.parametrize("act", ["press", "key"])
def test_any_act_ends_the_run(visit: Visit, url: str, act: str) -> None:
    page = visit.page
    page.emulate_media(reduced_motion="no-preference")
    page.add_init_script(f"({LOG_BLOCKS})()")
    visit.open(url)
    page.wait_for_function("() => blocks.length > 1")
    if act == "press":
        canvas_of(page).locator(".question").click()
    else:
        page.keyboard.press("Escape")
    expect(page.locator(".welcome")).to_have_count(0)
    expect(canvas_of(page)).to_have_attribute("data-block", "5")
    expect(canvas_of(page)).to_have_attribute("data-part", "whole")


def test_a_link_opens_without_a_welcome(visit: Visit, url: str) -> None:
    visit.open(url, room="attention", image="scene_mug")
    expect(visit.page.locator("#vx-attention-canvas .small").first).to_be_visible()
    expect(visit.page.locator(".welcome")).to_have_count(0)
