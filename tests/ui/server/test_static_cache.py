"""Static cache: answers that never change come from memory; all others are asked for again."""

from __future__ import annotations

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from vitexplorer.core.cache import Memory
from vitexplorer.ui.kit.static_responses import IMMUTABLE, immutable_response
from vitexplorer.ui.server.static_cache import StaticCache


class _Server:
    """App behind the cache that counts its requests."""

    def __init__(self, capacity: int = 10_000):
        self.asked, self.memory = [], Memory(capacity)
        app = Starlette(
            routes=[Route("/{path:path}", self.answer)], middleware=[Middleware(StaticCache, memory=self.memory)]
        )
        self.client = TestClient(app, headers={"accept-encoding": "identity"})

    async def answer(self, request: Request) -> Response:
        path = request.path_params["path"]
        self.asked.append(path)
        if path == "pieces":
            return StreamingResponse(iter([b"two ", b"pieces"]), headers=IMMUTABLE)
        if path == "text":
            return immutable_response(request, b"text " * 40, "text/css")
        headers = IMMUTABLE if path.startswith("kept") else {}
        return Response(f"{path} {request.url.query}", 404 if path == "kept-not" else 200, headers=headers)

    def times(self, path: str, **headers: str) -> int:
        """Return how many of two equal requests reach the app."""
        first, second = (self.client.get(path, headers=headers) for _ in range(2))
        assert (first.status_code, first.content, first.headers) == (second.status_code, second.content, second.headers)
        return self.asked.count(path.split("?")[0])


@pytest.mark.parametrize("path", ["kept", "pieces", "text", "static/js/x.js", "theme.css?v=1"])
def test_an_answer_that_never_changes_is_made_once(path: str) -> None:
    assert _Server().times(path) == 1


@pytest.mark.parametrize("path", ["other", "kept-not", "other?v=1"])
def test_any_other_is_made_anew(path: str) -> None:
    assert _Server().times(path) == 2


@pytest.mark.parametrize("name", ["range", "origin", "if-none-match"])
def test_an_answer_that_depends_on_more_is_made_anew(name: str) -> None:
    assert _Server().times("kept", **{name: "x"}) == 2


def test_each_compression_and_each_query_has_its_own_answer() -> None:
    server = _Server()
    plain, packed = (server.client.get("text", headers={"accept-encoding": kind}) for kind in ("identity", "gzip"))
    assert plain.text == packed.text
    assert (plain.headers.get("content-encoding"), packed.headers.get("content-encoding")) == (None, "gzip")
    assert server.client.get("kept?a").text != server.client.get("kept?b").text


def test_the_oldest_answers_make_room() -> None:
    server = _Server(capacity=20)
    for path in ("kept-1", "kept-2", "kept-3"):
        server.client.get(path)  # seven bytes and a space each
    assert server.memory.nbytes <= 20
    assert server.times("kept-3") == 1
    assert server.times("kept-1") == 2
