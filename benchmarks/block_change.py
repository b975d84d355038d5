"""Latency from a click in the strip of heads to the painted head, and to its whole block: ViT-B/16 in Chromium.

    python -m benchmarks.block_change [changes]                # 2 at least

Random weights: the time does not depend on them. The rows of the held query are sent ahead, so that the head is painted
at once; the whole block, which answers the mouse, is one round trip later. It is fetched once the pointer rests on
one of its maps, here for 0.1 s before the click. Steps of one and jumps are timed apart.
"""

from __future__ import annotations

import statistics
import sys

from playwright.sync_api import Page

from tests.helpers.app import Visit, browser, running_app

TARGETS_MS = {"painted": 50, "whole": 80}

CLICK = """([block, head]) => new Promise((done) => {
  const root = document.querySelector('#vx-attention-canvas .vx-canvas'), times = {};
  const start = performance.now();
  const painted = (name) => requestAnimationFrame(() => requestAnimationFrame(() => {
    times[name] = performance.now() - start;
    if (name === 'whole') done({painted: times.whole, ...times}); // it may come before the head alone
  }));
  new MutationObserver((_, seen) => {
    if (root.dataset.block !== String(block)) return;
    if (root.dataset.part === 'whole') seen.disconnect();
    painted(root.dataset.part === 'whole' ? 'whole' : 'painted');
  }).observe(root, {attributes: true, attributeFilter: ['data-block', 'data-part']});
  root.querySelectorAll('.group')[block].querySelectorAll('.small')[head].click();
})"""


def clicks(page: Page, blocks: list[int]) -> dict[str, float]:
    """Return the median milliseconds until a head of each block is painted, and until the whole block is there."""
    times = []
    for i, block in enumerate(blocks):
        page.locator("#vx-attention-canvas .group").nth(block).locator(".small").nth(i % 12).hover()
        page.wait_for_timeout(100)
        times.append(page.evaluate(CLICK, [block, i % 12]))
        page.wait_for_timeout(500)  # a person looks
    return {name: statistics.median(time[name] for time in times) for name in TARGETS_MS}


def main(changes: int = 12) -> None:
    with running_app() as url, browser() as chromium:
        visit = Visit(chromium)
        visit.open(url, model="vit_base_patch16_224.augreg2_in21k_ft_in1k", weights="random", block="0")
        visit.page.wait_for_selector("#vx-attention-canvas .small")
        visit.page.wait_for_timeout(2000)
        steps = clicks(visit.page, [1 + i % 11 for i in range(changes)][:11])
        jumps = clicks(visit.page, [(5 * i) % 12 for i in range(1, changes)])
        visit.close()
    for name, target in TARGETS_MS.items():
        print(f"{name:8} one block on {steps[name]:6.0f} ms   a jump {jumps[name]:6.0f} ms   target {target} ms")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
