"""Every event of the page is read here first: what cannot be one is a 422, and what nobody remembers leads back.

Behind it gradio and the handlers trust what they get; a value of another type, or too few of them, would end there in a
traceback. A page whose state is gone (the server was started anew, or others needed the room) is told so by 410, and
loads itself again: its address says what it showed, see `kit/start.js`.
"""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Annotated, Any

import gradio as gr
from gradio.components import State, Textbox, UploadButton
from pydantic import Field, TypeAdapter, ValidationError
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from vitexplorer.core.text import Text
from vitexplorer.service.cache_folder import files_folder
from vitexplorer.ui.gradio_adapter.events import check_files, events_of
from vitexplorer.ui.gradio_adapter.page_sessions import Visitors
from vitexplorer.ui.gradio_adapter.types import Block, BlockFunction
from vitexplorer.ui.server.event_fields import EventSent, FileSent, Sent, Word
from vitexplorer.ui.server.json_bodies import once
from vitexplorer.ui.server.refusals import refusal

_EVENTS = re.compile("/gradio_api/(?:run/[^/]*|queue/join)/?")
_OPENING = 2.0
"""seconds in which the event that opens a page may still be on its way"""
_UNREADABLE = Text("This is nothing that the page sends.", "这不是页面会发送的内容。")
_NO_FILE = Text("This file is not here, or no longer. Send it again.", "文件不在此处或已被删除，请重新发送。")
_GONE = Text(
    "This page was open for so long that its state is gone. Load it again: its address leads back to what it showed.",
    "此页面打开时间过长，状态已不存在。请重新加载：其地址会回到原来的内容。",
)
_FILES = TypeAdapter(Annotated[list[FileSent], Field(min_length=1)])
_TEXT = TypeAdapter(Word | None)


class _RefusedError(Exception):
    def __init__(self, status: int, text: Text):
        super().__init__(text.en)
        self.status, self.text = status, text


class ReadEvents:
    """Passes on events that the page can have sent."""

    def __init__(self, app: ASGIApp, page: gr.Blocks, visitors: Visitors):
        """Args: app: what is behind; page: whose events they are; visitors: who is known."""
        self.app, self.page, self.visitors = app, page, visitors

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse with 404, 410 or 422, or pass on."""
        if scope["type"] != "http" or scope["method"] != "POST" or not _EVENTS.fullmatch(scope["path"]):
            await self.app(scope, receive, send)
            return
        body = await Request(scope, receive).body()
        answer: ASGIApp | Response = self.app
        try:
            await self._check(body)
        except _RefusedError as error:
            answer = refusal(scope, error.status, error.text)
        await answer(scope, once(body, receive), send)

    async def _check(self, body: bytes) -> None:
        """Raises _RefusedError."""
        try:
            event = EventSent.model_validate_json(body)
            handler = events_of(self.page)[event.fn_index]
            if len(event.data) != len(handler.inputs):
                raise ValueError
            if handler.api_visibility != "private":
                return  # a script's question, whose endpoint reads it
            for component, value in zip(handler.inputs, event.data, strict=False):
                _check_value(component, value)
            if any(hasattr(self.page.blocks.get(target), "sends") for target, _ in handler.targets):
                Sent.model_validate(event.event_data)
            check_files(event.event_data)  # gradio takes any `path` for a file
        except (ValidationError, ValueError, KeyError, OSError, gr.Error):
            raise _RefusedError(422, _UNREADABLE) from None
        if any(fired == "load" for _, fired in handler.targets):
            self.visitors.open(event.session_hash)
        elif _remembers(handler) and not await self._is_known(event.session_hash):
            raise _RefusedError(410, _GONE)

    async def _is_known(self, session: str) -> bool:
        """Whether a page of this name is open; one that is just opening is waited for."""
        for _ in range(20):
            if session in self.visitors:
                return True
            await asyncio.sleep(_OPENING / 20)
        return False


def _check_value(component: Block, value: Any) -> None:
    """Raises ValidationError, or _RefusedError for a file that is not one of those that were sent here."""
    if isinstance(component, Textbox):
        _TEXT.validate_python(value)
    if isinstance(component, UploadButton):
        for file in _FILES.validate_python(value if component.file_count == "multiple" else [value]):
            if not _was_sent(Path(file.path)):
                raise _RefusedError(404, _NO_FILE)  # of 422 gradio's scripts in the queue say nothing


def _was_sent(path: Path) -> bool:
    return path.is_absolute() and path.resolve().is_relative_to(files_folder().resolve()) and path.is_file()


def _remembers(handler: BlockFunction) -> bool:
    """Whether an event stands on what was before it."""
    return any(isinstance(component, State) for component in handler.inputs)
