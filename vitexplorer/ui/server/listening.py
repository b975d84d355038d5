"""The address that the server listens at, taken before anything is loaded: one that cannot be had is said at once.

gradio would try a port on another address, wait five seconds and print a traceback. So the socket is ours, and so is
the server that runs on it, whose limits gradio cannot set.
"""

from __future__ import annotations

import errno
import socket
from collections.abc import Callable

import uvicorn
from starlette.types import ASGIApp

from vitexplorer.core.settings import Settings, WrongSettingError
from vitexplorer.core.text import Text
from vitexplorer.ui.gradio_adapter.connections import KEPT_SECONDS, Connection

WAITS = 2048
"""connections that the system holds until they are taken"""
_LAST_ANSWERS = 2
"""seconds that answers under way have when the server is told to stop"""
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
    """The socket of `host` and `port`, listening. Raises WrongSettingError where they cannot be had."""
    host = settings.host.strip("[]")
    try:
        family, *_ = socket.getaddrinfo(host, settings.port, type=socket.SOCK_STREAM)[0]
        listening = socket.create_server((host, settings.port), family=family, backlog=WAITS)
        # connections inherit it; asyncio sets it only where the protocol is named, which create_server does not
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listening
    except (OSError, UnicodeError) as error:
        taken = getattr(error, "errno", None) == errno.EADDRINUSE
        reason = getattr(error, "strerror", None) or str(error)
        sentence = (_IN_USE if taken else _NOT_HERE).format(host=settings.host, port=settings.port, reason=reason)
        raise WrongSettingError(sentence) from None


def address_of(listening: socket.socket) -> str:
    """Where a browser on this machine finds the page: an address that means all of them has a name here."""
    host, port = listening.getsockname()[:2]
    host = "localhost" if host in ("0.0.0.0", "::") else host
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"


class Server(uvicorn.Server):
    """uvicorn's, which says when it is open."""

    def __init__(self, config: uvicorn.Config, opened: Callable[[], None]):
        """Args: config: see `server`; opened: called once visitors are answered."""
        super().__init__(config)
        self._opened = opened

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """As uvicorn's, and then the call."""
        await super().startup(sockets)
        self._opened()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """As uvicorn's, which would wait for pages that are open: each of them follows a stream without an end."""
        for connection in list(self.server_state.connections):
            connection.transport.close()
        await super().shutdown(sockets)


def uvicorn_server(app: ASGIApp, settings: Settings, opened: Callable[[], None]) -> Server:
    """What answers for `app`; `run(sockets=[...])` returns when the process is told to stop."""
    config = uvicorn.Config(
        app,
        http=Connection,
        ws="none",
        log_level="warning",
        server_header=False,
        forwarded_allow_ips=settings.proxies,
        limit_concurrency=settings.connections,
        timeout_keep_alive=KEPT_SECONDS,
        timeout_graceful_shutdown=_LAST_ANSWERS,
    )
    return Server(config, opened)
