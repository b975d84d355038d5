"""Connections that ask for nothing: they have some seconds, and make way where others want theirs.

uvicorn closes one that is silent after an answer, but waits for ever for the second half of a request's head. A person
looks at a picture before they ask again, so a connection that has been answered is kept for longer.
"""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_SECONDS = 15.0
"""in which the head of a request must have come, since the connection was made or its first byte came"""
HEAD_BYTES = 64 << 10
"""at which the head of a request that is not whole yet is too long"""
KEPT_SECONDS = 75
"""for which a connection stays that has been answered: longer than a proxy keeps it, which is a minute for most"""
_TOO_SLOW = "408 Request Timeout", "The head of the request did not come in time. / 请求头未及时到达。"
_TOO_LONG = "431 Request Header Fields Too Large", "The head of the request is too long. / 请求头过长。"


class Connection(HttpToolsProtocol):
    """One connection to a browser, or to somebody who only holds it."""

    waits: asyncio.TimerHandle | None = None
    """there until it asks for something"""
    has_head, head_bytes = False, 0
    """whether the head of the last request is whole; what came of one that is not"""

    def connection_made(self, transport: asyncio.Transport) -> None:
        """It has so long to ask; where there are as many as may be, the one whose time ends first makes way."""
        super().connection_made(transport)
        self._wait()
        most = self.config.limit_concurrency
        if most and len(self.connections) >= most:
            ends = {one: one.ends.when() for one in self.connections if one is not self and one.ends}
            if ends:
                min(ends, key=ends.__getitem__).give_up()

    @property
    def ends(self) -> asyncio.TimerHandle | None:
        """What closes it unless it asks; None while it is answered."""
        return self.waits or self.timeout_keep_alive_task

    def data_received(self, data: bytes) -> None:
        """What came is uvicorn's to read; unless it was a whole head, the time goes on."""
        super().data_received(data)
        self.head_bytes = 0 if self.has_head else self.head_bytes + len(data)
        if self.head_bytes > HEAD_BYTES:
            self._say(*_TOO_LONG)
            self.transport.close()
        elif self.cycle is not None and not self.cycle.response_complete:
            self._asked()
        elif self.waits is None:
            self._wait()

    def on_message_begin(self) -> None:
        """The first byte of a request came."""
        super().on_message_begin()
        self.has_head = False

    def on_headers_complete(self) -> None:
        """Its head is whole."""
        super().on_headers_complete()
        self.has_head = True

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is waited for any more."""
        self._asked()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self.waits = self.loop.call_later(HEAD_SECONDS, self.give_up)

    def _asked(self) -> None:
        if self.waits:
            self.waits.cancel()
            self.waits = None

    def give_up(self) -> None:
        """Say so and close; without a word where it was answered, or only goes on with what nobody reads."""
        if self.waits is not None and not self.has_head and not self.transport.is_closing():
            self._say(*_TOO_SLOW)
        self._asked()
        self.transport.close()

    def _say(self, status: str, sentence: str) -> None:
        head = f"HTTP/1.1 {status}\r\nconnection: close\r\ncontent-type: text/plain; charset=utf-8\r\n\r\n"
        self.transport.write(f"{head}{sentence}\n".encode())
