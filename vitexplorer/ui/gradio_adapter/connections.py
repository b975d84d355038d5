"""Timeouts for idle connections, which also give way when the server is full.

uvicorn closes a connection that is silent after a response, but waits for ever for the rest of a head.
People look at a picture before their next request, so a connection is kept for longer after a response.
"""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_SECONDS = 15.0
"""Seconds for the head of a request to arrive, from the connection or its first byte on"""
HEAD_BYTES = 64 << 10
"""Largest head of a request, in bytes"""
KEEP_ALIVE_SECONDS = 75
"""Seconds that a connection stays open after a response; longer than most proxies keep it, which is a minute"""
_TOO_SLOW = "408 Request Timeout", "The head of the request did not come in time. / 请求头未及时到达。"
_TOO_LONG = "431 Request Header Fields Too Large", "The head of the request is too long. / 请求头过长。"


class Connection(HttpToolsProtocol):
    """Connection with a deadline for the head of a request."""

    deadline: asyncio.TimerHandle | None = None
    """Timer while a request's head is awaited"""
    has_head = False  # True once the head of the last request is complete
    head_bytes = 0  # received since the piece with the first byte of the last request

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Start the deadline; if the server is full, close the connection whose deadline is next."""
        super().connection_made(transport)
        self._wait()
        most = self.config.limit_concurrency
        if most and len(self.connections) >= most:
            ends = {other: other.ends.when() for other in self.connections if other is not self and other.ends}
            if ends:
                min(ends, key=ends.__getitem__).give_up()

    @property
    def ends(self) -> asyncio.TimerHandle | None:
        """Timer that will close the connection; None during a response."""
        return self.deadline or self.timeout_keep_alive_task

    def data_received(self, data: bytes) -> None:
        """Pass data to uvicorn; the deadline stays unless the head is complete."""
        self.head_bytes += len(data)
        super().data_received(data)
        if not self.has_head and self.head_bytes > HEAD_BYTES and not self.transport.is_closing():
            self._send_error(*_TOO_LONG)
            self.transport.close()
        elif self.cycle is not None and not self.cycle.response_complete:
            self._stop_waiting()
        elif self.deadline is None:
            self._wait()

    def on_message_begin(self) -> None:
        """Note the first byte of a request; the piece that it came in may begin with the body of the last one."""
        super().on_message_begin()
        self.has_head = False
        self.head_bytes = 0

    def on_headers_complete(self) -> None:
        """Note that the head is complete."""
        super().on_headers_complete()
        self.has_head = True

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the deadline."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self.deadline = self.loop.call_later(HEAD_SECONDS, self.give_up)

    def _stop_waiting(self) -> None:
        if self.deadline:
            self.deadline.cancel()
            self.deadline = None

    def give_up(self) -> None:
        """Close the connection, with an error message if the head of a request is incomplete."""
        if self.deadline is not None and not self.has_head and not self.transport.is_closing():
            self._send_error(*_TOO_SLOW)
        self._stop_waiting()
        self.transport.close()

    def _send_error(self, status: str, message: str) -> None:
        head = f"HTTP/1.1 {status}\r\nconnection: close\r\ncontent-type: text/plain; charset=utf-8\r\n\r\n"
        self.transport.write(f"{head}{message}\n".encode())
