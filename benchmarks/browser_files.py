"""List of the files that Chromium requests when it opens the page, and a lightweight client to request them.

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
"""Connections per server: Chromium's six, less the two for event streams"""
_OF_THE_VISIT = re.compile(r"/(\?.*)?$|/(gradio_api|files|attention|examples)/")
"""The page, its events, and files named by their answers, which a visitor without a browser requests itself"""


def recorded_files(url: str) -> list[str]:
    """Return paths of the static files, in the order in which a browser with an empty cache requests them."""
    with browser() as chromium:
        visit = Visit(chromium)
        visit.open(url)
        paths = [address.removeprefix(url.rstrip("/")) for address in visit.requests if address.startswith(url)]
        visit.close()
    return [path for path in dict.fromkeys(paths) if not _OF_THE_VISIT.match(path)]


class FileClient:
    """Client that requests files of one server over a few persistent connections; close it with the page."""

    def __init__(self, url: str, first: Sequence[str] = ()):
        """Set up a client without opening connections.

        Args:
            url: the server's address.
            first: paths that `fetch_first` requests, those of an opened page.
        """
        self._server = urlsplit(url)
        self._first = first
        self._free: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []
        self._places = asyncio.Semaphore(CONNECTIONS)
        self.requests = 0

    async def fetch_first(self) -> None:
        """Request the files of an opened page; ConnectionError for a status other than 200."""
        await asyncio.gather(*map(self.fetch, self._first))

    async def fetch(self, path: str) -> None:
        """Request a file and read it to its end; ConnectionError for a status other than 200."""
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
