"""Lecture mode: the picture fills the window, the keys reach it, and controls hide until somebody uses them."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.helpers.app import Visit
from tests.helpers.room_checks import PATIENCE, assert_fits, painted, wait_for_room
from vitexplorer.ui.kit.words import UI_WORDS
from vitexplorer.ui.page import ROOMS

pytestmark = pytest.mark.browser
HALLS = [(1920, 1080, 960), (1440, 900, 800)]
"""Width and height of the window, and least height of the stage, in pixels"""
PAGES = ("finetune", "folder", "words")
"""Rooms without a stage for this model"""
STAGES = ("network", "patches", "attention", "size", "what_if", "compare")
"""Rooms with each kind of stage"""
STAGE = """() => {
  const top = (one) => one.getBoundingClientRect().top;
  const stages = [...document.querySelectorAll('#vx-rooms .stage')].filter((one) => one.checkVisibility());
  const [shown] = stages.sort((one, other) => top(one) - top(other));
  const stage = shown.getBoundingClientRect();
  const lines = [...shown.closest('.layout').querySelectorAll('.head')]
    .filter((line) => line.closest('.vx-panel') === shown.closest('.vx-panel'));
  return [stage.top, stage.height, ...lines.map((line) => line.getBoundingClientRect().bottom)]; }"""
"""Script that returns top and height of the current room's stage, and where its lines of text end"""


def test_the_stage_fills_the_hall_in_every_room(visit: Visit, url: str, thorough: bool) -> None:
    page = visit.page
    page.set_viewport_size({"width": HALLS[0][0], "height": HALLS[0][1]})
    visit.open(url, lecture="1", model="scenes_vit_patch16_192")
    for number, room in enumerate((sign.key for sign in ROOMS), 1):
        if not thorough and room not in STAGES:
            continue
        if number <= 10:
            page.keyboard.press(str(number % 10))
        else:
            page.locator(f'.vx-rail [data-room="{room}"]').dispatch_event("click")
        wait_for_room(page, room)
        if room == "compare":  # the large difference comes first
            first = page.locator("#vx-compare-panel .stage").bounding_box()
            assert first["y"] < page.locator(".vx-sides .head").bounding_box()["y"]
            assert first["y"] < page.locator(".vx-compare .vx-two-sided").bounding_box()["y"]
        for width, height, least in HALLS:
            page.set_viewport_size({"width": width, "height": height})
            page.evaluate("scrollTo(0, 0)")
            assert_fits(page, room)
            if room in PAGES:
                continue
            top, high, *ends = page.evaluate(STAGE)
            assert high >= least, (room, width)
            assert top >= 0, (room, width)
            assert max(ends) <= height + 0.5, (room, width)


def test_controls_hide_until_the_mouse_moves_or_tab_reaches_them(visit: Visit, url: str) -> None:
    page, awake = visit.page, re.compile(r"\bvx-awake\b")
    visit.open(url, lecture="1", model="scenes_vit_patch16_192")
    wait_for_room(page, "attention")
    controls = [page.locator(one) for one in ("#vx-model", "#vx-attention-canvas .side", "#vx-attention-canvas .below")]
    for control in controls:
        expect(control).to_have_css("opacity", "0")
    page.mouse.move(300, 20)  # over the bar, which keeps them
    for control in controls:
        expect(control).to_have_css("opacity", "1")
    page.mouse.move(300, 400)
    expect(page.locator("html")).not_to_have_class(awake)  # the mouse rests
    expect(controls[0]).to_have_css("opacity", "0")
    page.locator("#vx-model .chip").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Shift+Tab")
    expect(controls[0]).to_have_css("opacity", "1")
    expect(page.locator("#vx-model .chip")).to_be_focused()


def test_a_lecturer_walks_by_keys(visit: Visit, url: str) -> None:
    page, canvas = visit.page, visit.page.locator("#vx-attention-canvas .vx-canvas")
    visit.open(url, model="scenes_vit_patch16_192", block="3")
    page.locator(".vx-header .lecture-mode").click()
    keys = page.locator(".vx-keys")
    expect(keys).to_have_text(UI_WORDS["lecture_keys"].en)
    page.keyboard.press(",")
    expect(keys).to_have_count(0)
    expect(canvas).to_have_attribute("data-block", "2")
    page.keyboard.press("ArrowRight")
    query = page.wait_for_function(
        "() => { const {query} = document.querySelector('.vx-canvas').dataset; return query !== 'cls' && query; }"
    ).json_value()
    strip = canvas.locator(".below .small[tabindex='0']")
    strip.focus()
    expect(canvas.locator(".below")).to_have_css("opacity", "1")
    page.keyboard.press("ArrowRight")
    expect(canvas).to_have_attribute("data-block", "3")
    painted(page)
    expect(canvas).to_have_attribute("data-query", query)  # the strip has used the key
    page.keyboard.press("3")
    expect(page.locator(".vx-rail")).to_have_attribute("data-room", "attention")
    page.keyboard.press("8")
    wait_for_room(page, "flow")
    page.keyboard.press("Escape")
    expect(page.locator("html")).not_to_have_class(re.compile(r"\bvx-lecture\b"))
    assert "lecture" not in page.url
    expect(page.locator(".vx-rail")).to_be_visible()


def test_page_keys_turn_the_open_path_and_no_saved_view(visit: Visit, url: str) -> None:
    page, guide = visit.page, visit.page.locator(".vx-guide")
    visit.open(url, lecture="1", step="cut", room="patches", model="scenes_dino_patch16_192")
    page.mouse.move(300, 300)
    page.locator(".vx-kept .chip").click()
    page.locator(".vx-kept .keep").click()
    expect(page.locator(".vx-kept .list .open")).to_have_count(1)
    page.keyboard.press("Escape")
    page.locator(".vx-guide h2").focus()
    page.keyboard.press("PageDown")
    expect(guide.locator(".steps button").nth(1)).to_have_attribute("aria-current", "step", timeout=PATIENCE)
    visit.wait_ready()
    expect(guide.locator(".steps button").nth(1)).to_have_attribute("aria-current", "step")
