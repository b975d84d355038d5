"""Fuzz subjects over HTTP: arguments of the endpoints and events of the components of a hosted page.

A case is sent over HTTP to the page as it is served. It must get an answer or a message, without an entry in the
server's log.
"""

from __future__ import annotations

import contextlib
import io
import json
import logging
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from tests.helpers.damaged_files import altered, as_json
from tests.helpers.fuzz_subject import Subject
from tests.helpers.hosted_page import hosted
from vitexplorer.core.text import ExplainedError, same
from vitexplorer.finetune.job import detached

MODEL = "scenes_vit_patch16_192"
FILE = {"path": "/etc/passwd", "meta": {"_type": "gradio.FileData"}, "size": 1, "orig_name": "a.png", "url": None}
ANSWERS = {
    "explain": {
        "image": "scene_fish", "view": "attention_map", "model": MODEL, "settings": {"block": 3, "query": [3, 4]},
        "weights": "random", "fit": "crop", "size": "96", "change": "", "picture": "none", "language": "en",
    },
    "predict": {
        "image": "scene_mug", "model": MODEL, "top": 3, "fit": "squash", "size": "", "change": "positions:how=off",
        "language": "en",
    },
    "parameters": {"model": MODEL, "language": "en"},
    "models": {"language": "en"},
    "views": {"language": "en"},
}  # fmt: skip
"""Call of each endpoint with all of its arguments"""
SENT = {
    "asked": 1, "block": 3, "to": 4, "row": 1, "col": 2, "index": 0, "head": "1", "pinned": False, "query": "3,4",
    "view": "attention_map", "settings": {"block": "3"}, "theme": "dark", "room": "attention", "image": "scene_fish",
    "whole": True,
    "target": "fish", "task": "", "model": MODEL, "weights": "random", "fit": "crop", "size": "96", "text": "",
    "texts": ["a red gear"], "files": [],
    "run": "a" * 32, "what": "merged", "step": "class_token",
    "methods": [{"key": "lora", "settings": {"r": "4"}, "rate": "0.1"}],
    "epochs": "3", "seed": "0", "augmentation": "none", "class_weights": "none", "backbone": "",
}  # fmt: skip
"""All fields that components put into events"""
VIEWED = json.dumps({"search": f"?image=scene_fish&model={MODEL}&weights=random&block=3", "theme": "dark"})
DEEP: Any = 0
for _ in range(250):
    DEEP = [DEEP]
WORDS = [
    "scene_mug",
    "nosuch",
    "/gradio_api/file=\0",
    "data:image/png;base64,AAAA",
    "http://127.0.0.1/a",
    "\ud800",
    "zh",
]
PUT = [
    FILE,
    {**FILE, "path": "http://127.0.0.1/a"},
    {"path": "a", "meta": 1},
    DEEP,
    *WORDS,
    *ANSWERS["explain"].values(),
]
"""Values to insert, beside the general odd ones"""
SESSION = "script"


@contextmanager
def over_http(place: Path) -> Iterator[list[Subject]]:
    """Yield the subjects of a page that stores its files in `place`."""
    names = {"VIT_RUNS_FOLDER": str(place / "runs"), "VIT_CACHE_FOLDER": str(place), "VIT_PORT": "0", "VIT_HOSTED": "1"}
    with ExitStack() as web, pytest.MonkeyPatch.context() as patched:
        patched.setattr(detached, "start", None)
        address = web.enter_context(hosted(**names))
        client = web.enter_context(httpx.Client(base_url=address, timeout=120))
        script = ScriptClient(client, client.get("/config").json())
        yield [Subject("calls", _calls(), script.call), Subject("page events", _events(script.handlers), script.fire)]


def _calls() -> SearchStrategy[tuple[str, str, Any]]:
    """Draw a route of calls, an endpoint, and its arguments."""
    ways = st.tuples(st.sampled_from(("run/", "call/", "call/v2/")), st.sampled_from(sorted(ANSWERS)))

    def body(way: tuple[str, str]) -> SearchStrategy[tuple[str, str, Any]]:
        whole = ANSWERS[way[1]] if way[0] == "call/v2/" else {"data": list(ANSWERS[way[1]].values())}
        return st.tuples(*map(st.just, way), altered(whole, PUT))

    return ways.flatmap(body)


def _events(handlers: list[dict[str, Any]]) -> SearchStrategy[tuple[dict[str, Any], dict[str, Any]]]:
    """Draw an event of the page, and its body."""
    known = [one for one in handlers if one["backend_fn"] and one["api_visibility"] == "private"]
    starts = {"start", "draw"}  # a training, or images for it
    known = [one for one in known if not {event for _, event in one["targets"]} & starts]

    def body(handler: dict[str, Any]) -> SearchStrategy[tuple[dict[str, Any], dict[str, Any]]]:
        data = [VIEWED if number == len(handler["inputs"]) - 1 else None for number in range(len(handler["inputs"]))]
        return st.tuples(st.just(handler), altered({"data": data, "event_data": SENT}, PUT))

    return st.sampled_from(known).flatmap(body)


class ScriptClient:
    """Script client with an open page."""

    def __init__(self, client: httpx.Client, config: dict[str, Any]):
        """Set up the client.

        Args:
            client: HTTP client with the address of the page.
            config: gradio's configuration of the page.
        """
        self.client, self.handlers = client, config["dependencies"]
        load = next(one for one in self.handlers if any(event == "load" for _, event in one["targets"]))
        self.fire((load, {"data": [None] * len(load["inputs"])}))

    def call(self, asked: tuple[str, str, Any]) -> None:
        """Call an endpoint; ExplainedError with the message of a refusal."""
        way, name, body = asked
        address = f"/gradio_api/{way}{name}"
        with nothing_is_logged():
            if way == "run/":
                handler = next(one for one in self.handlers if one["api_name"] == name)
                self._sent(address, _event(handler, body))
            else:
                event = self._sent(address, body)["event_id"]
                stream = self.client.get(f"{address}/{event}").text
                kind, _, data = stream.strip().rpartition("event: ")[2].partition("\ndata: ")
                _raise_refusal(json.loads(data), kind == "complete")

    def fire(self, fired: tuple[dict[str, Any], Any]) -> None:
        """Send an event of the page; ExplainedError with the message of a refusal."""
        handler, body = fired
        event_body = _event(handler, body)
        with nothing_is_logged():
            if not handler["queue"]:
                self._sent("/gradio_api/run/predict", event_body)
                return
            event = self._sent("/gradio_api/queue/join", event_body)["event_id"]
            with self.client.stream("GET", "/gradio_api/queue/data", params={"session_hash": SESSION}) as stream:
                for line in stream.iter_lines():
                    message = json.loads(line.removeprefix("data: ")) if line else {}
                    if message.get("event_id") == event and message["msg"] == "process_completed":
                        _raise_refusal(message["output"], "error" not in message["output"])

    def _sent(self, address: str, body: Any) -> Any:
        answer = self.client.post(address, content=as_json(body), headers={"content-type": "application/json"})
        assert answer.status_code < 500, answer.text
        _raise_refusal(answer.json(), answer.status_code == 200)
        return answer.json()


def _event(handler: dict[str, Any], body: Any) -> dict[str, Any]:
    return {"fn_index": handler["id"], "session_hash": SESSION, **(body if isinstance(body, dict) else {})}


def _raise_refusal(answer: Any, is_right: bool) -> None:
    """Raise ExplainedError with the message of a refusal."""
    json.dumps(answer, allow_nan=False)
    if not is_right:
        assert isinstance(answer["error"], str), answer
        raise ExplainedError(same(answer["error"].replace("。", ".")))


@contextmanager
def nothing_is_logged() -> Iterator[None]:
    """Raise AssertionError if a traceback or a warning is logged inside the context."""
    log = io.StringIO()
    handler = logging.StreamHandler(log)
    loggers = [logging.getLogger(name) for name in ("", "uvicorn")]
    for logger in loggers:
        logger.addHandler(handler)
    try:
        with contextlib.redirect_stderr(log):
            yield
    finally:
        for logger in loggers:
            logger.removeHandler(handler)
        if log.getvalue():
            raise AssertionError("logged: " + log.getvalue().strip().rpartition("\n")[2])
