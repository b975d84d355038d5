"""Film of the room Network for the README: `python -m docs.make.film` writes `assets/screenshots/network.webp`.

The picture runs from the image to the answer, moment by moment. Needs Chromium; uses a bundled model.
"""

from __future__ import annotations

import io

import numpy as np
import PIL.Image
from playwright.sync_api import Page

from docs.make.screenshots import FOLDER, LAPTOP, VIT
from tests.helpers.app import browser, running_app
from tests.helpers.room_checks import PATIENCE, painted

SECONDS, FPS, HOLD = 7, 12, 2500
"""Length of the run, frames in a second, and milliseconds that the whole picture stays"""
WIDTH = 1040
MOVE = """(input, at) => { input.value = at; input.dispatchEvent(new Event('input')); }"""


def frames(page: Page, url: str) -> list[PIL.Image.Image]:
    """Take a picture of the stage at every moment of the run."""
    page.goto(f"{url}?room=network&model={VIT}&image=scene_gear")
    page.locator(".vx-network .reading:not(:empty)").wait_for(timeout=PATIENCE)
    page.locator(".vx-network .stage").evaluate("stage => { stage.style.borderRadius = 0; }")
    slider, stage = page.locator(".vx-network .at"), page.locator(".vx-network .stage")
    pictures = []
    for at in np.linspace(0, float(slider.get_attribute("max")), SECONDS * FPS):
        slider.evaluate(MOVE, float(at))
        painted(page)
        picture = PIL.Image.open(io.BytesIO(stage.screenshot())).convert("RGB")
        pictures.append(picture.resize((WIDTH, round(picture.height * WIDTH / picture.width)), PIL.Image.LANCZOS))
    return pictures


if __name__ == "__main__":
    with running_app() as address, browser() as chromium:
        window = {"width": LAPTOP[0], "height": LAPTOP[1]}
        with chromium.new_context(viewport=window) as context:
            first, *others = frames(context.new_page(), address)
    durations = [round(1000 / FPS)] * (SECONDS * FPS - 1) + [HOLD]
    path = FOLDER / "network.webp"
    first.save(path, save_all=True, append_images=others, duration=durations, loop=0, quality=75, method=6)
    print(path.name, f"{path.stat().st_size / 1e6:.2f} MB")
