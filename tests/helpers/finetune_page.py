"""The forms of the room Fine-tune, filled in by a browser."""

from __future__ import annotations

from playwright.sync_api import Locator, Page

SOON, TRAINED = 30_000, 240_000
"""Timeouts in milliseconds for a quick answer and for a training"""


def set_field(field: Locator, value: str) -> None:
    field.fill(value)
    field.press("Tab")


def tick_only(page: Page, *methods: str) -> None:
    """Tick these methods and untick all others."""
    boxes = page.locator("#vx-training-methods .item")
    for key in boxes.evaluate_all("items => items.map((item) => item.dataset.key)"):
        box = page.locator(f'#vx-training-methods .item[data-key="{key}"] .head input')
        if box.is_checked() != (key in methods):
            previous = page.locator(".vx-methods").get_attribute("data-shown")
            box.set_checked(key in methods)
            page.wait_for_function(f"() => document.querySelector('.vx-methods').dataset.shown !== '{previous}'")
