"""Column for the picture that a room shows beside its panel, or for the reason why it has no meaning for the model."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import gradio as gr

from vitexplorer.core.text import Language
from vitexplorer.ui.gradio_adapter.types import Block
from vitexplorer.ui.shell.room_context import Updates

if TYPE_CHECKING:
    from vitexplorer.capturing.capture import Capture


class OwnPicture:
    """A column for the components that show one view, and a sentence that can take its place."""

    def __init__(self, room: str, view: str):
        self._room = room
        self._view = view

    @contextmanager
    def build(self) -> Iterator[None]:
        """Open the column; components that are created inside stand in it."""
        self._sentence = gr.Markdown(visible=False, elem_id=f"vx-{self._room}-refused", elem_classes=["vx-refused"])
        with gr.Column() as self._column:
            yield

    @property
    def components(self) -> list[Block]:
        """Components that `fill` writes to."""
        return [self._sentence, self._column]

    def is_refused(self, capture: Capture) -> bool:
        """Return True where the view has no meaning for a capture."""
        from vitexplorer.views import refusal

        return refusal(self._view, capture) is not None

    def fill(self, capture: Capture, language: Language) -> Updates:
        """Show the column, or the view's question and the reason why it has no meaning."""
        from vitexplorer.views import VIEWS, refusal

        reason = refusal(self._view, capture)
        text = f"**{VIEWS[self._view].question.in_(language)}**\n\n{reason.in_(language)}" if reason else ""
        return {self._sentence: gr.Markdown(text, visible=bool(reason)), self._column: gr.Column(visible=not reason)}
