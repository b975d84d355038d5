"""Screenshots of the page for `assets/screenshots`: rooms, both languages, both themes, a phone, a lecture hall.

    python -m docs.make.screenshots [name ...]

Takes a minute and needs Chromium. The pictures are WebP, small enough for a repository, and use bundled models only.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field

import PIL.Image
from playwright.sync_api import Browser, Page

from tests.helpers.app import browser, running_app
from tests.helpers.room_checks import PATIENCE, painted
from tests.helpers.tree import ROOT

FOLDER = ROOT / "assets" / "screenshots"
SETTLED = 5000
"""Milliseconds to wait for previews, which no event announces."""
LAPTOP, PHONE, HALL = (1440, 900), (390, 844), (1920, 1080)
VIT = "scenes_vit_patch16_192"
SHARP = {"sharpen": "16"}
"""The opening picture sharpens by itself, but not while tests visit it."""


@dataclass(frozen=True)
class Shot:
    """One picture of the page."""

    name: str
    parameters: Mapping[str, str]
    """Parameters of its address."""
    window: tuple[int, int] = LAPTOP
    press: tuple[str, ...] = field(default=())
    """Selectors that are clicked before the picture is taken."""


SHOTS = (
    Shot("attention", SHARP),
    Shot("attention_zh_dark", {"lang": "zh", "__theme": "dark", "image": "scene_crescent", "size": "384", **SHARP}),
    Shot("learn", {"step": "heads", "block": "5", "head": "0"}, press=(".vx-guide .choices button",)),
    Shot("flow", {"room": "flow", "model": VIT, "image": "scene_fish", "view": "generic_relevance"}),
    Shot("tokens_dark", {"room": "tokens", "__theme": "dark", "view": "token_pca", "image": "scene_fish"}),
    Shot("outputs", {"room": "outputs", "model": VIT, "image": "scene_fish"}),
    Shot("positions_zh", {"room": "positions", "lang": "zh", "model": VIT}),
    Shot("size", {"room": "size", "model": VIT}),
    Shot("what_if", {"room": "what_if", "model": VIT, "image": "scene_fish"}),
    Shot("finetune_zh", {"room": "finetune", "lang": "zh"}, press=(".vx-teach .fill",)),
    Shot("phone", SHARP, PHONE),
    Shot("lecture_dark", {"lecture": "1", "__theme": "dark", "image": "scene_crescent"}, HALL, press=(".vx-keys",)),
)


def take(page: Page, url: str, shot: Shot) -> None:
    """Take one picture as soon as the page waits for nothing."""
    query = "&".join(f"{name}={value}" for name, value in shot.parameters.items() if value)
    page.goto(f"{url}?{query}")
    page.wait_for_selector('.vx-status[data-kind="ready"]', timeout=PATIENCE)
    page.wait_for_function(
        """() => [...document.querySelectorAll('#vx-rooms .vx-frame')].filter((one) => one.checkVisibility())
        .every((one) => one.dataset.state !== 'empty')""",
        timeout=PATIENCE,
    )
    for selector in shot.press:
        page.locator(selector).first.click()
    page.wait_for_timeout(SETTLED)
    painted(page)
    FOLDER.mkdir(exist_ok=True)
    PIL.Image.open(io.BytesIO(page.screenshot())).convert("RGB").save(
        FOLDER / f"{shot.name}.webp", quality=82, method=6
    )


def take_all(chromium: Browser, url: str, shots: tuple[Shot, ...]) -> None:
    """Take each picture in a new page, as a person opens a link."""
    for shot in shots:
        width, height = shot.window
        with chromium.new_context(viewport={"width": width, "height": height}, reduced_motion="reduce") as context:
            take(context.new_page(), url, shot)
        print(shot.name)


if __name__ == "__main__":
    selected = tuple(shot for shot in SHOTS if shot.name in sys.argv[1:] or len(sys.argv) == 1)
    with running_app() as address, browser() as chromium:
        take_all(chromium, address, selected)
