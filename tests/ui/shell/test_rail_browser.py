"""Rail of rooms: the room on the screen is the last one that a person or a link opened."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.helpers.app import Visit

pytestmark = pytest.mark.browser

LEAVE_AT_ONCE = """() => {
  const query = new URL(location.href).searchParams;
  query.set('room', 'attention');
  query.set('image', 'scene_mug');
  document.dispatchEvent(new CustomEvent('vx-go', {detail: query.toString()}));
  document.dispatchEvent(new CustomEvent('vx-room', {detail: {room: 'tokens'}}));
}"""
"""Script that follows a link to another room, and goes back before the answer is there"""
FOLLOW = """(room) => {
  const query = new URL(location.href).searchParams;
  query.set('room', room);
  document.dispatchEvent(new CustomEvent('vx-go', {detail: query.toString()}));
}"""


def test_a_link_that_a_person_left_does_not_open_its_room(visit: Visit, url: str) -> None:
    page, rail = visit.page, visit.page.locator(".vx-rail")
    visit.open(url, room="tokens", image="scene_gear")
    page.evaluate(LEAVE_AT_ONCE)
    expect(page.locator("#vx-image .chip")).to_contain_text("Mug")
    visit.wait_ready()
    expect(rail).to_have_attribute("data-room", "tokens")
    assert "room=tokens" in page.url


def test_of_two_links_the_second_is_followed(visit: Visit, url: str) -> None:
    page, rail = visit.page, visit.page.locator(".vx-rail")
    visit.open(url, room="tokens", image="scene_gear")
    for rooms in (("patches", "tokens"), ("flow", "outputs")):
        for room in rooms:
            page.evaluate(FOLLOW, room)
        visit.wait_ready()
        page.wait_for_function("(room) => document.querySelector(`#vx-${room}-panel`)?.checkVisibility()", arg=rooms[1])
        expect(rail).to_have_attribute("data-room", rooms[1])
        assert f"room={rooms[1]}" in page.url
