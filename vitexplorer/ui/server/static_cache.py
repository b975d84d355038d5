"""In-memory cache of immutable responses: scripts, styles, and files named by a hash.

A response whose `cache-control` says `immutable` is kept, up to a limit in bytes, and sent again without being found,
opened or compressed: fifty people who open one link request the same hundred files within seconds.
"""

from __future__ import annotations

from collections.abc import Hashable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from vitexplorer.core.cache import BytesCache, Memory
from vitexplorer.ui.kit.static_responses import encoding_of

_OF_GRADIO = ("/theme.css", "/static/")
"""Paths of gradio that are constant while the server runs, though gradio does not declare them immutable"""
_DEPENDS = {b"range", b"origin", b"if-none-match", b"if-modified-since"}
"""Request headers that change the response"""


class StaticCache:
    """Middleware that stores and replays immutable responses."""

    def __init__(self, app: ASGIApp, memory: Memory):
        self.app, self._memory = app, memory
        self._answers: BytesCache[Hashable, tuple[Message, bytes]] = BytesCache(memory, lambda answer: len(answer[1]))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer from memory, or pass on and store the response."""
        key = _key(scope) if scope["type"] == "http" and scope["method"] == "GET" else None
        if key is None:
            await self.app(scope, receive, send)
        elif answer := self._answers.get(key):
            start, body = answer
            with self._memory.claimed(len(body)):  # a slow connection holds a copy
                await send({**start, "headers": [*start["headers"]]})  # a copy: other middleware adds headers
                await send({"type": "http.response.body", "body": body})
        else:
            await self.app(scope, receive, self._remembering(key, send, scope["path"].startswith(_OF_GRADIO)))

    def _remembering(self, key: Hashable, send: Send, is_of_gradio: bool) -> Send:
        start: Message | None = None
        parts: list[bytes] = []

        async def remember(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start" and message["status"] == 200:
                if is_of_gradio or _is_immutable(message):
                    start = {**message, "headers": [*message["headers"]]}
            elif start is not None and message["type"] == "http.response.body":
                parts.append(message.get("body", b""))
                if not message.get("more_body"):
                    self._answers.put(key, (start, b"".join(parts)))
            await send(message)

        return remember


def _key(scope: Scope) -> Hashable | None:
    """Return the cache key of a request, or None if the response depends on more headers."""
    accepted = b""
    for name, value in scope["headers"]:
        if name in _DEPENDS:
            return None
        if name == b"accept-encoding":
            accepted = value
    return scope["path"], scope["query_string"], encoding_of(accepted.decode("latin-1"))


def _is_immutable(start: Message) -> bool:
    return b"immutable" in dict(start["headers"]).get(b"cache-control", b"")
