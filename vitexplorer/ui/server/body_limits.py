"""Limits on request bodies: size, duration, and bytes per client and hour, counted while the body arrives.

A body without a length counts like one with. A body that is stopped or breaks off raises MultiPartException, the only
error after which gradio's form parser removes the files it has begun. Starlette's own limit knows neither pace nor
sender, and would leave those files behind.
"""

from __future__ import annotations

import asyncio
import re
from typing import NoReturn

from starlette.datastructures import Headers
from starlette.formparsers import MultiPartException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from vitexplorer.core.settings import Settings
from vitexplorer.core.text import Text
from vitexplorer.service.cache_folder import CacheFolder
from vitexplorer.service.upload_budgets import UploadBudgets
from vitexplorer.ui.server.refusals import refusal

MOST = 2_000_000
"""Largest body without a file, in bytes; an event of the page has some hundred"""
AROUND = 100_000
"""Bytes allowed for the form around a file"""
PATIENCE = 30.0
"""Seconds for a body to arrive, plus one for every `PACE` bytes"""
PACE = 20_000
"""Bytes per additional second"""
_FILES = re.compile("/picture|/model|/teach/(?:add|ask)|/survey/zip|/gradio_api/upload/?")
_TOO_LARGE = Text("This request is larger than {most:.0f} MB, the limit here.", "此请求超过此处允许的 {most:.0f} MB。")
_TOO_MUCH = Text(
    "Your address sent more than {most:.0f} MB within an hour, the limit for one visitor. Try again later.",
    "您的地址一小时内发送的数据已超过每位访客的上限 {most:.0f} MB，请稍后再试。",
)
_FULL = Text(
    "The disk for files that visitors send is full. Try again in a minute.", "存放访客文件的磁盘已满，请过一分钟再试。"
)
_TOO_SLOW = Text("The request came too slowly and was dropped. Send it again.", "请求传输过慢，已中止，请重新发送。")
_BROKEN = Text("The request was cut off.", "请求中断。")


class _StoppedError(MultiPartException):
    """Raised when no more of a body is read."""

    def __init__(self, status: int, text: Text):
        super().__init__(text.en)
        self.status, self.text = status, text


class BodyLimit:
    """Middleware that stops bodies that are too large, too slow or over budget."""

    def __init__(self, app: ASGIApp, settings: Settings, budgets: UploadBudgets, folder: CacheFolder):
        self.app, self.budgets, self.folder = app, budgets, folder
        self.most_of_file = settings.max_upload_megabytes * 10**6 + AROUND

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse with 408, 413, 429 or 507, or pass on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        body = _Body(scope, receive, self)

        async def send_unless_stopped(message: Message) -> None:
            body.answered |= body.stopped is None
            if body.stopped is None:
                await send(message)

        try:
            body.check(int(Headers(scope=scope).get("content-length", 0)))
            await self.app(scope, body.receive, send_unless_stopped)
        except Exception:
            if body.stopped is None:
                raise
        if body.stopped is not None and not body.answered:
            await refusal(scope, body.stopped.status, body.stopped.text)(scope, receive, send)


class _Body:
    """A body as it arrives. One with a file may be larger, and counts against its client's budget and the disk."""

    def __init__(self, scope: Scope, receive: Receive, limit: BodyLimit):
        self._receive, self._limit = receive, limit
        self._client = scope["client"][0] if scope.get("client") else ""
        self._has_file = _FILES.fullmatch(scope["path"]) is not None
        self.most = limit.most_of_file if self._has_file else MOST
        self.size = 0
        self.is_complete = False
        self.stopped: _StoppedError | None = None
        self.answered = False
        self.began = asyncio.get_running_loop().time()

    async def receive(self) -> Message:
        """Return the next part, or raise _StoppedError."""
        if self.stopped:
            raise self.stopped
        if self.is_complete:
            return await self._receive()
        remaining = self.began + PATIENCE + self.size / PACE - asyncio.get_running_loop().time()
        try:
            message = await asyncio.wait_for(self._receive(), remaining)
        except TimeoutError:
            self.stop(408, _TOO_SLOW)
        if message["type"] == "http.disconnect":
            self.stop(400, _BROKEN)
        part = len(message.get("body", b""))
        self.check(part)
        self.take(part)
        self.is_complete = not message.get("more_body", False)
        return message

    def check(self, coming: int) -> None:
        """Raise _StoppedError if there is no room for `coming` further bytes."""
        budgets = self._limit.budgets
        if self.size + coming > self.most:
            self.stop(413, _TOO_LARGE.format(most=self.most / 1e6))
        if self._has_file and coming > budgets.left(self._client):
            self.stop(429, _TOO_MUCH.format(most=budgets.most / 1e6))
        if self._has_file and self._limit.folder.is_full(coming):
            self.stop(507, _FULL)

    def take(self, part: int) -> None:
        """Count `part` received bytes."""
        self.size += part
        if self._has_file:
            self._limit.budgets.take(self._client, part)
            self._limit.folder.take(part)

    def stop(self, status: int, text: Text) -> NoReturn:
        """Stop the body: raise _StoppedError now and at every further read."""
        self.stopped = _StoppedError(status, text)
        raise self.stopped
