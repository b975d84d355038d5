"""The files that Chromium asks for when it opens the page, and a client that asks for files as cheaply as it can.

httpx takes more than twice the time for a file that the server takes to send it; on two cores a measurement with it
would be one of the client.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from tests.helpers.app import Visit, browser

CONNECTIONS = 4
"""to one server at a time: the six that Chromium has, but for the two by which it hears of its events"""
_OF_THE_VISIT = re.compile(r"/(\?.*)?$|/(gradio_api|files|attention|examples)/")
"""the page itself, its events, and what their answers name: a visitor without a browser asks for those by itself"""


def recorded_files(url: str) -> list[str]:
    """Paths of the files that never change, in the order in which a browser with an empty cache asks for them."""
    with browser() as chromium:
        visit = Visit(chromium)
        visit.open(url)
        paths = [address.removeprefix(url.rstrip("/")) for address in visit.requests if address.startswith(url)]
        visit.close()
    return [path for path in dict.fromkeys(paths) if not _OF_THE_VISIT.match(path)]


class FileClient:
    """Asks one server for files over a few connections that stay open. Close it when the page is closed."""

    def __init__(self, url: str, first: Sequence[str] = ()):
        """A client that has not asked for anything yet.

        Args:
            url: the server's address.
            first: paths that `fetch_first` asks for: those of a page that is opened.
        """
        self._server, self._first = urlsplit(url), first
        self._free: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []
        self._places = asyncio.Semaphore(CONNECTIONS)
        self.requests = 0

    async def fetch_first(self) -> None:
        """Ask for what every opened page asks for. Raises as `fetch`."""
        await asyncio.gather(*map(self.fetch, self._first))

    async def fetch(self, path: str) -> None:
        """Ask for a file and read it to its end. Raises ConnectionError for an answer that is not 200."""
        async with self._connection() as (reader, writer):
            self.requests += 1
            lines = (f"GET {path} HTTP/1.1", f"host: {self._server.netloc}", "accept-encoding: gzip, deflate, br")
            writer.write("\r\n".join((*lines, "", "")).encode())
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
            if not head.startswith("http/1.1 200"):
                raise ConnectionError(f"{path}: {head.splitlines()[0]}")
            await reader.readexactly(int(re.search(r"content-length: (\d+)", head)[1]))

    def close(self) -> None:
        """Close all connections."""
        for _, writer in self._free:
            writer.close()

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
        async with self._places:
            server = self._server
            ends = self._free.pop() if self._free else await asyncio.open_connection(server.hostname, server.port)
            try:
                yield ends
            except BaseException:
                ends[1].close()
                raise
            self._free.append(ends)
