"""The views of a room that need no canvas of their own, in one panel that is filled when it is first looked at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import gradio as gr

from vitexplorer.progress import Progress
from vitexplorer.types import Result
from vitexplorer.ui.address import Address, room_after
from vitexplorer.ui.background import Done
from vitexplorer.ui.desk import QUICK, Desk, Listen, Updates
from vitexplorer.ui.figure_panel import FigurePanel, PanelData, panel_data, work_data
from vitexplorer.ui.language import word
from vitexplorer.words import Language

if TYPE_CHECKING:
    from vitexplorer.capture import Capture


@dataclass(frozen=True)
class Question:
    """What a browser asks of a panel."""

    view: str
    settings: Mapping[str, str] = field(default_factory=dict)
    theme: str = "light"
    number: int = 0
    """as the browser counts its questions, so that it knows the answer to the latest"""

    @classmethod
    def read(cls, sent: Mapping[str, Any], views: tuple[str, ...]) -> Question | None:
        """What a browser sent, which may be anything; None where it asks for no view of this room."""
        view, settings, number = sent.get("view"), sent.get("settings"), sent.get("asked")
        if view not in views or not isinstance(settings, dict):
            return None
        given = {str(name): value for name, value in settings.items() if isinstance(value, str) and value != ""}
        return cls(view, given, str(sent.get("theme")), number if isinstance(number, int) else 0)


class RoomFigures:
    """A panel for every registered view of a room but those that the room shows in its own way."""

    def __init__(self, desk: Desk, room: str, own: tuple[str, ...] = ()):
        """Args: desk: what the rooms share; room: its key; own: views the room shows otherwise."""
        self.desk, self.room, self._own = desk, room, own

    def build(self) -> None:
        """The panel, and the capture it was filled from."""
        self.panel = FigurePanel(elem_id=f"vx-{self.room}-panel")
        self.filled = gr.State(None)
        state = [self.desk.address, self.desk.language]
        self.panel.ask(self.answer, state, self.panel, trigger_mode="always_last", **QUICK)
        self.panel.begin(self.begin, state, self.panel, **QUICK)
        self.panel.work(
            self.work,
            state,
            self.panel,
            trigger_mode="multiple",  # a second question stops the first
            concurrency_limit=8,
            show_progress="hidden",
            api_visibility="private",
        )
        self.panel.stop(self.stop, None, None, **QUICK)

    def enter_on(self, listen: Listen, active: gr.State) -> None:
        """Let `enter` follow an event: a room was entered, or a capture is new."""
        listen(
            self.enter,
            [active, self.desk.address, self.filled, self.desk.language],
            [self.panel, self.filled],
            **QUICK,
        )

    def views(self) -> tuple[str, ...]:
        """Keys of the views of this room; those that run the network many times stand last."""
        from vitexplorer.views import VIEWS

        keys = [key for key, view in VIEWS.items() if view.room == self.room and key not in self._own]
        return tuple(sorted(keys, key=lambda key: VIEWS[key].runs == "many"))

    def enter(self, active: str, address: Address, filled: Address | None, language: Language) -> Updates:
        """Fill the panel if its room is the one being looked at and the capture is another than before."""
        if active != self.room or filled == address or address == Address():  # nothing is captured yet
            return gr.skip()
        return {self.panel: self._quickly(Question(self._first(address)), address, language), self.filled: address}

    def begin(self, address: Address, language: Language) -> Any:
        """The first view for a panel that was not reached by what `enter` sent."""
        return gr.skip() if address == Address() else self._quickly(Question(self._first(address)), address, language)

    def _first(self, address: Address) -> str:
        """The first view that this model can show; where it can show none, the first one, which says why."""
        from vitexplorer.views import refusal

        capture, keys = self.capture(address), self.views()
        return next((key for key in keys if refusal(key, capture) is None), keys[0])

    def answer(self, event: gr.EventData, address: Address, language: Language, request: gr.Request) -> Any:
        """Another view or other settings; what a browser sends is checked by the view's own controls."""
        asked = Question.read(event._data, self.views())
        if asked is None:
            return gr.skip()
        self.desk.engine.background.stop(request.session_hash)
        return self._quickly(asked, address, language)

    def work(
        self, event: gr.EventData, address: Address, language: Language, request: gr.Request
    ) -> Iterator[PanelData]:
        """The same for a view that takes a while: how far it is until it is there, and nothing once it is stopped."""
        asked = Question.read(event._data, self.views())
        if asked is None:
            return
        steps = self.desk.engine.background.run(
            request.session_hash, lambda report: self._show(asked, address, language, report)
        )
        with closing(steps):
            for step in steps:
                data = step.result if isinstance(step, Done) else work_data(step, asked.view, language)
                data.asked = asked.number
                yield data

    def stop(self, request: gr.Request) -> None:
        """The stop button."""
        self.desk.engine.background.stop(request.session_hash)

    def _quickly(self, asked: Question, address: Address, language: Language) -> PanelData:
        from vitexplorer.views import VIEWS

        with nullcontext() if VIEWS[asked.view].runs == "nothing" else self.desk.engine.work:
            return self._show(asked, address, language)

    def _show(self, asked: Question, address: Address, language: Language, report: Progress | None = None) -> PanelData:
        capture = self.capture(address)
        data, settings = panel_data(
            capture,
            self.views(),
            language,
            asked.view,
            asked.settings,
            asked.theme,
            lambda view, given: self.compute(address, capture, view, given, report),
        )
        data.asked, data.python = asked.number, self.python(address, asked.view, settings)
        data.next_room = room_after(self.room)
        if data.next_room:
            data.words["next_room"] = word("next_room", language, room=word(f"room_{data.next_room}", language))
        return data

    def capture(self, address: Address) -> Capture:
        """The run that the views are of."""
        return self.desk.engine.capture(address.picture)

    def compute(
        self, address: Address, capture: Capture, view: str, given: Mapping[str, Any], report: Progress | None
    ) -> Result:
        """One view of it, from memory where it is kept."""
        return self.desk.engine.compute(address.picture, capture, view, given, report)

    def python(self, address: Address, view: str, settings: Mapping[str, Any]) -> str:
        """The lines of Python that give the same figure."""
        return self.desk.python_lines(address, view, **settings)
