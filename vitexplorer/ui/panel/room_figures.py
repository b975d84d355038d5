"""The views of a room that need no canvas of their own, in one panel that is filled when it is first looked at."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Hashable, Mapping
from contextlib import aclosing, suppress
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import gradio as gr

from vitexplorer.controls.spec import Board
from vitexplorer.core.text import ExplainedError, Language
from vitexplorer.core.types import Result
from vitexplorer.service.answer_threads import in_thread
from vitexplorer.service.jobs import Done, Waiting, following
from vitexplorer.ui.controls import Field
from vitexplorer.ui.gradio_adapter.events import fields_of
from vitexplorer.ui.gradio_adapter.page_blocks import session_of
from vitexplorer.ui.kit.language import word
from vitexplorer.ui.kit.served_files import ServedFile, cached_file, image_file
from vitexplorer.ui.panel import (
    FigurePanel,
    PanelData,
    PanelWork,
    Shelf,
    attempted,
    bare_data,
    of_views,
    panel_data,
    work_data,
)
from vitexplorer.ui.panel.standing import EVIDENCE, standing
from vitexplorer.ui.shell.address import Address, ShownView
from vitexplorer.ui.shell.room_context import FIGURE, QUICK, WAITING, Desk, Listen, Updates
from vitexplorer.ui.shell.room_sign import room_after

if TYPE_CHECKING:
    from vitexplorer.capturing.capture import Capture
    from vitexplorer.comparisons.record import Comparison
    from vitexplorer.views.record import View


SHOWN = "(...inputs) => window.vxShown(...inputs)"
"""put into the last input of an event: JSON with the browser's address and theme, see `ShownView`"""


@dataclass(frozen=True)
class Question:
    """A browser's question to a panel."""

    view: str
    settings: Mapping[str, str] = field(default_factory=dict)
    theme: str = "light"
    number: int = 0
    """as the browser counts its questions, so that it knows the answer to the latest"""

    @classmethod
    def read(cls, sent: Mapping[str, Any], views: tuple[str, ...]) -> Question | None:
        """Read what a browser sent; None where it asks for no view of this room."""
        view, settings = sent.get("view"), sent.get("settings")
        if view not in views or settings is None:
            return None
        given = {name: value for name, value in settings.items() if value != ""}
        return cls(view, given, sent.get("theme", ""), sent.get("asked", 0))


class RoomFigures:
    """A panel for every registered view of a room but those that the room shows in its own way."""

    def __init__(self, desk: Desk, room: str, own: tuple[str, ...] = ()):
        """Args: desk: what the rooms share; room: its key; own: views the room shows otherwise."""
        self.desk, self.room, self._own = desk, room, own

    def build(self) -> None:
        """The panel, and the capture it was filled from; the page binds its stop button, one for all rooms."""
        self.panel = FigurePanel(elem_id=f"vx-{self.room}-panel")
        self.filled, self.said = gr.State(None), gr.Textbox(visible=False)
        state = [self.desk.address, self.desk.language]
        self.panel.ask(self.answer, state, self.panel, trigger_mode="always_last", **QUICK)
        self.panel.begin(self.begin, [*state, self.said], self.panel, js=SHOWN, **QUICK)
        self.panel.previews(self.previews, state, self.panel, trigger_mode="always_last", **QUICK)
        self.panel.work(
            self.work,
            state,
            self.panel,
            trigger_mode="multiple",  # a second question stops the first
            **WAITING,
        )

    def enter_on(self, listen: Listen, active: gr.State) -> None:
        """Let `enter` follow an event: a room was entered, or a capture is new."""
        listen(
            self.enter,
            [active, self.desk.address, self.filled, self.desk.language, self.said],
            [self.panel, self.filled],
            js=SHOWN,
            **QUICK,
        )

    def views(self) -> tuple[str, ...]:
        """Keys of the views of this room; what one looks at first comes first, many runs of the network last."""
        records = self.records()
        keys = [key for key, view in records.items() if view.room == self.room and key not in self._own]
        return tuple(sorted(keys, key=lambda key: (not records[key].overview, records[key].runs == "many")))

    def records(self) -> Mapping[str, View | Comparison]:
        """Records of which the room shows its own."""
        from vitexplorer.views import VIEWS

        return VIEWS

    async def shelf(self, address: Address) -> Shelf:
        """Where the panel takes its views from."""
        return of_views()

    def listed(self) -> tuple[str, ...]:
        """Keys of all views, first the one that the room shows in its own way."""
        return (*self._own[:1], *self.views())

    async def enter(
        self, active: str, address: Address, filled: Address | None, language: Language, said: str = ""
    ) -> Updates:
        """Fill the panel if its room is the one being looked at and the capture is another than before."""
        if active != self.room or filled == address or address == Address():  # nothing is captured yet
            return gr.skip()
        return {self.panel: await self._begun(address, language, said), self.filled: address}

    async def begin(self, event: gr.EventData, address: Address, language: Language, said: str = "") -> Any:
        """The same for a panel that was not reached by what `enter` sent."""
        if address == Address():
            return gr.skip()
        data = await self._begun(address, language, said)
        data.asked = fields_of(event).get("asked", 0)
        return data

    async def _begun(self, address: Address, language: Language, said: str) -> PanelData:
        """The view that the browser's address names, or the first one.

        Nothing is computed for the room's own, and what runs the model is left for the browser to ask for.
        """
        capture, shelf = await self.capture(address), await self.shelf(address)
        asked = await self._first(address, capture, shelf, ShownView.read(said))
        own = asked.view in self._own and shelf.refusal(asked.view, capture) is None
        if own or shelf.records[asked.view].runs != "nothing":
            return await in_thread(self._bare, asked, address, language, capture, shelf)
        return await self._show(asked, address, language)

    def _bare(self, asked: Question, address: Address, language: Language, capture: Capture, shelf: Shelf) -> PanelData:
        data = bare_data(capture, self.listed(), language, asked.view, shelf)
        data.settings = dict(asked.settings)
        return self._placed(data, address, language)

    async def _first(self, address: Address, capture: Capture, shelf: Shelf, shown: ShownView) -> Question:
        """What the address asks for, which says why where this model has no such view; or the first that it can show.

        Where it can show none that is the first one, which says why.
        """
        keys = [key for key in self.listed() if shelf.refusal(key, capture) is None]
        if shown.room == self.room and shown.view in keys:
            given = dict(shown.settings)
            try:
                resolved = await self.desk.engine.resolved(self.run(address), given)
                await in_thread(shelf.records[shown.view].settings, capture, resolved)
            except ExplainedError:  # they were another model's
                given = {}
            return Question(shown.view, given, shown.theme)
        if shown.room == self.room and shown.view in self.views():
            return Question(shown.view, theme=shown.theme)
        quick = [key for key in keys if shelf.records[key].runs != "many"]
        return Question(next(iter([*quick, *keys, *self.listed()])), theme=shown.theme)

    async def previews(self, address: Address, language: Language) -> PanelData:
        """Small pictures of all views that are read off the capture, and of those that were computed before."""
        capture, shelf = await self.capture(address), await self.shelf(address)
        for key in self.listed():
            is_quick = shelf.records[key].runs == "nothing" and shelf.refusal(key, capture) is None
            if is_quick and self.desk.engine.preview(self.run(address), key) is None:
                with suppress(ExplainedError):
                    await self.compute(address, capture, key, {})
        return await in_thread(self._previews, address)

    def _previews(self, address: Address) -> PanelData:
        found = {key: preview for key in self.listed() if (preview := self._preview(address, key)) is not None}
        return PanelData(previews=found, run=repr(self.run(address)))

    def _preview(self, address: Address, view: str) -> ServedFile | None:
        kept = self.desk.engine.preview(self.run(address), view)
        return cached_file(kept, "preview.png") if kept else None

    async def answer(self, event: gr.EventData, address: Address, language: Language, request: gr.Request) -> Any:
        """Another view or other settings; what a browser sends is checked by the view's own controls."""
        asked = Question.read(fields_of(event), self.listed())
        if asked is None:
            return gr.skip()
        self.stop(request)
        return await self._show(asked, address, language)

    async def work(
        self, event: gr.EventData, address: Address, language: Language, request: gr.Request
    ) -> AsyncGenerator[PanelData, None]:
        """The same for a view that runs the model: how far it is until it is there, and nothing once it is stopped."""
        asked = Question.read(fields_of(event), self.listed())
        if asked is None:
            return
        waiter = Waiting(session_of(request), FIGURE, asked.number)
        self.desk.engine.leave(waiter.visitor, FIGURE, before=asked.number)
        title = self.records()[asked.view].title
        try:
            async with aclosing(following(waiter, self._show(asked, address, language))) as steps:
                async for step in steps:
                    data = step.result if isinstance(step, Done) else work_data(step, title, language)
                    data.asked = asked.number
                    yield data
        except ExplainedError as error:  # too much waits already
            yield PanelData(asked=asked.number, work=PanelWork(text=error.text.in_(language)))

    def stop(self, request: gr.Request) -> None:
        """Drop the work that waits for this visitor."""
        self.desk.engine.leave(session_of(request), FIGURE)

    async def _show(self, asked: Question, address: Address, language: Language) -> PanelData:
        capture, shelf = await self.capture(address), await self.shelf(address)
        made = None
        if shelf.refusal(asked.view, capture) is None:
            made = await attempted(self.compute(address, capture, asked.view, asked.settings))
        data = await in_thread(self._drawn, asked, address, language, capture, shelf, made)
        for control in data.controls:
            control.state |= await self._other_image(control, address)
        return data

    def _drawn(
        self,
        asked: Question,
        address: Address,
        language: Language,
        capture: Capture,
        shelf: Shelf,
        made: Result | Exception | None,
    ) -> PanelData:
        from vitexplorer.views import explanations

        data, settings = panel_data(
            capture, self.listed(), language, asked.view, asked.settings, asked.theme, made, shelf
        )
        data.asked, data.python = asked.number, self.python(address, asked.view, settings)
        if asked.view in explanations():
            here = self.desk.engine.known(self.run(address), capture, EVIDENCE)
            data.standing, data.evidence = standing(asked.view, capture.provenance, here, language), EVIDENCE
        return self._placed(data, address, language)

    async def _other_image(self, control: Field, address: Address) -> dict[str, Any]:
        """Where the patches of the other image lie that a target compares with, as the same model sees it."""
        from vitexplorer.controls import likeness

        if control.kind != "target" or not (found := likeness(control.value)):
            return {}
        try:
            other = await self.desk.engine.capture(replace(address.picture, image=found[0]))
        except ExplainedError:  # the panel says so already
            return {}
        pixels = other.input.pixels
        board = Board.of(other.grid(other.depth - 1), pixels.shape[:2])
        return {"image": (await in_thread(image_file, pixels)).url, "board": asdict(board)}

    def _placed(self, data: PanelData, address: Address, language: Language) -> PanelData:
        """With what is beside the view: pictures of the others, and the next room."""
        for one in data.views:
            one.preview = self._preview(address, one.key)
            one.own = one.key in self._own and not one.refused
        data.room, data.run = self.room, repr(self.run(address))
        if after := room_after(self.desk.rooms, self.room):
            data.next_room = after.key
            data.words["next_room"] = word("next_room", language, room=after.title)
        return data

    def run(self, address: Address) -> Hashable:
        """Key of the run whose views are shown, as the engine remembers it."""
        return address.picture

    async def capture(self, address: Address) -> Capture:
        """The run that the views are of."""
        return await self.desk.engine.capture(address.picture)

    async def compute(self, address: Address, capture: Capture, view: str, given: Mapping[str, Any]) -> Result:
        """One view of it, from memory where it is kept."""
        return await self.desk.engine.compute(self.run(address), capture, view, given)

    def python(self, address: Address, view: str, settings: Mapping[str, Any]) -> str:
        """The lines of Python that give the same figure."""
        return self.desk.python_lines(address, view, **settings)
