"""Readiness, metrics and log lines for operators of a server.

`/metrics` gives Prometheus histograms of requests and events, and gauges of the present state. The log, off by default,
is a line of JSON for each request and event. Both name the program's own routes and functions; nothing identifies a
visitor or contains what they send.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any, TextIO

import gradio as gr
from prometheus_client import (
    CONTENT_TYPE_PLAIN_0_0_4,
    CollectorRegistry,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from vitexplorer.core.settings import Settings
from vitexplorer.service.engine import Engine
from vitexplorer.service.image_store import uploads
from vitexplorer.ui.gradio_adapter.events import events_of
from vitexplorer.ui.gradio_adapter.types import BlockFunction
from vitexplorer.ui.kit.static_responses import NO_STORE
from vitexplorer.ui.server.guards import Guards
from vitexplorer.ui.server.static_files import version

disable_created_metrics()  # the `_created` series would add a third as many lines

SECONDS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
"""Upper bounds of the histogram buckets, in seconds"""


class Metrics:
    """Metrics of one server, and its log."""

    def __init__(self, log: TextIO | None = None):
        """Start with no requests and events; `log` receives a line for each."""
        self._log = log
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        histogram = partial(Histogram, buckets=SECONDS, registry=self._registry)
        self._seconds = {
            "request": histogram(
                "vitexplorer_request_seconds",
                "Requests, by the time until their answer began",
                ("method", "route", "status"),
            ),
            "event": histogram(
                "vitexplorer_event_seconds",
                "Events of the page and calls of scripts, by the time that they took, waiting included",
                ("event", "outcome"),
            ),
        }

    def record(self, kind: str, seconds: float, **labels: Any) -> None:
        """Measure and log a `request` or an `event`."""
        self._seconds[kind].labels(**labels).observe(seconds)
        if self._log is not None:
            at = datetime.now(UTC).isoformat(timespec="milliseconds")
            line = {"time": at, "kind": kind, **labels, "seconds": round(seconds, 4)}
            print(json.dumps(line), file=self._log, flush=True)

    def now(self, name: str, meaning: str, label: str, amounts: Mapping[str, Callable[[], float]]) -> None:
        """Add a gauge, for each value of its label with the function that returns the present amount."""
        gauge = Gauge(f"vitexplorer_{name}", meaning, (label,), registry=self._registry)
        for value, amount in amounts.items():
            gauge.labels(value).set_function(amount)

    def exposition(self) -> bytes:
        """Return all metrics in Prometheus' text format."""
        return generate_latest(self._registry)


def watched(settings: Settings, engine: Engine, page: gr.Blocks, guards: Guards) -> Metrics:
    """Start to measure the events of `page`, and report sizes of the engine's and the guards' stores."""
    metrics = Metrics(sys.stdout if settings.log_requests else None)
    watch_events(page, metrics)
    caches = {**engine.caches, "uploads": uploads}
    sizes = {name: partial(getattr, cache, "nbytes") for name, cache in caches.items()}
    metrics.now("cache_bytes", "Memory of what is kept to answer from", "cache", sizes)
    counts = {name: partial(len, cache) for name, cache in caches.items()}
    metrics.now("cache_entries", "How much of it there is", "cache", counts)
    waiting = {name: partial(len, queue) for name, queue in engine.queues.items()}
    metrics.now("waiting", "What waits for a turn or has begun", "queue", waiting)
    metrics.now("trainings", "Trainings, by what they do", "state", {"running": engine.places.running})
    metrics.now(
        "sent_bytes",
        "What visitors sent: on the disk after the last sweep, and within the last hour",
        "what",
        {"on_disk": lambda: guards.folder.held.size, "last_hour": lambda: guards.budgets.of_all},
    )
    metrics.now(
        "stored_bytes",
        "Trainings, images and tuned models, after the last sweep",
        "what",
        {"all": lambda: guards.stored.held.size},
    )
    pages = {"open": lambda: guards.visitors.counts["open"], "closed": lambda: guards.visitors.counts["closed"]}
    metrics.now("visitors", "Pages that are remembered", "state", pages)
    return metrics


def watch_events(page: gr.Blocks, metrics: Metrics) -> None:
    """Record every event of `page` in `process_api`, through which gradio answers all; each step of a stream is one."""
    process = page.process_api

    async def measured(block_fn: BlockFunction | int, *args: Any, **kwargs: Any) -> dict[str, Any]:
        began = time.monotonic()
        outcome = "failed"
        try:
            answer = await process(block_fn, *args, **kwargs)
            outcome = "answered"
            return answer
        except gr.Error:
            outcome = "refused"
            raise
        finally:
            function = events_of(page)[block_fn] if isinstance(block_fn, int) else block_fn
            name = getattr(function.fn, "__qualname__", "other")  # with its class, such as `RoomFigures.answer`
            metrics.record("event", time.monotonic() - began, event=name, outcome=outcome)

    page.process_api = measured


class Watched:
    """Middleware that records every request by its route, never by its full path."""

    def __init__(self, app: ASGIApp, metrics: Metrics):
        self.app, self.metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on; measure until the response begins, since the stream of an open page does not end."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began = time.monotonic()

        async def send_measured(message: Message) -> None:
            if message["type"] == "http.response.start":
                route = getattr(scope.get("route"), "path", None) or "other"  # its pattern: these are few, paths not
                labels = {"method": scope["method"], "route": route, "status": message["status"]}
                self.metrics.record("request", time.monotonic() - began, **labels)
            await send(message)

        await self.app(scope, receive, send_measured)


def watching_routes(engine: Engine, metrics: Metrics) -> list[Route]:
    """Return the routes `/healthz` for readiness and `/metrics` for Prometheus."""

    async def health(request: Request) -> Response:
        is_ready = engine.is_warm  # read once: the warm-up ends on another thread
        status = {"ready": is_ready, "device": _device() if is_ready else None, "version": version()}
        return JSONResponse(status, 200 if is_ready else 503, NO_STORE)

    async def exposed(request: Request) -> Response:
        text = await asyncio.to_thread(metrics.exposition)
        return Response(text, headers=NO_STORE, media_type=CONTENT_TYPE_PLAIN_0_0_4)

    return [Route("/healthz", health), Route("/metrics", exposed)]


def _device() -> str:
    from vitexplorer.models.loading import usual_device

    return usual_device()
