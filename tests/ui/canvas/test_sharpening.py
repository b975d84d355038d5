"""Sharpened maps as a browser requests them, and on the canvas."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from dataclasses import replace

import gradio as gr
import numpy as np
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

import vitexplorer as vx
from tests.helpers.app import Visit
from tests.helpers.built_parts import built
from tests.helpers.room_checks import PATIENCE
from tests.helpers.small_models import capture_small, load_small, picture
from vitexplorer.core.settings import Settings, settings
from vitexplorer.models.examples import examples
from vitexplorer.service.engine import Engine, TimedCapture
from vitexplorer.ui.canvas.files import sharpened_address
from vitexplorer.ui.canvas.sharpening import sharpened_route
from vitexplorer.ui.kit.language import Translations
from vitexplorer.ui.rooms.attention.room import AttentionRoom
from vitexplorer.ui.shell.address import Address
from vitexplorer.ui.shell.room_context import RoomContext


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    with TestClient(Starlette(routes=[sharpened_route(Engine(settings()))])) as client:
        yield client


def asked(client: TestClient, capture, view: str = "attention_map", language: str = "en", **chosen):
    address = sharpened_address(capture, view, language, **chosen)
    return client.get(address[1:])


def test_a_browser_gets_the_numbers_of_the_view(client):
    capture = capture_small("vit")
    answer = asked(client, capture, block=0, head="max", query=(1, 2), sharpen=4)
    expected = vx.compute("attention_map", capture, block=0, head="max", query=(1, 2), sharpen=4).values
    assert "immutable" in answer.headers["cache-control"]
    np.testing.assert_array_equal(np.frombuffer(answer.content, "<f4").reshape(expected.shape), expected)
    answer = asked(client, capture, "attention_rollout", query="mean", discard_ratio=0.5, sharpen=4)
    expected = vx.compute("attention_rollout", capture, query="mean", discard_ratio=0.5, sharpen=4).values
    np.testing.assert_allclose(np.frombuffer(answer.content, "<f4").reshape(expected.shape), expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("chosen", "status", "sentence"),
    [
        ({"sharpen": 5}, 422, "sharpen"),
        ({"block": 99, "sharpen": 4}, 422, "block 99"),
        ({"query": "99,99", "sharpen": 4}, 422, "no patch"),
        ({"view": "occlusion", "sharpen": 4}, 404, "no longer"),
        ({"view": "no_such", "sharpen": 4}, 404, "no longer"),
        ({"strange": 1, "sharpen": 4}, 422, "strange"),
    ],
)
def test_what_a_browser_should_not_ask_gets_a_sentence(client, chosen, status, sentence):
    answer = asked(client, capture_small("vit"), **{"view": "attention_map", **chosen})
    assert answer.status_code == status
    assert sentence in answer.text
    assert answer.headers["cache-control"] == "no-store"


def test_what_nobody_asked_for_is_computed_while_the_model_is_idle_alone(monkeypatch):
    engine, capture = Engine(settings()), capture_small("vit")
    with TestClient(Starlette(routes=[sharpened_route(engine)])) as client:
        with monkeypatch.context() as busy:
            busy.setattr(Engine, "queues", property(lambda self: {"model": [], "long": ["a job"]}))
            answer = asked(client, capture, sharpen=4, idle=1)
            assert (answer.status_code, answer.content, answer.headers["cache-control"]) == (204, b"", "no-store")
            assert asked(client, capture, sharpen=4).status_code == 200  # a person waits as ever
            again = asked(client, capture, sharpen=4, idle=1)  # from memory, for all visitors
            assert again.content == asked(client, capture, sharpen=4).content
            assert asked(client, capture, head="max", sharpen=4, idle=1).status_code == 204
        assert asked(client, capture, head="max", sharpen=4, idle=1).status_code == 200
        assert asked(client, capture, sharpen=5, idle=1).status_code == 422


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, True),
        ({"sharpen": "4"}, False),
        ({"weights": "random"}, False),
        ({"image": "upload:0123"}, False),
        ({"model": "vit_base_patch16_224"}, False),
    ],
)
def test_the_first_picture_sharpens_by_itself_where_that_is_cheap(changes, expected, monkeypatch):
    room = built(AttentionRoom(RoomContext(Engine(settings()), Translations(), gr.State(Address()))))
    address = replace(Address(model="scenes_vit_patch16_192", image="scene_ring"), **changes)
    timed = TimedCapture(capture_small("vit"), 0.1)
    assert room.fill(timed, address)[room.canvas].sharpens_itself == expected
    monkeypatch.setattr("vitexplorer.ui.rooms.attention.room.settings", lambda: Settings(first_sharpens=False))
    assert not room.fill(timed, address)[room.canvas].sharpens_itself


def test_a_sentence_is_in_the_language_of_the_page(client):
    assert "不存在" in asked(client, capture_small("vit"), language="zh", query="99,99", sharpen=4).text


def test_an_address_ends_with_its_capture(client):
    capture = vx.capture(load_small("vit"), picture(64, 64))
    address = sharpened_address(capture, "attention_map", "en", sharpen=4)[1:]
    del capture
    gc.collect()
    assert client.get(address).status_code == 404


async def test_a_browser_that_hangs_up_stops_the_work(monkeypatch):
    """The engine is asked with a `tell` that raises once the connection is closed."""
    engine = Engine(settings())
    capture = capture_small("vit")
    steps = []

    async def forever(name, captured, view, given):
        from vitexplorer.service.jobs import Step, waiting

        for _ in range(100):
            steps.append(1)
            await waiting.get().tell(Step())
        return None

    monkeypatch.setattr(engine, "compute", forever)
    path, _, query = sharpened_address(capture, "attention_map", "en", sharpen=4)[1:].partition("?")
    sent = []

    async def receive():
        return {"type": "http.disconnect"}

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "method": "GET", "path": path, "query_string": query.encode(), "headers": []}
    await Starlette(routes=[sharpened_route(engine)])(scope, receive, send)
    assert len(steps) == 1
    assert sent[0]["status"] == 499


# ---------------------------------------------------------------------------------------------- on the page

FINE = "(room) => document.querySelector(`#vx-${room}-canvas .vx-canvas`).vx.read()?.fine"


@pytest.mark.browser
def test_the_canvas_shows_the_sharpened_map_of_a_link(visit: Visit, url: str) -> None:
    name = "scenes_vit_patch16_192"
    visit.open(url, model=name, image="scene_fish", sharpen="4")
    page = visit.page
    fine = page.wait_for_function(FINE, arg="attention", timeout=PATIENCE).json_value()
    captured = vx.capture(vx.load_model(name), examples()["scene_fish"].path)
    expected = vx.compute("attention_map", captured, sharpen=4).values
    np.testing.assert_allclose(np.reshape(fine, expected.shape), expected, atol=1e-6)
    canvas = page.locator("#vx-attention-canvas")
    assert "4 passes" in canvas.locator(".sharpened").inner_text()
    assert canvas.locator(".scale .high").inner_text() == f"{100 * expected.max():.1f}\u202f%"

    canvas.locator(".sharpen label", has_text="off").click()
    page.wait_for_function(f"room => !({FINE})(room)", arg="attention")
    page.wait_for_function("() => !new URL(location.href).searchParams.has('sharpen')")
    assert canvas.locator(".sharpened").inner_text() == ""

    canvas.locator(".sharpen label", has_text="4").first.click()
    page.wait_for_function(FINE, arg="attention", timeout=PATIENCE)
    canvas.locator(".view").press("ArrowRight")  # another query: its own map comes
    page.wait_for_function(f"room => !({FINE})(room)", arg="attention")
    fine = page.wait_for_function(FINE, arg="attention", timeout=PATIENCE).json_value()
    query = tuple(map(int, canvas.locator(".vx-canvas").get_attribute("data-query").split(",")))
    expected = vx.compute("attention_map", captured, query=query, sharpen=4).values
    np.testing.assert_allclose(np.reshape(fine, expected.shape), expected, atol=1e-6)
