"""Abstract class of the rooms. A room builds its components once and fills them for each capture."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING

import gradio as gr

from vitexplorer.core.text import Text
from vitexplorer.service.engine import TimedCapture
from vitexplorer.ui.gradio_adapter.types import Block, Dependency
from vitexplorer.ui.kit.words import UI_WORDS
from vitexplorer.ui.panel.room_figures import RoomFigures
from vitexplorer.ui.shell.address import Address
from vitexplorer.ui.shell.frame import about
from vitexplorer.ui.shell.room_context import Listen, RoomContext, Updates
from vitexplorer.ui.shell.room_sign import RoomSign, next_button
from vitexplorer.ui.shell.visit import Visit

if TYPE_CHECKING:
    from vitexplorer.capturing.capture import Capture


class Room(RoomSign, ABC):
    """One tab. The first line of a room's docstring is its row in the README."""

    panel: RoomFigures | None = None
    """Panel of the views that are shown as figures"""

    def __init__(self, context: RoomContext):
        self.context = context

    @abstractmethod
    def build(self) -> list[Block]:
        """Lay the components out, bind their events, and return those that `fill` writes to."""

    def enter_on(self, listen: Listen, active: gr.State) -> None:
        """Bind what is filled only while the room is on the screen, to entering it and to a new capture."""
        if self.panel:
            self.panel.enter_on(listen, active)

    def lead(self, visit: Visit, then_explore: Callable[[Dependency], None]) -> None:
        """Bind events of the room that choose the image or model of all rooms; most rooms have none.

        `then_explore` is called with each event, so that the new choice is captured.
        """

    def fill(self, timed_capture: TimedCapture, address: Address) -> Updates:
        """Return what a new capture changes in the components of `build`; the rest fills itself later."""
        return {}

    def around(self, view: str, address: Address, **settings: object) -> dict[str, str]:
        """Return the texts around the picture of a view and the button to the next room, as fields of `FrameData`.

        The texts are the view's question, pitfalls and source, and the Python code that makes it under `settings`.
        """
        from vitexplorer.views import VIEWS

        return {
            **about(VIEWS[view], address.language),
            "python": self.context.python_lines(address, view, **settings),
            **next_button(self.context.rooms, self.key, address.language),
        }


def caption_lines(capture: Capture) -> list[Text]:
    """Return the lines under a saved picture: model and weights, input size and fit of the image."""
    provenance = capture.provenance
    height, width = provenance.input_size
    return [
        Text("{model} · {weights}", "{model} · {weights}").format(
            model=provenance.model, weights=provenance.weights_text
        ),
        Text("input {height} × {width} px, fit: {fit}", "输入 {height} × {width} 像素，适配方式：{fit}").format(
            height=height, width=width, fit=UI_WORDS[f"fit_{provenance.fit}"]
        ),
    ]
