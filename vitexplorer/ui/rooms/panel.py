"""The views of a room that need no canvas of their own, in one panel that is filled when it is first looked at."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import gradio as gr
from gradio.events import Dependency

from vitexplorer.interfaces import TargetControl
from vitexplorer.ui.address import Address
from vitexplorer.ui.panel import PanelData, ViewPanel, panel_data
from vitexplorer.ui.rooms.room import QUICK, Desk, python_lines
from vitexplorer.words import Language


class RoomPanel:
    """A panel for every registered view of a room but those that the room shows in its own way."""

    def __init__(self, desk: Desk, room: str, own: tuple[str, ...] = ()):
        """Args: desk: what the rooms share; room: its key; own: views the room shows otherwise."""
        self.desk, self.room, self._own = desk, room, own

    def build(self) -> None:
        """The panel, and the capture it was filled from."""
        self.panel = ViewPanel(elem_id=f"vx-{self.room}-panel")
        self.filled = gr.State(None)
        self.panel.ask(
            self.answer,
            [self.desk.address, self.desk.language],
            self.panel,
            trigger_mode="always_last",
            **QUICK,
        )

    def enter_after(self, event: Dependency, active: gr.State) -> None:
        """Let `enter` follow an event: a room was entered, or a capture is new."""
        event.then(
            self.enter,
            [active, self.desk.address, self.filled, self.desk.language],
            [self.panel, self.filled],
            **QUICK,
        )

    def views(self) -> tuple[str, ...]:
        """Keys of the views of this room; those that run the network many times stand last."""
        from vitexplorer.views import VIEWS

        keys = [key for key, view in VIEWS.items() if view.room == self.room and key not in self._own]
        return tuple(sorted(keys, key=lambda key: VIEWS[key].reports_progress))

    def enter(self, active: str, address: Address, filled: Address | None, language: Language) -> list[Any]:
        """Fill the panel if its room is the one being looked at and the capture is another than before."""
        if active != self.room or filled == address or address == Address():  # nothing is captured yet
            return [gr.skip(), gr.skip()]
        return [self._show(self.views()[0], {}, "light", address, language), address]

    def answer(self, event: gr.EventData, address: Address, language: Language) -> PanelData:
        """Another view or other settings; what a browser sends is checked by the view's own controls."""
        view, given = event._data.get("view"), event._data.get("settings")
        if view not in self.views() or not isinstance(given, dict):
            return gr.skip()
        given = {str(name): value for name, value in given.items() if isinstance(value, str) and value != ""}
        return self._show(view, given, event._data.get("theme"), address, language)

    def _show(self, view: str, given: dict[str, str], theme: str, address: Address, language: Language) -> PanelData:
        capture = self.desk.engine.capture(address.picture)
        with self.desk.engine.work if runs_the_model(view) else nullcontext():
            data, settings = panel_data(capture, self.views(), language, view, given, theme)
        data.python = python_lines(address, view, **settings)
        return data


def runs_the_model(view: str) -> bool:
    """Whether a view is more than arithmetic on the capture: it explains a class."""
    from vitexplorer.views import VIEWS

    return any(isinstance(control, TargetControl) for control in VIEWS[view].controls)
