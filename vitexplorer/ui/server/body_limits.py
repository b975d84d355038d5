"""What a request brings with it is counted as it comes: its size, its pace, and what its sender has sent before.

A body without a length counts like one with. Where one is stopped, or breaks off, gradio's reader of forms is told so
by the one error after which it removes the files that it has begun; Starlette's own bound of a body knows neither pace
nor sender, and would leave them behind.
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
"""bytes of a request that brings no file: an event of the page has some hundred"""
AROUND = 100_000
"""bytes that a form may have around its file"""
PATIENCE = 30.0
"""seconds that a body may take, and one more for each of these:"""
PACE = 20_000
"""bytes"""
_FILES = re.compile("/picture|/model|/teach/(?:add|ask)|/survey/zip|/gradio_api/upload/?")
_TOO_LARGE = Text(
    "This request is larger than {most:.0f} MB, which is what is taken here.", "此请求大于此处接受的 {most:.0f} MB。"
)
_TOO_MUCH = Text(
    "More than {most:.0f} MB have come from your address within an hour, which is what one visitor may send. "
    "Try again later.",
    "一小时内来自您的地址的数据已超过每位访客可发送的 {most:.0f} MB，请稍后再试。",
)
_FULL = Text(
    "The disk for files that visitors send is full. Try again in a minute.", "存放访客文件的磁盘已满，请一分钟后再试。"
)
_TOO_SLOW = Text("The request came too slowly and was given up. Send it again.", "请求到达过慢，已被放弃，请重新发送。")
_BROKEN = Text("The request broke off.", "请求中断。")


class _StoppedError(MultiPartException):
    """No more of this body is read."""

    def __init__(self, status: int, text: Text):
        super().__init__(text.en)
        self.status, self.text = status, text


class BoundBodies:
    """Reads bodies for what is behind, up to a bound."""

    def __init__(self, app: ASGIApp, settings: Settings, budgets: UploadBudgets, folder: CacheFolder):
        """Bound what comes.

        Args:
            app: what is behind.
            settings: say how large a file may be.
            budgets: count what visitors send.
            folder: where files are kept.
        """
        self.app, self.budgets, self.folder = app, budgets, folder
        self.most_of_file = settings.max_upload_megabytes * 10**6 + AROUND

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse with 408, 413, 429 or 507, or pass on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        is_file = _FILES.fullmatch(scope["path"]) is not None
        body = _FileBody(scope, receive, self) if is_file else _Body(scope, receive)

        async def unless_stopped(message: Message) -> None:
            body.answered |= body.stopped is None
            if body.stopped is None:
                await send(message)

        try:
            body.check_length()
            await self.app(scope, body.receive, unless_stopped)
        except Exception:
            if body.stopped is None:
                raise
        if body.stopped is not None and not body.answered:
            await refusal(scope, body.stopped.status, body.stopped.text)(scope, receive, send)


class _Body:
    """One body, as it comes."""

    most = MOST

    def __init__(self, scope: Scope, receive: Receive):
        self.scope, self._receive = scope, receive
        self.size, self.whole = 0, False
        self.stopped: _StoppedError | None = None
        self.answered = False
        self.began = asyncio.get_running_loop().time()

    def check_length(self) -> None:
        """Refuse what says itself that it will be too large."""
        self.check(int(Headers(scope=self.scope).get("content-length", 0)))

    async def receive(self) -> Message:
        """The next part. Raises _StoppedError where there shall be none."""
        if self.stopped:
            raise self.stopped
        if self.whole:
            return await self._receive()
        left = self.began + PATIENCE + self.size / PACE - asyncio.get_running_loop().time()
        try:
            message = await asyncio.wait_for(self._receive(), left)
        except TimeoutError:
            self.stop(408, _TOO_SLOW)
        if message["type"] == "http.disconnect":
            self.stop(400, _BROKEN)
        part = len(message.get("body", b""))
        self.check(part)
        self.take(part)
        self.whole = not message.get("more_body", False)
        return message

    def check(self, coming: int) -> None:
        """Raises _StoppedError where so many bytes more are too many."""
        if self.size + coming > self.most:
            self.stop(413, _TOO_LARGE.format(most=self.most / 1e6))

    def take(self, part: int) -> None:
        """So many bytes have come."""
        self.size += part

    def stop(self, status: int, text: Text) -> NoReturn:
        """Read no more."""
        self.stopped = _StoppedError(status, text)
        raise self.stopped


class _FileBody(_Body):
    """One that brings a file: larger, but out of its sender's budget, and onto a disk that has an end."""

    def __init__(self, scope: Scope, receive: Receive, bounds: BoundBodies):
        super().__init__(scope, receive)
        self.most, self.budgets, self.folder = bounds.most_of_file, bounds.budgets, bounds.folder
        self.client = scope["client"][0] if scope.get("client") else ""

    def check(self, coming: int) -> None:
        """Raises _StoppedError also where the sender or the disk has no more room."""
        super().check(coming)
        if coming > self.budgets.left(self.client):
            self.stop(429, _TOO_MUCH.format(most=self.budgets.most / 1e6))
        if self.folder.is_full(coming):
            self.stop(507, _FULL)

    def take(self, part: int) -> None:
        """So many bytes have come, from this sender, onto the disk."""
        super().take(part)
        self.budgets.take(self.client, part)
        self.folder.take(part)
