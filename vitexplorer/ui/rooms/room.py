"""Base class of the rooms. A room states its sign, builds its components once and fills them for each capture."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING

import gradio as gr

from vitexplorer.core.text import Language, Text
from vitexplorer.service.engine import Explored
from vitexplorer.ui.gradio_adapter.types import Block, Dependency
from vitexplorer.ui.kit.words import UI_WORDS
from vitexplorer.ui.panel.room_figures import RoomFigures
from vitexplorer.ui.shell.address import Address
from vitexplorer.ui.shell.frame import about
from vitexplorer.ui.shell.room_context import Desk, Listen, Updates
from vitexplorer.ui.shell.room_sign import RoomSign, next_button
from vitexplorer.ui.shell.visit import Visit

if TYPE_CHECKING:
    from vitexplorer.capturing.capture import Capture


class Room(RoomSign, ABC):
    """One tab. The first line of a room's docstring is its row in the README."""

    panel: RoomFigures | None = None
    """views of the room that are shown as figures"""

    def __init__(self, desk: Desk):
        """Args: desk: what the rooms share."""
        self.desk = desk

    @abstractmethod
    def build(self) -> list[Block]:
        """Lay the components out, bind their events, and return those that `fill` writes to."""

    def enter_on(self, listen: Listen, active: gr.State) -> None:
        """Fill what is only filled for those who look at it: when the room is entered, and when the capture is new."""
        if self.panel:
            self.panel.enter_on(listen, active)

    def lead(self, visit: Visit, then_explore: Callable[[Dependency], None]) -> None:
        """Bind events of the room that choose what all rooms show; `then_explore` follows each. Most have none."""

    def fill(self, explored: Explored, address: Address, language: Language) -> Updates:
        """Changes by a new capture in the components of `build`; the rest fills itself later."""
        return {}

    def around(self, view: str, language: Language, *, python: str) -> dict[str, str]:
        """Words around the room's picture, as fields of `FrameData`, with the way to the next room.

        Args:
            view: key of the view that the picture shows, whose question, trap and source stand there
            language: of every word
            python: lines that give the same picture
        """
        return {**about(view, language), "python": python, **self.next_button(language)}

    def next_button(self, language: Language) -> dict[str, str]:
        """The button to the next room, as fields of `FrameData`."""
        return next_button(self.desk.rooms, self.key, language)


def caption_lines(capture: Capture) -> list[Text]:
    """Lines under a saved picture: model and weights, and how the image was fitted."""
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
