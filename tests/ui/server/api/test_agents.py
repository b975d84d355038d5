"""Agents with MCP's own client at a fresh server: each call waits for the model as a visitor does."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import numpy as np
import pytest
from mcp import ClientSession
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult

import vitexplorer as vx
from tests.helpers.hosted_page import hosted
from tests.helpers.image_folders import encoded
from vitexplorer.figures.tables import as_document
from vitexplorer.service import scheduler as turns
from vitexplorer.service.engine import Engine

MODEL = "scenes_vit_patch16_192"
TRANSPORTS = {
    "http": lambda url: streamable_http_client(f"{url}gradio_api/mcp/"),
    "sse": lambda url: sse_client(f"{url}gradio_api/mcp/sse"),
}


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    place = tmp_path_factory.mktemp("agents")
    with hosted(VIT_PORT="0", VIT_MCP="1", VIT_RUNS_FOLDER=str(place / "runs"), VIT_CACHE_FOLDER=str(place)) as address:
        yield address


@asynccontextmanager
async def agent(url: str, transport: str = "http") -> AsyncGenerator[ClientSession, None]:
    """Open the session of a connected agent."""
    async with TRANSPORTS[transport](url) as (read, write, *_), ClientSession(read, write) as session:
        await session.initialize()
        yield session


def noise(seed: int) -> np.ndarray:
    """Make a picture that no server has seen."""
    return np.random.default_rng(seed).integers(0, 256, (192, 192, 3), np.uint8)


def sent(url: str, seed: int) -> str:
    """Send a picture and return its id."""
    headers = {"content-type": "application/octet-stream"}
    return httpx.post(f"{url}picture", content=encoded(noise(seed)), headers=headers).json()["image"]


def numbers_of(answer: CallToolResult) -> Any:
    """Return the numbers of an answer."""
    assert not answer.isError, answer.content[0].text
    return json.loads(answer.content[0].text)


async def waiting(client: httpx.AsyncClient) -> int:
    """Return the number of jobs that wait for the model or have begun."""
    metrics = (await client.get("/metrics")).text
    return int(float(metrics.partition('vitexplorer_waiting{queue="model"} ')[2].split("\n")[0]))


async def until(client: httpx.AsyncClient, count: int) -> None:
    """Wait until that many jobs are there."""
    async with asyncio.timeout(30):
        while await waiting(client) != count:
            await asyncio.sleep(0.02)


ASKED = {
    "models": {},
    "views": {},
    "explain": {"view": "attention_map", "settings": {"block": 3, "query": [3, 4]}},
    "predict": {"top": 3},
    "parameters": {"model": "scenes_swin_patch4_window6_192"},
    "diagnose": {"images": [], "model": "scenes_swin_patch4_window6_192"},
}
"""Arguments of a call of every tool"""


@pytest.mark.parametrize(("transport", "first"), [("http", 10), ("sse", 20)])
async def test_every_tool_answers_what_it_must_wait_for(url: str, transport: str, first: int) -> None:
    images = {"explain": {"image": sent(url, first)}, "predict": {"image": sent(url, first + 1)}}
    async with agent(url, transport) as session:
        names = [tool.name for tool in (await session.list_tools()).tools]
        assert names == list(ASKED)
        calls = {name: await session.call_tool(name, ASKED[name] | images.get(name, {})) for name in names}
    answers = {name: numbers_of(answer) for name, answer in calls.items()}
    assert all(answers.values())
    model = vx.load_model(MODEL)
    result = vx.compute("attention_map", vx.capture(model, noise(first)), **ASKED["explain"]["settings"])
    assert answers["explain"]["values"] == as_document(result, "en")["values"]
    capture = vx.capture(model, noise(first + 1))
    assert answers["predict"]["classes"][0]["probability"] == capture.logits.double().softmax(-1).max().item()


@pytest.mark.parametrize(("transport", "first"), [("http", 30), ("sse", 40)])
async def test_several_calls_at_once_have_an_answer_each(url: str, transport: str, first: int) -> None:
    async with agent(url, transport) as session:
        images = [sent(url, first + number) for number in range(5)]
        answers = await asyncio.gather(*(session.call_tool("predict", {"image": image, "top": 1}) for image in images))
    model = vx.load_model(MODEL)
    expected = [vx.capture(model, noise(first + number)).logits.max().item() for number in range(5)]
    assert [numbers_of(answer)["classes"][0]["logit"] for answer in answers] == expected


# ---------------------------------------------------------------------------------------------- who has left


@pytest.fixture
def endless(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hold every pass through a model until nobody waits for it."""

    def run(engine: Engine, picture: object, report: Callable[..., None]) -> None:
        while True:
            report(0, 0)
            time.sleep(0.01)

    monkeypatch.setattr(Engine, "_run", run)
    monkeypatch.setattr(turns, "STILL_THERE", 0.05)


async def call_by_agent(url: str, transport: str, image: str) -> None:
    async with agent(url, transport) as session:
        await session.call_tool("predict", {"image": image})


async def call_run(client: httpx.AsyncClient, image: str) -> None:
    config = (await client.get("/config")).json()
    predict = next(one for one in config["dependencies"] if one["api_name"] == "predict")
    body = {"data": [image, MODEL, 5, "crop", "", "", "en"], "fn_index": predict["id"], "session_hash": "script"}
    await client.post("/gradio_api/run/predict", json=body)


async def call_and_listen(client: httpx.AsyncClient, image: str) -> None:
    event = (await client.post("/gradio_api/call/v2/predict", json={"image": image})).json()["event_id"]
    await client.get(f"/gradio_api/call/predict/{event}")


@pytest.mark.parametrize("way", [*TRANSPORTS, "run", "call"])
async def test_a_call_whose_client_hangs_up_is_let_go(url: str, endless: None, way: str) -> None:
    image = sent(url, 50)
    async with httpx.AsyncClient(base_url=url) as watching, httpx.AsyncClient(base_url=url, timeout=None) as client:
        ways = {"run": call_run, "call": call_and_listen}
        call = asyncio.create_task(ways[way](client, image) if way in ways else call_by_agent(url, way, image))
        await until(watching, 1)
        await asyncio.sleep(10 * turns.STILL_THERE)  # longer than the server takes to see who has left
        assert (await waiting(watching), call.done()) == (1, False)
        call.cancel()
        await until(watching, 0)


async def test_an_agent_with_too_many_jobs_is_refused(url: str, endless: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "EACH", 1)
    first, second = sent(url, 60), sent(url, 61)
    async with httpx.AsyncClient(base_url=url) as watching, agent(url) as session:
        call = asyncio.create_task(session.call_tool("predict", {"image": first}))
        await until(watching, 1)
        refused = await session.call_tool("predict", {"image": second})
        call.cancel()
    assert (refused.isError, refused.content[0].text.partition(" that")[0]) == (True, "You have asked for 1 things")
