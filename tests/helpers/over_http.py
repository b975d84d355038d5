"""Visitor without a browser: gradio's protocol over HTTP, for many visitors at once.

Events are looked up by the component that fires them; the events that the page chains to them follow.
"""

from __future__ import annotations

import asyncio
import json
import re
import uuid
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Protocol

import httpx
from gradio_client.utils import apply_diff

API = "/gradio_api"
PAGE_LOAD = (0, "load")


class RefusedError(Exception):
    """Raised when the server refuses a request."""


class Files(Protocol):
    """Protocol of a client that requests files of the server."""

    async def fetch_first(self) -> None:
        """Request all files that a page needs before its first event."""

    async def fetch(self, path: str) -> None:
        """Request one file."""


class HttpVisitor:
    """Visitor with one open page."""

    def __init__(self, client: httpx.AsyncClient, language: str = "en", files: Files | None = None):
        """Set up a visitor who has not opened the page yet.

        Args:
            client: HTTP client with the server's address; visitors may share it.
            language: language of the page.
            files: cheaper client for files, also for those that a browser finds in the page's scripts.
        """
        self.session, self.values, self.lines = uuid.uuid4().hex[:12], {}, []
        """`values`: what components show, by their ids; `lines`: what the status line said"""
        self._client, self._search, self._files = client, {"lang": language}, files
        self._heard: dict[str, asyncio.Queue] = {}
        self._listening: asyncio.Task | None = None
        self._alive: asyncio.Task | None = None
        self._fetched: set[str] = set()
        self._asked = 0

    # -------------------------------------------------------------------------------------- what a person does

    async def open(self, **address: str) -> None:
        """Open the page with its scripts and styles, and wait for the first capture."""
        self._search |= address
        page = (await self._get("/", params=self._search)).text
        prefix = "window.gradio_config = "
        start = page.index(prefix) + len(prefix)
        self._config, _ = json.JSONDecoder().raw_decode(page, start)
        components = [(one["id"], one["props"]) for one in self._config["components"]]
        self._ids = {props.get("elem_id") or props.get("id") or number: number for number, props in components}
        if self._files:
            await self._files.fetch_first()
        else:
            own = re.findall(r'(?:src|href)="\.?(/(?:modules|assets)/[^"]+)"', page)
            await asyncio.gather(*(self._file(path) for path in own))
        self._alive = asyncio.create_task(self._stay())
        await self.fire(0, "load")
        self.ready()

    def ready(self) -> None:
        """Raise RefusedError unless the status line reports a capture."""
        if self.value_of("vx-status")["kind"] != "ready":
            raise RefusedError(self.value_of("vx-status")["text"])

    async def close(self) -> None:
        """Leave the page as a closed tab does, by ending its connections."""
        for task in (self._alive, self._listening):
            if task:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task

    async def choose(self, what: str, value: str) -> None:
        """Choose another image, model, size or fit."""
        self._search |= {what: value}
        await self.fire(f"vx-{what}", "choose", **{what: value})
        self.ready()

    async def send_picture(self, content: bytes) -> None:
        """Upload an image."""
        sent = await self._client.post(
            "/picture", content=content, headers={"content-type": "application/octet-stream"}
        )
        await self.choose("image", _checked(sent).json()["image"])

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
        return (await self._get(path)).text

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
            data[-1] = json.dumps({"search": str(httpx.QueryParams(self._search)), "theme": "light"})
        if entered := re.search(r"vxEnter\('(\w+)'\)", str(event["js"])):
            data[0] = entered[1]
        if "vxVisitor" in str(event["js"]):
            data[0] = json.dumps({"visitor": self.session.ljust(32, "0"), "run": ""})
        body = {"data": data, "event_data": sent, "fn_index": event["id"], "session_hash": self.session}
        if event["queue"]:
            await self._queued(event, body)
        else:
            answer = await self._client.post(f"{API}/run/predict", json=body, params=self._search)
            self._take(event, _checked(answer).json()["data"])
        await asyncio.gather(*(self._file(path) for path in _files([self.values.get(i) for i in event["outputs"]])))

    async def _queued(self, event: dict, body: dict) -> None:
        joined = await self._client.post(f"{API}/queue/join", json=body, params=self._search)
        heard = self._heard.setdefault(_checked(joined).json()["event_id"], asyncio.Queue())
        if self._listening is None or self._listening.done():
            self._listening = asyncio.create_task(self._listen())
        values: list | None = None
        while True:
            message = await heard.get()
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
        url, asked = f"{API}/queue/data", {"session_hash": self.session}
        async with self._client.stream("GET", url, params=asked, timeout=None) as stream:
            async for line in stream.aiter_lines():
                message = json.loads(line.removeprefix("data: ")) if line else {}
                if message.get("event_id"):
                    self._heard.setdefault(message["event_id"], asyncio.Queue()).put_nowait(message)

    async def _stay(self) -> None:
        """Hold the connection by which the server knows that the page is open."""
        async with self._client.stream("GET", f"{API}/heartbeat/{self.session}", timeout=None) as stream:
            async for _ in stream.aiter_bytes():
                pass

    def _take(self, event: dict, data: list) -> None:
        for component, value in zip(event["outputs"], data, strict=False):
            if not (isinstance(value, dict) and value.get("__type__") == "update"):
                self.values[component] = value
        status = self.values.get(self._ids["vx-status"])
        if self._ids["vx-status"] in event["outputs"] and status:
            self.lines.append(status["text"])

    async def _get(self, path: str, **options: Any) -> httpx.Response:
        return _checked(await self._client.get(path, **options))

    async def _file(self, path: str) -> None:
        if path not in self._fetched:
            self._fetched.add(path)
            await (self._files.fetch(path) if self._files else self._get(path))


def _checked(answer: httpx.Response) -> httpx.Response:
    if answer.is_error:
        raise RefusedError(f"{answer.status_code} {answer.text[:200]}")
    return answer


def _files(value: Any) -> Iterator[str]:
    """Return the addresses of all files in the values of components; of neighbouring blocks only the next."""
    if isinstance(value, dict) and "url" in value:
        yield "/" + value["url"].removeprefix("./")
    elif isinstance(value, dict) and isinstance(value.get("strip"), dict):
        yield from _files({name: part for name, part in value.items() if name != "strip"})
        strip, at = value["strip"], value["block"]
        yield from _files([strip["rows"], *(one for one in strip["blocks"] if abs(one["block"] - at) == 1)])
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _files(part)
