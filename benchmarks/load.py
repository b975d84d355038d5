"""Load test: waiting times with many visitors or beside one heavy visitor, and memory after many requests.

    python -m benchmarks.load [crowd] [beside] [flood] [memory] [--visitors 1,20,50] [--requests 2000] ...

Visitors speak HTTP as gradio's script does (`benchmarks/http_visitor.py`) and request the same files as Chromium: they
open the page, send a picture, look at three blocks and three heads, choose another model and request a relevance map,
with some seconds in between. `crowd` prints the time of each step relative to a single visitor, for people who come one
by one and for a lecture that opens a link together; `beside` a new picture on a small model while another visitor's
faithfulness runs on a large one; `flood` the opening of a page while one client sends fifty requests; `memory` the
server's memory after a thousand requests and another thousand, and after closed pages. The visitors run in one process
beside the server, so on two cores they take some of the processor time that they measure.
"""

from __future__ import annotations

import asyncio
import io
import random
import re
import statistics
import time
from collections import defaultdict
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated

import aiohttp
import numpy as np
import PIL.Image
import psutil
import typer

from benchmarks.http_visitor import HttpVisitor, RefusedError, recorded_files
from tests.helpers.app import running_app
from vitexplorer.core.settings import settings

PARTS = ["crowd", "beside", "flood", "memory"]
SMALL, LARGE = "scenes_vit_patch16_192", "vit_large_patch16_224"
FULL_SOON = "256"
"""Megabytes of the capture cache when memory is measured, so that the first requests fill it"""

FAILURES = RefusedError, aiohttp.ClientError, OSError
"""Errors of a step that the server refuses or breaks off"""


@dataclass(frozen=True)
class Arrival:
    """Pattern in which visitors arrive, and targets for their waiting times."""

    name: str
    within: float
    """Seconds within which all arrive"""
    looks: tuple[float, float]
    """Least and most seconds between two steps"""
    medians: Mapping[str, float]
    """Largest median by step, in medians of a single visitor"""
    slowest: Mapping[str, float]
    """Largest 95th percentile by step, in medians of a single visitor"""


GENTLE = Arrival("gentle", 30, (2, 6), {"open": 5, "block": 3, "head": 3, "relevance": 3}, {"block": 8})
LECTURE = Arrival(
    "lecture", 3, (0.5, 2), {"open": 10, "upload": 10, "block": 4, "head": 4, "model": 8, "relevance": 5}, {}
)
ALONE = Arrival("alone", 0, (0.3, 0.3), {}, {})


@dataclass
class Seen:
    """Measurements of visitors."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    refused: list[str] = field(default_factory=list)
    place: int = 0
    """Largest reported place in the queue"""
    requests: int = 0
    memory: int = 0
    """Peak memory of the server in bytes"""

    async def timed(self, step: str, action: Awaitable[None]) -> None:
        """Do one step and record its time, or its failure, which is raised again."""
        start = time.perf_counter()
        try:
            await action
        except FAILURES as error:
            self.refused.append(f"{step}: {error!r}")
            raise
        self.seconds[step].append(time.perf_counter() - start)

    def hear(self, visitor: HttpVisitor) -> None:
        """Record the places in the queue that a visitor's status line reported."""
        places = re.findall(r"Number (\d+) in the queue", " ".join(visitor.lines))
        self.place = max([self.place, *map(int, places)])


def noise() -> bytes:
    """Return a new random picture as PNG."""
    content = io.BytesIO()
    PIL.Image.fromarray(np.random.default_rng().integers(0, 255, (300, 400, 3), dtype=np.uint8)).save(content, "PNG")
    return content.getvalue()


async def path(
    url: str, files: Sequence[str], picture: bytes, seen: Seen, arrival: Arrival, rng: random.Random
) -> None:
    """Walk one visitor's path."""
    async with HttpVisitor(url, files) as visitor:
        steps = [
            ("open", visitor.open),
            ("upload", lambda: visitor.send_picture(picture)),
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
                await asyncio.sleep(rng.uniform(*arrival.looks))
        except FAILURES:
            pass  # `timed` has recorded it
        seen.requests += visitor.requests


# ---------------------------------------------------------------------------------------------- many visitors


async def visit_together(
    url: str, server: psutil.Process, files: Sequence[str], visitors: int, arrival: Arrival
) -> Seen:
    """Let so many visitors come by the pattern `arrival` and return their measurements."""
    seen = Seen()
    rng = random.Random(visitors)
    pictures = [noise() for _ in range(visitors)]

    async def visit(picture: bytes) -> None:
        await asyncio.sleep(rng.uniform(0, arrival.within))
        await path(url, files, picture, seen, arrival, rng)

    async def watch_memory() -> None:
        while True:
            seen.memory = max(seen.memory, server.memory_info().rss)
            await asyncio.sleep(0.5)

    watching = asyncio.create_task(watch_memory())
    await asyncio.gather(*map(visit, pictures))
    watching.cancel()
    return seen


async def alone(url: str, files: Sequence[str], paths: int = 4) -> Seen:
    """Return the measurements of a single visitor, once the models are loaded."""
    await path(url, files, noise(), Seen(), ALONE, random.Random(0))
    seen = Seen()
    for _ in range(paths):
        await path(url, files, noise(), seen, ALONE, random.Random(0))
    return seen


def print_visits(visitors: int, seen: Seen, before: Seen, arrival: Arrival) -> None:
    """Print a row for each step."""
    print(
        f"\n{arrival.name}, {visitors} visitors: {len(seen.refused)} of {seen.requests} requests refused (0), "
        f"largest place in the queue: {seen.place}, "
        f"memory at most {seen.memory / 1e6:.0f} MB ({settings().memory_megabytes})"
    )
    for step, seconds in seen.seconds.items():
        reference = statistics.median(before.seconds[step])
        median, slowest = statistics.median(seconds), float(np.percentile(seconds, 95))
        times = f"{median / reference:5.1f} times one visitor's{_at_most(arrival.medians, step)}"
        slowest_times = f"{slowest / reference:5.1f} times{_at_most(arrival.slowest, step)}"
        print(f"  {step:10} median {median:6.2f} s, {times:32}   95 % {slowest:6.2f} s, {slowest_times}")
    for refused in seen.refused[:5]:
        print(f"  {refused}")


def _at_most(targets: Mapping[str, float], step: str) -> str:
    return f" ({targets[step]:g})" if step in targets else ""


# ---------------------------------------------------------------------------------------------- one heavy visitor


async def beside(url: str) -> None:
    """Time a new picture on a small model, alone and beside faithfulness on a large one, whose visitor then leaves."""
    seen = Seen()
    async with HttpVisitor(url) as small, HttpVisitor(url) as large:
        await small.open(model=SMALL)
        for _ in range(5):
            await seen.timed("alone", small.send_picture(noise()))
        await large.open(model=LARGE, weights="random")
        await large.enter("flow")
        long_request = asyncio.create_task(large.view("flow", "faithfulness"))
        while not large.reports_progress("flow"):
            if long_request.done():
                long_request.result()
            await asyncio.sleep(0.2)
        for _ in range(5):
            await seen.timed("beside", small.send_picture(noise()))
        long_request.cancel()
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
    """Return the number of jobs that wait or run, from the server's metrics."""
    metrics = await visitor.read("/metrics")
    return float(re.search(rf'_waiting{{queue="{queue}"}} ([\d.]+)', metrics)[1])


async def flood(url: str, files: Sequence[str], questions: int = 50) -> None:
    """Time the opening of a page alone, and while one client waits for maps of many classes."""
    seen = Seen()
    async with HttpVisitor(url) as client:
        await client.open(model=SMALL)
        await client.enter("flow")
        for name in ("alone", "beside"):
            requests = []
            if name == "beside":
                classes = (str(number % 10) for number in range(questions))
                requests = [asyncio.create_task(client.view("flow", "faithfulness", target=name)) for name in classes]
                await asyncio.sleep(0.5)
            async with HttpVisitor(url, files) as other:
                await seen.timed(name, other.open(model=SMALL))
            for task in requests:
                task.cancel()
    more = seen.seconds["beside"][0] - seen.seconds["alone"][0]
    print(f"\n{questions} questions of one client delay another's page by {more:.2f} s (2)")


# ---------------------------------------------------------------------------------------------- memory over time


async def memory(url: str, server: psutil.Process, requests: int, sessions: int) -> None:
    """Print the growth of the server's memory over many requests, and over pages opened and closed."""
    held = []
    async with HttpVisitor(url) as visitor:
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
        async with HttpVisitor(url) as visitor:
            await visitor.open()
    print(f"memory after {sessions} pages were opened and closed: {server.memory_info().rss / before - 1:+.1%} (5 %)")


def server_process() -> psutil.Process:
    """Return the app's process, which this process started."""
    (server,) = (child for child in psutil.Process().children() if "app.py" in child.cmdline())
    return server


def main(
    parts: Annotated[list[str] | None, typer.Argument(help=f"Any of {', '.join(PARTS)}; all when empty.")] = None,
    visitors: Annotated[str, typer.Option(help="Numbers of visitors at once, one after the other.")] = "20,50",
    arrivals: Annotated[str, typer.Option(help="Patterns of arrival.")] = "gentle,lecture",
    requests: Annotated[int, typer.Option(help="Requests of one visitor, for memory.")] = 2000,
    sessions: Annotated[int, typer.Option(help="Pages opened and closed, for memory.")] = 200,
) -> None:
    """Print every figure with its target."""
    parts = parts or PARTS
    with running_app() as url:
        files = recorded_files(url) if {"crowd", "flood"} & set(parts) else []
        if "crowd" in parts:
            before = asyncio.run(alone(url, files))
            print_visits(1, before, before, ALONE)
            for arrival in (GENTLE, LECTURE):
                for count in map(int, visitors.split(",")) if arrival.name in arrivals.split(",") else ():
                    seen = asyncio.run(visit_together(url, server_process(), files, count, arrival))
                    print_visits(count, seen, before, arrival)
        if "beside" in parts:
            asyncio.run(beside(url))
        if "flood" in parts:
            asyncio.run(flood(url, files))
    if "memory" in parts:
        with running_app(VIT_CAPTURE_CACHE_MEGABYTES=FULL_SOON) as url:
            asyncio.run(memory(url, server_process(), requests, sessions))


if __name__ == "__main__":
    typer.run(main)
