"""Other programs at the running app: the lines of `docs/api.md`, and an agent with MCP's own client."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, ImageContent, TextContent

import vitexplorer as vx
from tests.helpers.documentation import code_blocks
from tests.helpers.tree import ROOT
from tests.helpers.waiting import now
from vitexplorer.figures.tables import as_document
from vitexplorer.models.examples import examples

ADDRESS = "http://127.0.0.1:7860"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder with `picture.jpg` of the documentation."""
    shutil.copy(examples()["scene_mug"].path, tmp_path / "picture.jpg")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def lines(language: str, url: str) -> str:
    """Return the lines of `docs/api.md`, for the app under test."""
    (result,) = code_blocks(language, ROOT / "docs" / "api.md")
    return result.replace(ADDRESS, url.rstrip("/"))


def computed(image: str, view: str, **settings: Any) -> dict[str, Any]:
    """Return what a local script computes, as JSON has it."""
    capture = vx.capture(vx.load_model("scenes_vit_patch16_192"), examples()[image].path)
    result = vx.compute(view, capture, **settings)
    return json.loads(json.dumps({**as_document(result, "en"), "reading": vx.reading(result), "picture": None}))


def test_the_lines_for_python_run(url, folder, capsys):
    names: dict[str, Any] = {}
    exec(lines("python", url), names)
    rollout = names["rollout"]
    assert Path(rollout["picture"]).read_bytes().startswith(b"\x89PNG")
    assert {**rollout, "picture": None} == computed("scene_mug", "attention_rollout")
    assert "'name': 'fish'" in capsys.readouterr().out


@pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl here")
def test_the_lines_for_a_shell_run(url, folder):
    done = subprocess.run(["bash", "-euc", lines("bash", url)], capture_output=True, text=True, check=True)
    answered, sent = re.fullmatch(r"event: complete\ndata: (.*)\n\n(.*)", done.stdout, re.DOTALL).groups()
    assert json.loads(answered) == [computed("scene_fish", "attention_map", block=3, query=(3, 4))]
    assert json.loads(sent)["image"].startswith("upload-")


# ---------------------------------------------------------------------------------------------- agents


def called(url: str, *calls: tuple[str, dict[str, Any]]) -> list[CallToolResult]:
    """Return the answers to an agent's calls."""

    async def session() -> list[CallToolResult]:
        connected = streamable_http_client(f"{url}gradio_api/mcp/")
        async with connected as (read, write, _), ClientSession(read, write) as agent:
            await agent.initialize()
            tools = (await agent.list_tools()).tools
            assert [tool.name for tool in tools] == ["models", "views", "explain", "predict", "parameters", "diagnose"]
            for tool in tools:
                described = tool.inputSchema["properties"].values()
                assert tool.description
                assert all(one["description"] for one in described)
            return [await agent.call_tool(name, given) for name, given in calls]

    return now(session())


def test_an_agent_is_given_numbers_and_a_picture(url, folder):
    content = (folder / "picture.jpg").read_bytes()
    sent = httpx.post(f"{url}picture", content=content, headers={"content-type": "application/octet-stream"}).json()
    asked = {"image": sent["image"], "view": "attention_rollout"}
    numbers, drawn = called(url, ("explain", asked), ("explain", {**asked, "picture": "png"}))
    (text,) = numbers.content
    assert isinstance(text, TextContent)
    assert json.loads(text.text) | {"picture": None} == computed("scene_mug", "attention_rollout")
    assert [(type(part), getattr(part, "mimeType", "")) for part in drawn.content[:2]] == [
        (TextContent, ""),
        (ImageContent, "image/png"),
    ]


def test_an_agent_gets_a_sentence_for_what_is_impossible(url):
    wrong, inside = called(
        url,
        ("explain", {"image": "scene_fish", "view": "atention_map", "language": "zh"}),
        ("predict", {"image": f"{url}gradio_api/theme.css"}),
    )
    assert (wrong.isError, wrong.content[0].text) == (True, "未知的视图“atention_map”。您是指“attention_map”吗？")
    assert (inside.isError, inside.content[0].text.split(":")[0]) == (True, "127.0.0.1 is not a public address")


# ---------------------------------------------------------------------------------------------- who runs it


def test_the_server_says_how_it_is(url):
    answer = httpx.get(f"{url}metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    gauges = set(re.findall(r"^# TYPE vitexplorer_(\w+) gauge", answer.text, re.MULTILINE))
    assert gauges >= {"cache_bytes", "cache_entries", "waiting", "trainings", "sent_bytes"}
    assert 'vitexplorer_request_seconds_count{method="GET",route="/metrics"' in httpx.get(f"{url}metrics").text
    assert "process_resident_memory_bytes" in answer.text
    assert httpx.get(f"{url}healthz").json().keys() == {"ready", "device", "version"}
