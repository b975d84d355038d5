"""Event handlers of a room's figure panel, which is filled when a person first enters the room."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Hashable, Mapping
from contextlib import aclosing, suppress
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import gradio as gr

from vitexplorer.controls import sharpens
from vitexplorer.controls.spec import Board
from vitexplorer.core.text import ExplainedError
from vitexplorer.core.types import Result
from vitexplorer.service.answer_threads import in_thread
from vitexplorer.service.jobs import Done, Waiting, following
from vitexplorer.ui.canvas.files import input_file
from vitexplorer.ui.controls.field import Field
from vitexplorer.ui.gradio_adapter.events import fields_of
from vitexplorer.ui.gradio_adapter.page_blocks import session_of
from vitexplorer.ui.kit.language import word
from vitexplorer.ui.kit.served_files import ServedFile, cached_file, image_file
from vitexplorer.ui.panel.figure_panel import (
    FigurePanel,
    PanelData,
    PanelWork,
    Question,
    ViewSource,
    bare_data,
    capture_views,
    panel_data,
    result_or_error,
    work_data,
)
from vitexplorer.ui.panel.standing import EVIDENCE, standing
from vitexplorer.ui.shell.address import Address, Chosen, SelectedView
from vitexplorer.ui.shell.room_context import FIGURE, LATEST, QUICK, WAITING, Listen, RoomContext, Updates
from vitexplorer.ui.shell.room_sign import room_after

if TYPE_CHECKING:
    from vitexplorer.capturing.capture import Capture
    from vitexplorer.comparisons.record import Comparison
    from vitexplorer.views.record import View


BROWSER_VIEW_JS = "(...inputs) => window.vxShown(...inputs)"
"""JavaScript that fills the last input of an event: JSON with the browser's address and theme, see `SelectedView`"""


class RoomFigures:
    """Panel of all registered views of a room except those that the room shows in its own way."""

    def __init__(self, context: RoomContext, room: str, own: tuple[str, ...] = ()):
        """Name the room, and the views that it shows in its own way."""
        self.context = context
        self.room = room
        self._own = own

    def build(self) -> None:
        """Create the panel and bind its events; the page binds the stop button, which is one for all rooms."""
        self.panel = FigurePanel(elem_id=f"vx-{self.room}-panel")
        self.filled = gr.State(None)  # the address of the capture that the panel shows
        address = self.context.address
        self.panel.ask(self.answer, address, self.panel, **LATEST)
        self.panel.begin(self.begin, [address, self.context.browser], self.panel, js=BROWSER_VIEW_JS, **QUICK)
        self.panel.previews(self.previews, address, self.panel, **LATEST)
        # a second question stops the first
        self.panel.work(self.work, address, self.panel, trigger_mode="multiple", **WAITING)

    def enter_on(self, listen: Listen, active: gr.State) -> None:
        """Call `enter` after an event: a room was entered, or the capture is new."""
        listen(
            self.enter,
            [active, self.context.address, self.filled, self.context.browser],
            [self.panel, self.filled],
            js=BROWSER_VIEW_JS,
            **QUICK,
        )

    def views(self) -> tuple[str, ...]:
        """Return the keys of the room's views in the panel, by group: overviews first, views of many runs last."""
        from vitexplorer.views.record import GROUPS

        groups = ["", *GROUPS]
        views = {key: view for key, view in self.records().items() if view.room == self.room and key not in self._own}

        def place(key: str) -> tuple[int, bool, bool]:
            return groups.index(views[key].group), not views[key].overview, views[key].runs == "many"

        return tuple(sorted(views, key=place))

    def records(self) -> Mapping[str, View | Comparison]:
        """Return the registry that the room's views are taken from."""
        from vitexplorer.views import VIEWS

        return VIEWS

    async def source(self, address: Address) -> ViewSource:
        """Return the source of the panel's views."""
        return capture_views(await self.capture(address))

    def listed(self) -> tuple[str, ...]:
        """Return the keys of all views, first the one that the room shows in its own way."""
        return (*self._own[:1], *self.views())

    async def enter(self, active: str, address: Address, filled: Address | None, browser_view: str = "") -> Updates:
        """Fill the panel if its room is on the screen and the capture is new."""
        if active != self.room or filled == address or address == Address():
            return gr.skip()
        return {self.panel: await self._begun(address, browser_view), self.filled: address}

    async def begin(self, event: gr.EventData, address: Address, browser_view: str = "") -> Any:
        """Fill a panel that did not receive the answer of `enter`."""
        if address == Address():
            return gr.skip()
        data = await self._begun(address, browser_view)
        data.asked = fields_of(event).get("asked", 0)
        return data

    async def _begun(self, address: Address, browser_view: str) -> PanelData:
        """Return the view that the browser's address names, or the first one.

        Nothing is computed for a view that the room shows in its own way, or for one that runs the model: the browser
        requests the latter by itself.
        """
        source = await self.source(address)
        question = await self._first(address, source, SelectedView.read(browser_view))
        own = question.view in self._own and source.refusal(question.view) is None
        if own or source.records[question.view].runs != "nothing" or sharpens(question.settings):
            return await in_thread(self._bare, question, address, source)
        return await self._show(question, address)

    def _bare(self, question: Question, address: Address, source: ViewSource) -> PanelData:
        data = bare_data(source, self.listed(), address.language, question.view)
        data.bare = True
        if question.view not in self._own:
            data.image = input_file(source.capture)  # stands on the stage until the first figure
        data.settings = dict(question.settings)
        return self._placed(data, address)

    async def _first(self, address: Address, source: ViewSource, current: SelectedView) -> Question:
        """Choose the view to show first: the one of the browser's address, otherwise the first that the model has.

        A view that the model lacks is chosen where the address names it, or where the model has none of the room's
        views.
        """
        keys = [key for key in self.listed() if source.refusal(key) is None]
        if current.room == self.room and current.view in (*keys, *self.views()):
            given = dict(current.settings)
            origin_address, origin = await self._origin(current.view, address)
            try:
                resolved = await self.context.engine.resolved(self.run(origin_address), given)
                await in_thread(origin.records[current.view].settings, origin.capture, resolved)
            except ExplainedError:  # settings for another model
                given = {}
            return Question(current.view, given, current.theme)
        quick = [key for key in keys if source.records[key].runs != "many"]
        first = next(iter([*quick, *keys, *self.listed()]))
        chosen = Chosen() if first in self._own else current.chosen  # the room's own view takes it in the browser
        return Question(first, await self._carried(first, {}, chosen, address), current.theme)

    async def _carried(
        self, view: str, given: Mapping[str, str], chosen: Chosen, address: Address
    ) -> Mapping[str, str]:
        """Add what a person chose in other rooms to the settings of a view that has such a control and takes the value.

        A view of one answer keeps its own block, which there is a part of the method.
        """
        if chosen == Chosen():
            return given
        origin_address, origin = await self._origin(view, address)
        record = origin.records[view]
        names = {control.name for control in record.controls}
        for name, value in asdict(chosen).items():
            if not value or name in given or name not in names or (name == "block" and "target" in names):
                continue
            with suppress(ExplainedError):
                resolved = await self.context.engine.resolved(self.run(origin_address), {**given, name: value})
                await in_thread(record.settings, origin.capture, resolved)
                given = {**given, name: value}
        return given

    async def previews(self, address: Address) -> PanelData:
        """Return small pictures of all views that run nothing, and of those that were computed before."""
        source = await self.source(address)
        for key in self.listed():
            is_quick = source.records[key].runs == "nothing" and source.refusal(key) is None
            if is_quick and self.context.engine.preview(self.run(address), key) is None:
                with suppress(ExplainedError):
                    await self.compute(address, source.capture, key, {})
        return await in_thread(self._previews, address)

    def _previews(self, address: Address) -> PanelData:
        previews = {key: preview for key in self.listed() if (preview := self._preview(address, key)) is not None}
        return PanelData(previews=previews, run=repr(self.run(address)))

    def _preview(self, address: Address, view: str) -> ServedFile | None:
        png = self.context.engine.preview(self.run(address), view)
        return cached_file(png, "preview.png") if png else None

    def _question(self, event: gr.EventData) -> Question | None:
        """Read a question of a browser; None where it names no view of this room."""
        sent = fields_of(event)
        view, settings = sent.get("view"), sent.get("settings")
        if view not in self.listed() or settings is None:
            return None
        given = {name: value for name, value in settings.items() if value != ""}
        return Question(view, given, sent.get("theme", ""), sent.get("asked", 0))

    async def answer(self, event: gr.EventData, address: Address, request: gr.Request) -> Any:
        """Show another view or other settings; the view's own controls check what a browser sends."""
        question = self._question(event)
        if question is None:
            return gr.skip()
        self.stop(request)
        return await self._show(await self._with_chosen(question, event, address), address)

    async def _with_chosen(self, question: Question, event: gr.EventData, address: Address) -> Question:
        settings = await self._carried(question.view, question.settings, Chosen.of(fields_of(event)), address)
        return replace(question, settings=settings)

    async def work(self, event: gr.EventData, address: Address, request: gr.Request) -> AsyncGenerator[PanelData, None]:
        """Show a view that runs the model: yield its progress, then the result; nothing more once it is stopped."""
        question = self._question(event)
        if question is None:
            return
        question = await self._with_chosen(question, event, address)
        waiter = Waiting(session_of(request), FIGURE, question.number)
        self.context.engine.leave(waiter.visitor, FIGURE, before=question.number)
        title = self.records()[question.view].title
        try:
            async with aclosing(following(waiter, self._show(question, address))) as steps:
                async for step in steps:
                    data = step.result if isinstance(step, Done) else work_data(step, title, address.language)
                    data.asked = question.number
                    yield data
        except ExplainedError as error:  # too much waits already
            yield PanelData(asked=question.number, work=PanelWork(text=error.text.in_(address.language)))

    def stop(self, request: gr.Request) -> None:
        """Drop the work of this visitor's panel."""
        self.context.engine.leave(session_of(request), FIGURE)

    async def _show(self, question: Question, address: Address) -> PanelData:
        source = await self.source(address)
        origin_address, origin = await self._origin(question.view, address)
        made = None
        if origin.refusal(question.view) is None:
            made = await result_or_error(self.compute(origin_address, origin.capture, question.view, question.settings))
        data, settings = await in_thread(panel_data, source, self.listed(), address.language, question, made, origin)
        data.python = self.python(origin_address, question.view, settings)
        self._add_standing(data, origin_address, origin.capture)
        for control in data.controls:
            control.state |= await self._other_image(control, origin_address)
        return await in_thread(self._placed, data, address)

    async def _origin(self, view: str, address: Address) -> tuple[Address, ViewSource]:
        """Return the address and the source that a view is taken from: of another model that stands in, or its own."""
        source = await self.source(address)
        nearest = source.nearest(view) if source.refusal(view) else None
        if nearest is None or not nearest.stands_in:
            return address, source
        elsewhere = address.in_model(nearest.model)
        return elsewhere, await self.source(elsewhere)

    def _add_standing(self, data: PanelData, address: Address, capture: Capture) -> None:
        from vitexplorer.views import explanations

        if data.chosen in explanations():
            measured = self.context.engine.known(self.run(address), capture, EVIDENCE)
            data.standing = standing(data.chosen, capture.provenance, measured, address.language)
            data.evidence = EVIDENCE

    async def _other_image(self, control: Field, address: Address) -> dict[str, Any]:
        """Return pixels and patch grid of the image that a target is compared with, as the same model sees it."""
        from vitexplorer.controls import likeness

        if control.kind != "target" or not (named := likeness(control.value)):
            return {}
        try:
            other = await self.context.engine.capture(replace(address.picture, image=named[0]))
        except ExplainedError:  # the panel shows this error already
            return {}
        pixels = other.input.pixels
        board = Board.of(other.grid(other.depth - 1), pixels.shape[:2])
        return {"image": (await in_thread(image_file, pixels)).url, "board": asdict(board)}

    def _placed(self, data: PanelData, address: Address) -> PanelData:
        """Add what is beside the view: small pictures of the other views, and the next room."""
        for view in data.views:
            view.preview = self._preview(address, view.key)
            view.own = view.key in self._own and not view.refused
        data.room = self.room
        data.run = repr(self.run(address))
        if next_room := room_after(self.context.rooms, self.room):
            data.next_room = next_room.key
            data.words["next_room"] = word("next_room", address.language, room=next_room.title)
        return data

    def run(self, address: Address) -> Hashable:
        """Return the engine's key of the run whose views are shown."""
        return address.picture

    async def capture(self, address: Address) -> Capture:
        """Return the capture whose views are shown."""
        return await self.context.engine.capture(address.picture)

    async def compute(self, address: Address, capture: Capture, view: str, given: Mapping[str, Any]) -> Result:
        """Compute one view of the capture, or return it from memory."""
        return await self.context.engine.compute(self.run(address), capture, view, given)

    def python(self, address: Address, view: str, settings: Mapping[str, Any]) -> str:
        """Return Python code that makes the same figure."""
        return self.context.python_lines(address, view, **settings)
