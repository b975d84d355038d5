"""Picture of the whole network: what travels, and how it follows the mouse, in headless Chromium.

    python -m benchmarks.network [--hovers 30] [--models scenes_vit_patch16_192,vit_base_patch16_224,...]

For each model: kilobytes of the first picture (data, colours, rows of one token) and of all that is fetched once the
pointer is near; milliseconds from entering the room, with the pass in memory, to the picture; and from the event of a
moving mouse to the frame after the one that painted it ("presented", as in `benchmarks.canvas`). Models that are not
bundled have random weights. Software rendering, no GPU.
"""

from __future__ import annotations

from statistics import median, quantiles
from typing import Annotated

import typer
from playwright.sync_api import Page, Response

from tests.helpers.app import browser, running_app
from tests.helpers.room_checks import PATIENCE
from vitexplorer.models.catalog import find

MODELS = "scenes_vit_patch16_192,vit_base_patch16_224,vit_large_patch16_224"
WATCH = """() => {
  window.presented = [];
  document.querySelector('.vx-network .links').addEventListener('pointermove', (event) => {
    const done = () => window.presented.push(performance.now() - event.timeStamp);
    requestAnimationFrame(() => requestAnimationFrame(done));
  });
}"""
ENTER = """async () => {
  const begun = performance.now();
  document.dispatchEvent(new CustomEvent('vx-room', {detail: {room: 'network', view: ''}}));
  const isReady = () => document.querySelector('.vx-network[data-ready]');
  while (!isReady()) await new Promise((done) => requestAnimationFrame(done));
  return performance.now() - begun;
}"""


def measure(page: Page, url: str, model: str, hovers: int) -> list[str]:
    """Return the cells of one row of the table."""
    entry = find(model)
    weights = "trained" if entry is not None and entry.bundled else "random"
    sizes: list[float] = []

    def note(response: Response) -> None:
        if any(part in response.url for part in ("colours.bin", "heads.bin", "/attention/")):
            sizes.append(len(response.body()) / 1e3)

    page.on("response", note)
    page.goto(f"{url}?model={model}&weights={weights}&room=size")
    page.wait_for_selector('.vx-status[data-kind="ready"]', timeout=PATIENCE)
    page.wait_for_timeout(2000)
    sizes.clear()  # of other rooms
    entering = page.evaluate(ENTER)
    page.locator(".vx-network .reading:not(:empty)").wait_for(timeout=PATIENCE)
    first = sum(sizes)
    picture = page.locator(".vx-network .links")
    picture.hover(position={"x": 640, "y": 8})
    page.wait_for_timeout(4000)
    whole = sum(sizes)
    box = page.locator(".vx-network .links").bounding_box()
    page.evaluate(WATCH)
    x, y, wide, tall = page.evaluate("() => document.querySelector('.vx-network').gridOf(3)")
    for at in range(hovers):
        share = (at * 0.37) % 1, (at * 0.61) % 1
        page.mouse.move(box["x"] + x + share[0] * wide, box["y"] + y + share[1] * tall)
        page.wait_for_timeout(60)
    times = page.evaluate("window.presented")
    cells = [first, whole, entering, median(times), quantiles(times, n=10)[-1]]
    return [model, *(f"{cell:,.0f}" if cell >= 100 else f"{cell:.1f}" for cell in cells)]


def main(
    hovers: Annotated[int, typer.Option(help="Moves of the mouse.")] = 30,
    models: Annotated[str, typer.Option(help="Names, with commas between.")] = MODELS,
) -> None:
    """Print the table."""
    print("| model | first picture, kB | once the pointer is near, kB | entering, ms | presented, ms | its p90 |")
    print("|---|---|---|---|---|---|")
    with running_app() as url, browser() as chromium:
        for model in models.split(","):
            with chromium.new_context(viewport={"width": 1440, "height": 900}) as context:
                print("| " + " | ".join(measure(context.new_page(), url, model, hovers)) + " |", flush=True)


if __name__ == "__main__":
    typer.run(main)
