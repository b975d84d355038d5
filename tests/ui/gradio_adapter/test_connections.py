"""Connections without a server: partial requests, and the answer to a connection that times out."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from starlette.responses import PlainTextResponse
from uvicorn import Config
from uvicorn.server import ServerState

from tests.helpers.waiting import now
from vitexplorer.ui.gradio_adapter.connections import HEAD_BYTES, Connection

HEAD = b"POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10\r\n"


class Line(asyncio.Transport):
    """Transport that records what is written to it."""

    def __init__(self) -> None:
        super().__init__({"sockname": ("127.0.0.1", 1), "peername": ("127.0.0.1", 2)})
        self.written, self.is_closed = b"", False

    def write(self, data: Any) -> None:
        self.written += bytes(data)

    def close(self) -> None:
        self.is_closed = True

    def is_closing(self) -> bool:
        return self.is_closed

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass


def answered(*pieces: bytes, gives_up: bool = False) -> Line:
    """Return what is written after these pieces of requests."""

    async def written() -> Line:
        config = Config(PlainTextResponse("here"), http=Connection, ws="none", log_level="critical")
        config.load()
        line = Line()
        connection = Connection(config, ServerState(), {}, asyncio.get_running_loop())
        connection.connection_made(line)
        for piece in pieces:
            connection.data_received(piece)
            await asyncio.sleep(0.01)
        if gives_up:
            connection.give_up()
        line.close()
        connection.connection_lost(None)
        return line

    return now(written())


@pytest.mark.parametrize("pieces", [(), (HEAD,), (HEAD + b"\r\n" + bytes(10), HEAD)])
def test_a_request_without_a_whole_head_gets_a_timeout_answer(pieces: tuple[bytes, ...]) -> None:
    assert b"HTTP/1.1 408 " in answered(*pieces, gives_up=True).written


@pytest.mark.parametrize("pieces", [(HEAD + b"\r\n",), (HEAD + b"\r\n", bytes(4)), (HEAD + b"\r\n" + bytes(10),)])
def test_what_was_answered_is_closed_without_another_word(pieces: tuple[bytes, ...]) -> None:
    line = answered(*pieces, gives_up=True)
    assert (line.written[:15], line.written[-4:], line.is_closed) == (b"HTTP/1.1 200 OK", b"here", True)


def test_a_head_without_an_end_is_dropped() -> None:
    lines = (b"x-%d: %s\r\n" % (number, b"a" * 1000) for number in range(HEAD_BYTES // 1000 + 1))
    line = answered(HEAD, *lines)
    assert (line.written[:13], line.is_closed) == (b"HTTP/1.1 431 ", True)


def test_a_long_body_is_no_long_head() -> None:
    head = HEAD.replace(b"10", b"%d" % (2 * HEAD_BYTES)) + b"\r\n"
    pieces = [bytes(1000)] * (2 * HEAD_BYTES // 1000)
    assert b"HTTP/1.1 431 " not in answered(head, *pieces).written


def test_a_long_body_and_the_beginning_of_a_head_are_no_long_head() -> None:
    """A refused body is still on its way when its client sends the next request."""
    head = HEAD.replace(b"10", b"%d" % (2 * HEAD_BYTES)) + b"\r\n"
    line = answered(head, bytes(2 * HEAD_BYTES) + HEAD[:20], HEAD[20:] + b"\r\n" + bytes(10))
    assert (line.written.count(b"HTTP/1.1 200 "), line.written.count(b"HTTP/1.1 ")) == (2, 2)


def test_what_is_no_request_is_answered_once() -> None:
    line = answered(b"\0" * (2 * HEAD_BYTES))
    assert (line.written[:13], line.written.count(b"HTTP/1.1 "), line.is_closed) == (b"HTTP/1.1 400 ", 1, True)
