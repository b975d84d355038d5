"""From moving the block slider to the new block on the canvas: ViT-S/16 in the running app, in headless Chromium.

    python -m benchmarks.block_change [changes]

Random weights: the time does not depend on them. Neighbouring blocks are fetched ahead, so steps of one and jumps are
timed apart; the median of each is held against 200 ms.
"""

from __future__ import annotations

import statistics
import sys

from playwright.sync_api import Page

from tests.app import Visit, browser, running_app

TARGET_MS = 200

MOVE = """(block) => new Promise((done) => {
  const root = document.querySelector('#vx-attention-canvas .vx-canvas');
  const slider = document.querySelector('#vx-block input[type=range]');
  const start = performance.now();
  new MutationObserver((_, seen) => {
    if (root.dataset.block !== String(block)) return;
    seen.disconnect();
    requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - start)));
  }).observe(root, {attributes: true, attributeFilter: ['data-block']});
  slider.value = block;
  slider.dispatchEvent(new Event('input', {bubbles: true}));
  slider.dispatchEvent(new Event('change', {bubbles: true}));
})"""


def change(page: Page, blocks: list[int]) -> list[float]:
    """Milliseconds until each block in turn is on the screen."""
    times = []
    for block in blocks:
        times.append(page.evaluate(MOVE, block))
        page.wait_for_timeout(500)  # a person looks; neighbours arrive
    return times


def main(changes: int = 12) -> None:
    with running_app() as url, browser() as chromium:
        visit = Visit(chromium)
        visit.open(url, model="vit_small_patch16_224.augreg_in21k_ft_in1k", weights="random", block="0")
        visit.page.wait_for_selector("#vx-attention-canvas .vx-canvas[data-state=ready]")
        visit.page.wait_for_timeout(2000)
        steps = change(visit.page, [1 + i % 11 for i in range(changes)][:11])
        jumps = change(visit.page, [(5 * i) % 12 for i in range(1, changes)])
        visit.close()
    print(f"block change to painted, ViT-S/16 at 224, median of {len(steps)} and {len(jumps)}, target {TARGET_MS} ms")
    print(f"one block on   {statistics.median(steps):6.0f} ms")
    print(f"a jump         {statistics.median(jumps):6.0f} ms")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
