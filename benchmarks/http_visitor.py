"""Visitor without a browser: gradio's protocol over HTTP, for many visitors at once.

Events are looked up by the component that fires them; the events that the page chains to them follow. A visitor keeps
as many connections as Chromium, and costs a fraction of what the server does for it.
"""

from __future__ import annotations

import asyncio
import json
import re
import uuid
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, Self
from urllib.parse import urlencode

import aiohttp
from gradio_client.utils import apply_diff

from tests.helpers.app import Visit, browser

API = "/gradio_api"
CONNECTIONS = 6
"""Connections of Chromium to one server"""
PATIENCE = 300.0
"""Seconds until a visitor gives up"""
LONGEST_LINE = 16 << 20
"""Longest message of the server, in bytes"""

_OF_THE_VISIT = re.compile(r"/(\?.*)?$|/(gradio_api|files|attention|examples)/")
"""The page, its events, and files named by their answers, which the visitor requests itself"""


def recorded_files(url: str) -> list[str]:
    """Return paths of the static files, in the order in which a browser with an empty cache requests them."""
    with browser() as chromium:
        visit = Visit(chromium)
        visit.open(url)
        paths = [address.removeprefix(url.rstrip("/")) for address in visit.requests if address.startswith(url)]
        visit.close()
    return [path for path in dict.fromkeys(paths) if not _OF_THE_VISIT.match(path)]


class RefusedError(Exception):
    """Raised when the server refuses a request."""


class HttpVisitor:
    """Visitor with one page, which `async with` closes as a closed tab does."""

    def __init__(self, url: str, files: Sequence[str] = ()):
        """Set up a visitor who has not opened the page yet.

        Args:
            url: the server's address.
            files: paths that a browser requests before the page's first event.
        """
        self.session = uuid.uuid4().hex[:12]
        self.values: dict[int, Any] = {}
        """What components show, by their ids"""
        self.lines: list[str] = []
        """What the status line has said"""
        self.requests = 0
        self._url, self._first_files, self._search = url.rstrip("/"), files, {"lang": "en"}
        self._heard: dict[str, asyncio.Queue] = {}
        self._listening: asyncio.Task | None = None
        self._alive: asyncio.Task | None = None
        self._fetched: set[str] = set()
        self._asked = 0

    async def __aenter__(self) -> Self:
        connector = aiohttp.TCPConnector(limit_per_host=CONNECTIONS)
        timeout = aiohttp.ClientTimeout(PATIENCE)
        self._client = aiohttp.ClientSession(connector=connector, timeout=timeout)
        self._file_client = aiohttp.ClientSession(
            connector=connector,
            connector_owner=False,
            timeout=timeout,
            auto_decompress=False,
            headers={"accept-encoding": "gzip, deflate, br"},
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """End all connections."""
        streams = [task for task in (self._alive, self._listening) if task]
        for task in streams:
            task.cancel()
        await asyncio.gather(*streams, return_exceptions=True)
        await self._file_client.close()
        await self._client.close()

    # -------------------------------------------------------------------------------------- what a person does

    async def open(self, **address: str) -> None:
        """Open the page with its scripts and styles, and wait for the first capture."""
        self._search |= address
        self._config = _config(await self.read(f"/?{urlencode(self._search)}"))
        components = [(one["id"], one["props"]) for one in self._config["components"]]
        self._ids = {props.get("elem_id") or props.get("id") or number: number for number, props in components}
        await asyncio.gather(*map(self._file, self._first_files))
        self._alive = asyncio.create_task(self._stay())
        await self.fire(0, "load")
        self.ready()

    def ready(self) -> None:
        """Raise RefusedError unless the status line reports a capture."""
        if self.value_of("vx-status")["kind"] != "ready":
            raise RefusedError(self.value_of("vx-status")["text"])

    async def choose(self, what: str, value: str) -> None:
        """Choose another image, model, size or fit."""
        self._search |= {what: value}
        await self.fire(f"vx-{what}", "choose", **{what: value})
        self.ready()

    async def send_picture(self, content: bytes) -> None:
        """Upload an image."""
        headers = {"content-type": "application/octet-stream"}
        await self.choose("image", (await self._post("/picture", data=content, headers=headers))["image"])

    async def enter(self, room: str) -> None:
        """Enter a room."""
        self._search |= {"room": room}
        await self.fire(room, "select", value=room)

    async def block(self, block: int) -> None:
        """Go to another block on the canvas of the attention room."""
        before = self.value_of("vx-attention-canvas")
        self._asked += 1
        held = {name: before[name] for name in ("block", "head", "query")}
        await self.fire("vx-attention-canvas", "choose_block", **held, to=block, asked=self._asked)
        self._expect("vx-attention-canvas", block=block, asked=self._asked)

    async def head(self, head: str) -> None:
        """Choose another head of the same block."""
        self._asked += 1
        held = {name: self.value_of("vx-attention-canvas")[name] for name in ("block", "query")}
        await self.fire("vx-attention-canvas", "patch_select", **held, head=head, asked=self._asked)
        self._expect("vx-attention-canvas", head=head, asked=self._asked)

    def _expect(self, name: str, **values: Any) -> None:
        value = self.value_of(name)
        if {key: value[key] for key in values} != values:
            raise RefusedError(f"{name}: {values} was expected")

    async def view(self, room: str, view: str, **settings: str) -> dict:
        """Choose a view in a room and return its panel with the figure."""
        self._asked += 1
        question = {"view": view, "settings": settings, "theme": "light", "asked": self._asked}
        listed = (self.value_of(f"vx-{room}-panel") or {}).get("views", ())
        slow = any(one["slow"] for one in listed if one["key"] == view)
        await self.fire(f"vx-{room}-panel", "work" if slow else "ask", **question)
        panel = self.value_of(f"vx-{room}-panel")
        if not panel["figure"]:
            raise RefusedError(panel["refused"] or panel["work"])
        return panel

    def reports_progress(self, room: str) -> bool:
        """Return True if a panel reports the progress of its view."""
        work = (self.value_of(f"vx-{room}-panel") or {}).get("work")
        return bool(work) and work["share"] is not None

    async def read(self, path: str) -> str:
        """Return the text at another address of the server."""
        async with self._client.get(self._url + path) as answer:
            self.requests += 1
            await _check(answer)
            return await answer.text()

    def value_of(self, name: str | int) -> Any:
        """Return the value of a component by its name in the page."""
        return self.values.get(self._ids[name])

    # -------------------------------------------------------------------------------------- what its script does

    async def fire(self, name: str | int, event: str, **sent: Any) -> None:
        """Fire an event of a component and all that follow it."""
        component = self._ids.get(name, name)
        for one in self._config["dependencies"]:
            if [component, event] in one["targets"]:
                await self._follow(one, sent)

    async def _follow(self, event: dict, sent: dict | None) -> None:
        if event["backend_fn"]:
            await self._ask(event, sent)
        elif "vxLook" in str(event["js"]):
            await self.fire("vx-rail", f"look_{self._search.get('room', 'attention')}")
        await asyncio.gather(*(self._follow(one, None) for one in self._after(event)))

    def _after(self, event: dict) -> Iterator[dict]:
        return (one for one in self._config["dependencies"] if one["trigger_after"] == event["id"])

    async def _ask(self, event: dict, sent: dict | None) -> None:
        data: list = [None] * len(event["inputs"])
        if "vxShown" in str(event["js"]):
            data[-1] = json.dumps({"search": urlencode(self._search), "theme": "light"})
        if entered := re.search(r"vxEnter\('(\w+)'\)", str(event["js"])):
            data[0] = entered[1]
        if "vxVisitor" in str(event["js"]):
            data[0] = json.dumps({"visitor": self.session.ljust(32, "0"), "run": ""})
        body = {"data": data, "event_data": sent, "fn_index": event["id"], "session_hash": self.session}
        if event["queue"]:
            await self._queued(event, body)
        else:
            answer = await self._post(f"{API}/run/predict?{urlencode(self._search)}", json=body)
            self._take(event, answer["data"])
        await asyncio.gather(*(self._file(path) for path in _files([self.values.get(i) for i in event["outputs"]])))

    async def _queued(self, event: dict, body: dict) -> None:
        joined = await self._post(f"{API}/queue/join?{urlencode(self._search)}", json=body)
        heard = self._heard.setdefault(joined["event_id"], asyncio.Queue())
        if self._listening is None or self._listening.done():
            self._listening = asyncio.create_task(self._listen())
        values: list | None = None
        while True:
            message = await asyncio.wait_for(heard.get(), PATIENCE)
            if message["msg"] not in ("process_generating", "process_completed"):
                continue
            if not message["success"]:
                raise RefusedError(message["output"].get("error"))
            data, ended = message["output"].get("data", []), message["msg"] == "process_completed"
            if values is None or ended:
                values = data
            else:
                values = [apply_diff(before, edit) for before, edit in zip(values, data, strict=True)]
            self._take(event, values)
            if ended:
                return

    async def _listen(self) -> None:
        """Follow the server's messages about this page's events until none is open."""
        async with self._stream(f"{API}/queue/data?session_hash={self.session}") as stream:
            async for line in stream.content:
                message = json.loads(line.removeprefix(b"data: ")) if line.strip() else {}
                if message.get("event_id"):
                    self._heard.setdefault(message["event_id"], asyncio.Queue()).put_nowait(message)

    async def _stay(self) -> None:
        """Hold the connection by which the server knows that the page is open."""
        async with self._stream(f"{API}/heartbeat/{self.session}") as stream:
            async for _ in stream.content.iter_any():
                pass

    def _take(self, event: dict, data: list) -> None:
        for component, value in zip(event["outputs"], data, strict=False):
            if not (isinstance(value, dict) and value.get("__type__") == "update"):
                self.values[component] = value
        status = self.values.get(self._ids["vx-status"])
        if self._ids["vx-status"] in event["outputs"] and status:
            self.lines.append(status["text"])

    def _stream(self, path: str) -> Any:
        self.requests += 1
        endless = aiohttp.ClientTimeout(total=None)
        return self._client.get(self._url + path, timeout=endless, read_bufsize=LONGEST_LINE)

    async def _post(self, path: str, **content: Any) -> dict:
        self.requests += 1
        async with self._client.post(self._url + path, **content) as answer:
            await _check(answer)
            return await answer.json()

    async def _file(self, path: str) -> None:
        if path not in self._fetched:
            self._fetched.add(path)
            self.requests += 1
            async with self._file_client.get(self._url + path) as answer:
                await _check(answer)
                await answer.read()


async def _check(answer: aiohttp.ClientResponse) -> None:
    if answer.status >= 400:
        raise RefusedError(f"{answer.status} {(await answer.text())[:200]}")


@lru_cache(maxsize=4)
def _config(page: str) -> dict:
    """Return the configuration that gradio's script reads in the page."""
    prefix = "window.gradio_config = "
    config, _ = json.JSONDecoder().raw_decode(page, page.index(prefix) + len(prefix))
    return config


def _files(value: Any) -> Iterator[str]:
    """Return the addresses of all files in the values of components, except blocks that are not shown."""
    if isinstance(value, dict) and "url" in value:
        yield "/" + value["url"].removeprefix("./")
    elif isinstance(value, dict):
        for name, part in value.items():
            yield from _files(part["rows"] if name == "strip" and isinstance(part, dict) else part)
    elif isinstance(value, list):
        for part in value:
            yield from _files(part)
