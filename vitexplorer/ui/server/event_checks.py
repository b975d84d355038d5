"""Check of the page's events: 422 for an invalid event, 410 for a page whose state is gone.

gradio and the handlers trust their input; a value of another type, or a missing one, would raise a traceback there. A
page whose state is gone (the server restarted, or others needed the memory) gets 410 and reloads itself from its
address, see `kit/start.js`.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from pathlib import Path

import gradio as gr
from gradio.components import State
from pydantic import TypeAdapter, ValidationError
from starlette.types import Scope

from vitexplorer.core.text import Text
from vitexplorer.service.cache_folder import files_folder
from vitexplorer.ui.gradio_adapter.events import check_files, events_of
from vitexplorer.ui.gradio_adapter.page_sessions import Visitors
from vitexplorer.ui.kit.widget import BrowserText
from vitexplorer.ui.server.event_fields import EventSent, Sent, Word
from vitexplorer.ui.server.refusals import RefusedError

_EVENTS = re.compile("/gradio_api/(?:run/[^/]*|queue/join)/?")
_OPENING = 2.0
"""Seconds to wait for the event that opens a page"""
_UNREADABLE = Text("The page sends nothing like this.", "页面不会发送这样的内容。")
_NO_FILE = Text("This file is not here any more. Please upload it again.", "该文件已不在此处，请重新上传。")
_GONE = Text(
    "This page was open for so long that its state is gone. Load it again: its address leads back to what it showed.",
    "此页面打开时间过长，状态已失效。请重新加载：页面地址会恢复原来的内容。",
)
_TEXT = TypeAdapter(Word | None)


@dataclass(frozen=True)
class EventCheck:
    """Refuses events that the page cannot have sent."""

    page: gr.Blocks
    visitors: Visitors

    async def __call__(self, scope: Scope, body: bytes | None) -> None:
        """Raise RefusedError with 404, 410 or 422 for an invalid event."""
        if body is None or not _EVENTS.fullmatch(scope["path"]):
            return
        try:
            event = EventSent.model_validate_json(body)
            handler = events_of(self.page)[event.fn_index]
            if len(event.data) != len(handler.inputs):
                raise ValueError
            if handler.api_visibility != "private":
                return  # an API call, validated by its endpoint
            for component, value in zip(handler.inputs, event.data, strict=False):
                if isinstance(component, BrowserText):
                    _TEXT.validate_python(value)
            if any(hasattr(self.page.blocks.get(target), "sends") for target, _ in handler.targets):
                fields = Sent.model_validate(event.event_data)
                if not all(_was_sent(Path(file)) for file in fields.files):
                    raise RefusedError(404, _NO_FILE)  # gradio's scripts show no message for 422
            check_files(event.event_data)  # gradio takes any `path` for a file
        except (ValidationError, ValueError, KeyError, OSError, gr.Error):
            raise RefusedError(422, _UNREADABLE) from None
        reads_state = any(isinstance(component, State) for component in handler.inputs)
        if any(event_name == "load" for _, event_name in handler.targets):
            self.visitors.open(event.session_hash)
        elif reads_state and not await self._is_known(event.session_hash):
            raise RefusedError(410, _GONE)

    async def _is_known(self, session: str) -> bool:
        """Return True if this page is open; wait for one that is just opening."""
        for _ in range(20):
            if session in self.visitors:
                return True
            await asyncio.sleep(_OPENING / 20)
        return False


def _was_sent(path: Path) -> bool:
    return path.is_absolute() and path.resolve().is_relative_to(files_folder().resolve()) and path.is_file()
