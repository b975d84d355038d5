"""Metrics for operators of a server: readiness, events and durations; nothing about visitors."""

from __future__ import annotations

import io
import json
import re
from contextlib import suppress
from typing import Any

import gradio as gr
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route
from starlette.testclient import TestClient

from vitexplorer.core.cache import BytesCache
from vitexplorer.core.settings import Settings
from vitexplorer.service.engine import Engine
from vitexplorer.ui.server.metrics import Metrics, Watched, watch_events, watching_routes


def amounts(metrics: Metrics) -> dict[str, float]:
    """Return the values by name and labels."""
    text = metrics.exposition().decode()
    return {name: float(value) for name, value in re.findall(r"^(vitexplorer_\S+) (\S+)$", text, re.MULTILINE)}


async def hello(request: Request) -> PlainTextResponse:
    return PlainTextResponse(await request.body(), request.path_params["status"])


def test_requests_are_counted_by_their_route_and_nothing_else(unchecked):
    written = io.StringIO()
    metrics = Metrics(written)
    routes = [Mount("/a", routes=[Route("/{status:int}", hello, methods=["POST"])])]
    watched = Middleware(Watched, metrics=metrics)
    with TestClient(Starlette(routes=routes, middleware=[watched])) as client:
        client.post("/a/201?secret=1", content=b"secret", headers={"cookie": "secret"})
        client.get("/nosuch/secret")
    lines = [json.loads(line) for line in written.getvalue().splitlines()]
    assert [(line["kind"], line["method"], line["status"]) for line in lines] == [
        ("request", "POST", 201),
        ("request", "GET", 404),
    ]
    assert "secret" not in written.getvalue() + metrics.exposition().decode()
    assert lines[0]["route"].endswith("/{status:int}")
    assert lines[1]["route"] == "other"
    label = f'method="POST",route="{lines[0]["route"]}",status="201"'
    assert amounts(metrics)[f"vitexplorer_request_seconds_count{{{label}}}"] == 1


def test_no_line_is_written_unasked(capfd):
    Metrics().record("event", 1.0, event="a", outcome="answered")
    assert capfd.readouterr() == ("", "")


async def test_events_are_counted_by_their_outcome(unchecked):
    def answer(how: str) -> str:
        if how == "refused":
            raise gr.Error("no", print_exception=False)
        if how == "failed":
            raise ZeroDivisionError
        return how

    written = io.StringIO()
    metrics = Metrics(written)
    with gr.Blocks(analytics_enabled=False) as page:
        gr.api(answer, api_name="answer")
    watch_events(page, metrics)
    expected = ["answered", "refused", "failed", "answered"]
    for how in expected:
        with suppress(gr.Error, ZeroDivisionError):
            await page.process_api(page.fns[0], [how])
    assert [json.loads(line)["outcome"] for line in written.getvalue().splitlines()] == expected
    name = "test_events_are_counted_by_their_outcome.<locals>.answer"
    count = f'vitexplorer_event_seconds_count{{event="{name}",outcome="answered"}}'
    assert amounts(metrics)[count] == 2


def test_a_server_is_ready_once_its_first_capture_would_not_wait_for_imports():
    engine = Engine(Settings())
    with TestClient(Starlette(routes=watching_routes(engine, Metrics()))) as client:
        health = client.get("/healthz")
        assert (health.status_code, health.json()["ready"]) == (503, False)
        engine.warm()
        health = client.get("/healthz")
        assert (health.status_code, health.json()["ready"]) == (200, True)
        assert health.json()["device"] in ("cpu", "cuda")


def test_what_a_cache_holds_is_known_without_looking_through_it():
    cache: BytesCache[Any, int] = BytesCache(10, lambda value: value)
    for key, value in [("a", 4), ("b", 4), ("a", 5), ("c", 3)]:
        cache.put(key, value)
    assert (cache.nbytes, len(cache)) == (8, 2)  # b went: a came again after it
