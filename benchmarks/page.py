"""What opening the page costs a visitor: requests, bytes and time to the first map, and how far anything moves.

    python -m benchmarks.page

Requests and bytes are counted up to the first map on the screen, gradio's own files apart (targets: 60 and 1.5 MB);
bytes are those of bodies as they travel, compressed where they are. Layout shift is Chromium's own sum over the way
through all rooms (target: below 0.05), on a phone, at a desk and in a hall; rooms are entered without a click, after
which Chromium would forgive half a second of it. A click in the strip of all heads is timed by Chromium, from the mouse
to the frame that is presented next, in which the map is (50 ms).
"""

from __future__ import annotations

import statistics

from playwright.sync_api import Browser, Page, Response

from tests.helpers.app import browser, running_app
from tests.helpers.room_checks import SHIFTS, painted, wait_for_room
from vitexplorer.ui.page import ROOMS

WINDOWS = [("on a phone", "", 390, 844), ("at a desk", "", 1440, 900), ("in a hall", "?lecture=1", 1920, 1080)]
"""pixels"""
CANVAS = "document.querySelector('#vx-attention-canvas .vx-canvas')"

PRESENTED = f"""() => {{ window.presented = new Promise((done) => {{
  let head = '';
  addEventListener('click', () => requestAnimationFrame(() => {{ head = {CANVAS}.dataset.head; }}), {{once: true}});
  new PerformanceObserver((list, seen) => {{
    const click = list.getEntries().find(({{name}}) => name === 'click');
    if (click) {{ seen.disconnect(); done([click.duration, head]); }}
  }}).observe({{type: 'event', durationThreshold: 16}});
}}); }}"""
"""of the next click, the milliseconds until it is presented and the head that is painted then"""


def is_ours(response: Response) -> bool:
    """Not gradio's own scripts, styles and fonts."""
    path = response.url.split("/", 3)[3]
    return not path.startswith(("assets/", "static/", "svelte/", "theme.css"))


def first_map(page: Page, url: str) -> tuple[int, float, float]:
    """Requests, megabytes and seconds to the first map."""
    answers: list[Response] = []
    page.on("response", lambda answer: answers.append(answer))
    page.goto(url)
    page.wait_for_function(f"{CANVAS}?.dataset.state === 'ready'")
    seconds = page.evaluate("performance.now()") / 1000
    own = [answer for answer in answers if is_ours(answer)]
    ended = [answer for answer in own if answer.ok and "event-stream" not in answer.headers.get("content-type", "")]
    return len(own), sum(answer.request.sizes()["responseBodySize"] for answer in ended) / 1e6, seconds


def clicked(page: Page, tile: int) -> float:
    """Milliseconds from a click on a tile of the strip to the frame that is presented next; it has the tile's map."""
    page.evaluate(PRESENTED)
    page.locator("#vx-attention-canvas .below .small").nth(tile).click()
    milliseconds, head = page.evaluate("window.presented")
    assert head == str(tile % 3), "of a model of three heads a block"
    return milliseconds


def shift(chromium: Browser, url: str, width: int, height: int) -> float:
    """How far things move by themselves from the first map on, as a person goes from room to room."""
    with chromium.new_context(viewport={"width": width, "height": height}) as context:
        page = context.new_page()
        page.add_init_script(f"({SHIFTS})()")
        first_map(page, url)
        for room in (sign.key for sign in ROOMS):
            page.locator(f'.vx-rail [data-room="{room}"]').dispatch_event("click")
            wait_for_room(page, room)
        return page.evaluate("window.shift")


def main() -> None:
    """Print every figure beside its target."""
    with (
        running_app() as url,
        browser() as chromium,
        chromium.new_context(viewport={"width": 1440, "height": 900}) as desk,
    ):
        page = desk.new_page()
        requests, megabytes, seconds = first_map(page, url)
        print(f"to the first map: {requests} requests (60), {megabytes:.2f} MB (1.5), {seconds:.2f} s", flush=True)
        painted(page)
        clicks = [clicked(page, tile) for tile in (0, 4, 8)]
        print(f"a click in the strip of heads: {statistics.median(clicks):.0f} ms (50)", flush=True)
        for place, at, width, height in WINDOWS:
            print(f"layout shift {place}: {shift(chromium, url + at, width, height):.3f} (0.05)", flush=True)


if __name__ == "__main__":
    main()
