"""Listening socket, opened before anything is loaded so that a bad address is reported at once, and its server.

gradio would try a port on another address, wait five seconds and print a traceback; and it cannot set the limits of
the server.
"""

from __future__ import annotations

import errno
import socket
from collections.abc import Callable

import uvicorn
from starlette.types import ASGIApp

from vitexplorer.core.settings import Settings, WrongSettingError
from vitexplorer.core.text import Text
from vitexplorer.ui.gradio_adapter.connections import KEEP_ALIVE_SECONDS, Connection

WAITS = 2048
"""Length of the system's queue of connections not yet accepted"""
_LAST_ANSWERS = 2
"""Seconds for running answers to end when the server stops"""
_IN_USE = Text(
    "Port {port} at {host} is in use: stop the program that listens there, or choose another port with VIT_PORT.",
    "{host} 的端口 {port} 已被占用：请停止占用它的程序，或用 VIT_PORT 选择其他端口。",
)
_NOT_HERE = Text(
    "This machine cannot listen at {host}, port {port} ({reason}): choose an address with VIT_HOST, "
    "a port with VIT_PORT.",
    "本机无法在 {host} 的端口 {port} 上监听（{reason}）：请用 VIT_HOST 选择地址，用 VIT_PORT 选择端口。",
)


def listen(settings: Settings) -> socket.socket:
    """Open a listening socket at `host` and `port`; WrongSettingError if that is impossible."""
    host = settings.host.strip("[]")
    try:
        family, *_ = socket.getaddrinfo(host, settings.port, type=socket.SOCK_STREAM)[0]
        listening = socket.create_server((host, settings.port), family=family, backlog=WAITS)
        # Connections inherit it; asyncio sets it only on sockets with an explicit protocol, unlike create_server's.
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listening
    except (OSError, UnicodeError) as error:
        is_in_use = getattr(error, "errno", None) == errno.EADDRINUSE
        reason = getattr(error, "strerror", None) or str(error)
        message = (_IN_USE if is_in_use else _NOT_HERE).format(host=settings.host, port=settings.port, reason=reason)
        raise WrongSettingError(message) from None


def address_of(listening: socket.socket) -> str:
    """Return the URL of the page for a browser on this machine; a wildcard address becomes localhost."""
    host, port = listening.getsockname()[:2]
    host = "localhost" if host in ("0.0.0.0", "::") else host
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"


class Server(uvicorn.Server):
    """uvicorn's server that calls `opened` once it answers requests, and closes open streams when it stops."""

    def __init__(self, config: uvicorn.Config, opened: Callable[[], None]):
        super().__init__(config)
        self._opened = opened

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then call `opened`."""
        await super().startup(sockets)
        self._opened()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Close all connections, then shut down; uvicorn would wait for the endless streams of open pages."""
        for connection in list(self.server_state.connections):
            connection.transport.close()
        await super().shutdown(sockets)


def uvicorn_server(app: ASGIApp, settings: Settings, opened: Callable[[], None]) -> Server:
    """Make the server of `app`; its `run(sockets=[...])` returns when the process is told to stop."""
    config = uvicorn.Config(
        app,
        http=Connection,
        ws="none",
        log_level="warning",
        server_header=False,
        forwarded_allow_ips=settings.proxies,
        limit_concurrency=settings.connections,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=_LAST_ANSWERS,
    )
    return Server(config, opened)
