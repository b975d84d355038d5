"""Cost of opening the page: requests, bytes and time to the first map, and layout shift.

    python -m benchmarks.page

Requests and bytes are counted up to the first map on the screen, without gradio's own files (targets: 60 and 1.5 MB);
bytes are those of compressed bodies. Layout shift is Chromium's sum over a walk through all rooms (target: below 0.05),
in windows of a phone, a monitor and a projector; rooms are entered without a click, since Chromium excludes shifts
within half a second of one. A click in the strip of all heads is timed by Chromium, from the mouse to the next
presented frame, which has the map (50 ms).
"""

from __future__ import annotations

import statistics

from playwright.sync_api import Browser, Page, Response

from tests.helpers.app import browser, running_app
from tests.helpers.room_checks import SHIFTS, painted, wait_for_room
from vitexplorer.ui.page import ROOMS

WINDOWS = [("on a phone", "", 390, 844), ("at a desk", "", 1440, 900), ("in a hall", "?lecture=1", 1920, 1080)]
"""Name, query of the address, width and height in pixels"""
CANVAS = "document.querySelector('#vx-attention-canvas .vx-canvas')"

PRESENTED = f"""() => {{ window.presented = new Promise((done) => {{
  let head = '';
  addEventListener('click', () => requestAnimationFrame(() => {{ head = {CANVAS}.dataset.head; }}), {{once: true}});
  new PerformanceObserver((list, seen) => {{
    const click = list.getEntries().find(({{name}}) => name === 'click');
    if (click) {{ seen.disconnect(); done([click.duration, head]); }}
  }}).observe({{type: 'event', durationThreshold: 16}});
}}); }}"""
"""Script that records for the next click the milliseconds until it is presented and the head painted then"""


def is_ours(response: Response) -> bool:
    """Return False for gradio's own scripts, styles and fonts."""
    path = response.url.split("/", 3)[3]
    return not path.startswith(("assets/", "static/", "svelte/", "theme.css"))


def first_map(page: Page, url: str) -> tuple[int, float, float]:
    """Return requests, megabytes and seconds to the first map."""
    answers: list[Response] = []
    page.on("response", lambda answer: answers.append(answer))
    page.goto(url)
    page.wait_for_function(f"() => {CANVAS}?.dataset.state === 'ready'")
    seconds = page.evaluate("performance.now()") / 1000
    own = [answer for answer in answers if is_ours(answer)]
    ended = [answer for answer in own if answer.ok and "event-stream" not in answer.headers.get("content-type", "")]
    return len(own), sum(answer.request.sizes()["responseBodySize"] for answer in ended) / 1e6, seconds


def clicked(page: Page, tile: int) -> float:
    """Click a tile of the strip; return the milliseconds to the next presented frame, which must have its map."""
    page.evaluate(PRESENTED)
    page.locator("#vx-attention-canvas .below .small").nth(tile).click()
    milliseconds, head = page.evaluate("window.presented")
    assert head == str(tile % 3), "of a model of three heads a block"
    return milliseconds


def shift(chromium: Browser, url: str, width: int, height: int) -> float:
    """Return the layout shift from the first map on, over a walk through all rooms."""
    with chromium.new_context(viewport={"width": width, "height": height}) as context:
        page = context.new_page()
        page.add_init_script(f"({SHIFTS})()")
        first_map(page, url)
        for room in (known.key for known in ROOMS):
            page.locator(f'.vx-rail [data-room="{room}"]').dispatch_event("click")
            wait_for_room(page, room)
        return page.evaluate("window.shift")


def main() -> None:
    """Print every figure with its target."""
    with (
        running_app() as url,
        browser() as chromium,
        chromium.new_context(viewport={"width": 1440, "height": 900}) as context,
    ):
        page = context.new_page()
        requests, megabytes, seconds = first_map(page, url)
        print(f"to the first map: {requests} requests (60), {megabytes:.2f} MB (1.5), {seconds:.2f} s", flush=True)
        painted(page)
        clicks = [clicked(page, tile) for tile in (0, 4, 8)]
        print(f"a click in the strip of heads: {statistics.median(clicks):.0f} ms (50)", flush=True)
        for place, at, width, height in WINDOWS:
            print(f"layout shift {place}: {shift(chromium, url + at, width, height):.3f} (0.05)", flush=True)


if __name__ == "__main__":
    main()
