"""Many visitors at once, one who asks for much, and a server that has been asked for long: how long does another wait?

    python -m benchmarks.load [crowd] [beside] [flood] [memory] [--visitors 1 20 50] [--requests 2000] ...

Visitors speak HTTP as gradio's script does (`tests/over_http.py`): they open the page, send a picture of their own,
look at three blocks and three heads, choose another model and ask for a relevance map, for some seconds at each.
`crowd` prints what each step takes beside what it takes one visitor alone; `beside` a new picture on a small model
while another's faithfulness runs on a large one; `flood` a page that is opened while one client sends fifty questions;
`memory` what the server holds after a thousand requests and another thousand, and after pages that were closed. All of
it runs in one process beside the server's, so that on two cores it takes some of what it measures.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import random
import re
import statistics
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import httpx
import numpy as np
import PIL.Image
import psutil

from tests.app import running_app
from tests.over_http import HttpVisitor, RefusedError

TARGETS = {"open": 5, "block": 3, "head": 3, "relevance": 3}
"""times of what one visitor alone waits, for fifty"""
SMALL, LARGE = "scenes_vit_patch16_192", "vit_large_patch16_224"
LOOKS = 4.0
"""seconds for which a person looks at what came, on average"""
ARRIVE = 30.0
"""seconds within which they all come"""
FULL_SOON = "256"
"""megabytes of captures that are kept where memory is measured: the first requests fill that"""


@dataclass
class Seen:
    """What visitors met with."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    refused: list[str] = field(default_factory=list)
    place: int = 0
    """the last in the queue that was told"""

    async def timed(self, step: str, action: Awaitable[None]) -> None:
        """Do one step."""
        start = time.perf_counter()
        try:
            await action
        except (RefusedError, httpx.HTTPError) as error:
            self.refused.append(f"{step}: {error!r}")
            raise
        self.seconds[step].append(time.perf_counter() - start)

    def hear(self, visitor: HttpVisitor) -> None:
        """What the status line said to one of them."""
        places = re.findall(r"Number (\d+) in the queue", " ".join(visitor.lines))
        self.place = max([self.place, *map(int, places)])


def noise() -> bytes:
    """A picture that nobody sent before."""
    content = io.BytesIO()
    PIL.Image.fromarray(np.random.default_rng().integers(0, 255, (300, 400, 3), dtype=np.uint8)).save(content, "PNG")
    return content.getvalue()


@asynccontextmanager
async def visiting(url: str) -> AsyncIterator[HttpVisitor]:
    """A page from before it is opened until it is closed."""
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(base_url=url, timeout=300, limits=limits) as client:
        visitor = HttpVisitor(client)
        try:
            yield visitor
        finally:
            await visitor.close()


async def path(url: str, seen: Seen, looks: float) -> None:
    """One visitor's."""

    async def look() -> None:
        await asyncio.sleep(random.uniform(0.5, 1.5) * looks)

    async with visiting(url) as visitor:
        steps = [
            ("open", visitor.open),
            ("picture", lambda: visitor.send_picture(noise())),
            *(("block", lambda block=block: visitor.block(block)) for block in (3, 1, 4)),
            *(("head", lambda head=head: visitor.head(head)) for head in "012"),
            ("model", lambda: visitor.choose("model", SMALL)),
            ("room", lambda: visitor.enter("flow")),
            ("relevance", lambda: visitor.view("flow", "generic_relevance")),
        ]
        try:
            for step, act in steps:
                await seen.timed(step, act())
                seen.hear(visitor)
                await look()
        except (RefusedError, httpx.HTTPError):
            return  # it is counted


# ---------------------------------------------------------------------------------------------- many


async def crowd(url: str, visitors: int, looks: float = LOOKS, arrive: float = ARRIVE) -> Seen:
    """So many visitors who come within some seconds of each other."""
    seen = Seen()

    async def one() -> None:
        await asyncio.sleep(random.uniform(0, arrive))
        await path(url, seen, looks)

    await asyncio.gather(*(one() for _ in range(visitors)))
    return seen


async def alone(url: str, paths: int = 4) -> Seen:
    """What it takes one visitor, when the models are loaded."""
    await path(url, Seen(), 0)
    seen = Seen()
    for _ in range(paths):
        await path(url, seen, 0.3)
    return seen


def print_crowd(visitors: int, seen: Seen, before: Seen) -> None:
    """A row for each step."""
    print(f"\n{visitors} visitors: {len(seen.refused)} refused (0), the last place told: {seen.place}")
    for step, seconds in seen.seconds.items():
        median, most = statistics.median(seconds), np.percentile(seconds, 95)
        ratio = median / statistics.median(before.seconds[step])
        target = f" ({TARGETS[step]})" if step in TARGETS else ""
        print(f"  {step:10} median {median:6.2f} s   95 % {most:6.2f} s   {ratio:5.1f} times one visitor's{target}")
    for refused in seen.refused[:5]:
        print(f"  {refused}")


# ---------------------------------------------------------------------------------------------- one who asks for much


async def beside(url: str) -> None:
    """A new picture on a small model, alone and beside faithfulness on a large one; then its visitor leaves."""
    seen = Seen()
    async with visiting(url) as small, visiting(url) as large:
        await small.open(model=SMALL)
        for _ in range(5):
            await seen.timed("alone", small.send_picture(noise()))
        await large.open(model=LARGE, weights="random")
        await large.enter("flow")
        asked = asyncio.create_task(large.view("flow", "faithfulness"))
        while not large.is_told_progress("flow"):
            if asked.done():
                asked.result()
            await asyncio.sleep(0.2)
        for _ in range(5):
            await seen.timed("beside", small.send_picture(noise()))
        asked.cancel()
        await large.close()
        start = time.perf_counter()
        while await waiting(small, "long"):
            await asyncio.sleep(0.2)
        left = time.perf_counter() - start
    medians = {name: statistics.median(seconds) for name, seconds in seen.seconds.items()}
    ratio = medians["beside"] / medians["alone"]
    print(
        f"\na new picture: {medians['alone']:.2f} s, beside faithfulness on {LARGE} {medians['beside']:.2f} s", end=""
    )
    print(f", {ratio:.1f} times (5); {left:.1f} s after its visitor left nothing of it runs")


async def waiting(visitor: HttpVisitor, queue: str) -> float:
    """How much waits or runs, as the server says."""
    said = await visitor.read("/metrics")
    return float(re.search(rf'_waiting{{queue="{queue}"}} ([\d.]+)', said)[1])


async def flood(url: str, questions: int = 50) -> None:
    """A page that is opened alone, and while one client waits for many maps of as many classes."""
    seen = Seen()
    async with visiting(url) as client:
        await client.open(model=SMALL)
        await client.enter("flow")
        for name in ("alone", "beside"):
            asked = []
            if name == "beside":
                classes = (str(number % 10) for number in range(questions))
                asked = [asyncio.create_task(client.view("flow", "faithfulness", target=one)) for one in classes]
                await asyncio.sleep(0.5)
            async with visiting(url) as other:
                await seen.timed(name, other.open(model=SMALL))
            for task in asked:
                task.cancel()
    more = seen.seconds["beside"][0] - seen.seconds["alone"][0]
    print(f"\n{questions} questions of one client delay another's page by {more:.2f} s (2)")


# ---------------------------------------------------------------------------------------------- for long


async def memory(url: str, server: psutil.Process, requests: int, sessions: int) -> None:
    """The server's memory while it is asked and asked, and while pages are opened and closed."""
    held = []
    async with visiting(url) as visitor:
        await visitor.open()
        for number in range(requests):
            if number % 20 == 0:
                await visitor.send_picture(noise())
            await (visitor.block(number % 6) if number % 2 else visitor.head(str(number % 3)))
            if number + 1 in (requests // 2, requests):
                held.append(server.memory_info().rss)
    print(f"\nmemory after {requests} requests: {held[1] / held[0] - 1:+.1%} over the second half (5 %)")
    before = server.memory_info().rss
    for _ in range(sessions):
        async with visiting(url) as visitor:
            await visitor.open()
    print(f"memory after {sessions} pages were opened and closed: {server.memory_info().rss / before - 1:+.1%} (5 %)")


def main() -> None:
    """Print every figure beside its target."""
    parser = argparse.ArgumentParser()
    parser.add_argument("what", nargs="*", default=["crowd", "beside", "flood", "memory"])
    parser.add_argument("--visitors", nargs="*", type=int, default=[20, 50], help="at once, each number in turn")
    parser.add_argument("--looks", type=float, default=LOOKS, help="seconds for which a person looks at what came")
    parser.add_argument("--arrive", type=float, default=ARRIVE, help="seconds within which they all come")
    parser.add_argument("--requests", type=int, default=2000, help="of one visitor, for memory")
    parser.add_argument("--sessions", type=int, default=200, help="opened and closed, for memory")
    asked = parser.parse_args()
    with running_app() as url:
        if "crowd" in asked.what:
            before = asyncio.run(alone(url))
            print_crowd(1, before, before)
            for visitors in asked.visitors:
                print_crowd(visitors, asyncio.run(crowd(url, visitors, asked.looks, asked.arrive)), before)
        if "beside" in asked.what:
            asyncio.run(beside(url))
        if "flood" in asked.what:
            asyncio.run(flood(url))
    if "memory" in asked.what:
        with running_app(VIT_CAPTURE_CACHE_MEGABYTES=FULL_SOON) as url:
            (server,) = (one for one in psutil.Process().children() if "app.py" in one.cmdline())
            asyncio.run(memory(url, server, asked.requests, asked.sessions))


if __name__ == "__main__":
    main()
