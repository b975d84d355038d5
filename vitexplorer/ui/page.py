"""The page: a top bar with image, model and size, a rail of rooms, and the rooms; one event fills them all.

Every change of the capture goes through `explore`, which waits for its turn and reports its progress. Everything inside
a room is answered from the capture.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import gradio as gr

from vitexplorer.core.settings import Settings
from vitexplorer.service.engine import Engine, TimedCapture
from vitexplorer.service.jobs import StoppedError
from vitexplorer.service.visitor_names import visitor_of
from vitexplorer.ui.gradio_adapter.events import fields_of, sent
from vitexplorer.ui.gradio_adapter.page_blocks import PageBlocks, session_of
from vitexplorer.ui.gradio_adapter.types import Block, Dependency
from vitexplorer.ui.kit.language import Translations, language_of_request
from vitexplorer.ui.rooms.attention.room import AttentionRoom
from vitexplorer.ui.rooms.check_up.room import CheckUpRoom
from vitexplorer.ui.rooms.compare.room import CompareRoom
from vitexplorer.ui.rooms.finetune.room import FinetuneRoom
from vitexplorer.ui.rooms.flow.room import FlowRoom
from vitexplorer.ui.rooms.folder.room import FolderRoom
from vitexplorer.ui.rooms.network.room import NetworkRoom
from vitexplorer.ui.rooms.outputs.room import OutputsRoom
from vitexplorer.ui.rooms.patches.room import PatchesRoom
from vitexplorer.ui.rooms.positions.room import PositionsRoom
from vitexplorer.ui.rooms.room import Room
from vitexplorer.ui.rooms.size.room import SizeRoom
from vitexplorer.ui.rooms.tokens.room import TokensRoom
from vitexplorer.ui.rooms.what_if.room import WhatIfRoom
from vitexplorer.ui.rooms.words.room import WordsRoom
from vitexplorer.ui.server.api.endpoints import add_endpoints
from vitexplorer.ui.shell.address import Address, Chosen
from vitexplorer.ui.shell.chips.image_chip import ImageChip
from vitexplorer.ui.shell.chips.model_chip import ModelChip, model_chip, tuned_choices
from vitexplorer.ui.shell.chips.size_chip import SizeChip, priced_sizes, size_chip
from vitexplorer.ui.shell.exploring import PAGE, Replacement, companion, companion_in_memory, exploring, ready
from vitexplorer.ui.shell.guide.guide import Guide
from vitexplorer.ui.shell.header import Header
from vitexplorer.ui.shell.rail import SELECTED, Rail
from vitexplorer.ui.shell.room_context import FIGURE, LATEST, QUICK, WAITING, RoomContext, Updates, UpdateStream
from vitexplorer.ui.shell.saved_views import SavedViews
from vitexplorer.ui.shell.status import StatusData, StatusLine
from vitexplorer.ui.shell.visit import Visit
from vitexplorer.ui.thread.thread import STRIP, Thread, thread_data

if TYPE_CHECKING:
    from vitexplorer.capturing.capture import Capture

LOOK = "(...inputs) => window.vxLook(...inputs)"
"""Script that, once the map is painted, fills the selected room and sends the browser's visitor name"""
ROOMS: tuple[type[Room], ...] = (
    NetworkRoom,
    PatchesRoom,
    AttentionRoom,
    TokensRoom,
    OutputsRoom,
    PositionsRoom,
    SizeRoom,
    FlowRoom,
    CompareRoom,
    WordsRoom,
    FolderRoom,
    CheckUpRoom,
    WhatIfRoom,
    FinetuneRoom,
)


def build_page(settings: Settings, engine: Engine) -> tuple[gr.Blocks, Translations]:
    """Build the page and its translations; nothing is computed yet."""
    t = Translations()
    with PageBlocks(title="ViT Explorer", analytics_enabled=False, fill_width=True) as page:
        Page(settings, RoomContext(engine, t, gr.State(Address()), visitor=gr.State(""))).build(page)
    add_endpoints(page, settings, engine)
    return page, t


class Page:
    """The frame and its rooms."""

    def __init__(self, settings: Settings, context: RoomContext):
        """Make the rooms that this installation offers."""
        rooms = tuple(room for room in ROOMS if room.is_offered(settings))
        self.settings = settings
        self.context = replace(context, rooms=rooms)
        self.rooms = [room(self.context) for room in rooms]
        self._visitor_locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._numbers = itertools.count(1)
        self._last_choice: dict[str, int] = {}
        """Number of the last event of each visitor that chose something"""

    def build(self, page: gr.Blocks) -> None:
        """Lay out the components inside the open `page` and bind the events of the frame."""
        entered = [gr.State("") for _ in self.rooms]  # one for all rooms would go to whoever was answered last
        with gr.Column(elem_id="vx-bar"):
            gr.HTML("<h1>ViT Explorer</h1>", elem_id="vx-brand", apply_default_css=False)
            image = ImageChip(elem_id="vx-image")
            model = ModelChip(elem_id="vx-model")
            size = SizeChip(elem_id="vx-size")
            status = StatusLine(elem_id="vx-status")
            saved_views = SavedViews(elem_id="vx-kept")
            header = Header(elem_id="vx-header")
        rail = Rail(elem_id="vx-rail", rooms=[room.key for room in self.rooms])
        guide = Guide(elem_id="vx-guide")
        guide.listen(self.context)
        self.thread = Thread(elem_id="vx-thread")
        self.thread.listen(self.context)
        with gr.Tabs(selected="attention", elem_id="vx-rooms") as tabs:
            room_components = list(map(self._build_room, self.rooms, entered))
        for room in self.rooms:  # outside of the tabs, where gradio would count each state as a tab
            room.enter_on(rail.look(room.key), gr.State(room.key))
        requested = gr.State(Address())
        parts = (image, model, size, status, saved_views, header, rail, guide, tabs)
        self.visit = Visit(requested, *parts, self.context.rooms)
        self._explore_outputs = [
            requested,
            status,
            size,
            self.context.address,
            self.thread,
            *(component for components in room_components for component in components),
        ]
        self._bind(page)

    def _build_room(self, room: Room, entered: gr.State) -> list[Block]:
        """Build a room in its tab; it fills itself where `entered` has its key, which a person's entry writes."""
        with gr.Tab(self.context.t(room.title), id=room.key) as tab:
            components = room.build()
        js = f"() => window.vxEnter('{room.key}')"
        selected = tab.select(self.enter, self.context.browser, entered, js=js, **QUICK)
        room.enter_on(selected.then, entered)
        return components

    def _bind(self, page: gr.Blocks) -> None:
        """Bind every event of the frame; `explore` follows those that choose another picture."""
        visit = self.visit
        page.unload(self.leave)
        visit.rail.enter(None, None, visit.tabs, js=SELECTED, **QUICK)
        for room in self.rooms:
            room.lead(visit, self.then_explore)
        stops = [sent(room.panel.panel, "stop") for room in self.rooms if room.panel]
        gr.on(stops, self.stop, None, None, **QUICK)
        self._then_menu(page.load(self.start, None, self._with_explore_outputs(visit.components), **WAITING))
        on_screen = self.context.address
        visit.status.ask(self.answer, on_screen, visit.status, **LATEST)
        visit.size.cost(self.cost, on_screen, visit.size, **LATEST)
        links = [sent(part, "go") for part in (visit.saved_views, visit.guide)]
        outputs = self._with_explore_outputs(visit.of_choice)
        self._then_menu(
            gr.on(links, self.go, [visit.requested, on_screen], outputs, trigger_mode="multiple", **WAITING)
        )
        choices = [sent(part, "choose") for part in (visit.image, visit.model, visit.size, visit.status)]
        inputs = [visit.requested, on_screen, self.context.visitor]
        outputs = self._with_explore_outputs([visit.requested, visit.image, visit.model])
        self._then_menu(gr.on(choices, self.choose, inputs, outputs, trigger_mode="multiple", **WAITING))

    def _with_explore_outputs(self, components: list[Block]) -> list[Block]:
        """Add the outputs of `explore` to those of an event that explores itself, which saves two more requests."""
        return list(dict.fromkeys([*components, *self._explore_outputs]))

    def then_explore(self, event: Dependency) -> None:
        """Fill the parts that all rooms show after an event that wrote the requested address, then the open room."""
        inputs = [self.visit.requested, self.context.address]
        self._then_menu(event.success(self.explore, inputs, self._explore_outputs, **WAITING))

    def _then_menu(self, event: Dependency) -> None:
        inputs = [self.context.browser, self.visit.requested]
        event.then(self.menu, inputs, [self.context.visitor, self.visit.model], js=LOOK, **QUICK)

    # -------------------------------------------------------------------------------------- events

    def enter(self, room: str, request: gr.Request) -> Any:
        """Return the room that a person opened, to be filled at once; stop the figures of the previous room.

        The key is empty where gradio itself or a link selected a tab: the new capture fills that room when it is ready.
        """
        self.context.engine.leave(session_of(request), FIGURE)
        return room if any(offered.key == room for offered in self.rooms) else ""

    def stop(self, request: gr.Request) -> None:
        """Stop the figure of a room at its stop button."""
        self.context.engine.leave(session_of(request), FIGURE)

    async def start(self, request: gr.Request) -> UpdateStream:
        """Fill the frame as the page's URL asks, then the rooms."""
        nothing_yet = Address(language=language_of_request(request.request))

        def begin() -> Updates:
            return self.visit.start(request) | {self.context.address: nothing_yet}

        async for updates in self._chosen(begin, nothing_yet, request):
            yield updates

    async def go(self, event: gr.EventData, before: Address, current: Address, request: gr.Request) -> UpdateStream:
        """Follow a link without reloading the page."""
        async for updates in self._chosen(partial(self.visit.go, event, before), current, request):
            yield updates

    async def choose(
        self, event: gr.EventData, address: Address, current: Address, visitor: str, request: gr.Request
    ) -> UpdateStream:
        """Choose another image, model, weights, size or fit."""

        def choose() -> Updates:
            return self.visit.choose(event, address, tuned_choices(self.context.engine, self.settings, visitor))

        async for updates in self._chosen(choose, current, request):
            yield updates

    async def _chosen(self, choose: Callable[[], Updates], current: Address, request: gr.Request) -> UpdateStream:
        """Yield an event's updates of the frame, then those of the rooms; both at once if the capture is in memory.

        An event that chose nothing fills no rooms. An event that a later one of the same visitor overtook changes
        nothing any more, or the page would show the earlier choice.
        """
        visitor, number = session_of(request), next(self._numbers)
        frame_updates = await asyncio.to_thread(choose)
        requested = frame_updates.get(self.visit.requested)
        if requested is None:
            yield frame_updates
            return
        if number < self._last_choice.get(visitor, 0):
            yield gr.skip()
            return
        self._last_choice[visitor] = number
        if self.context.engine.is_own_size(requested.picture):
            requested = frame_updates[self.visit.requested] = replace(requested, size="")
        if self.context.engine.cached_capture(requested.picture) is None:
            yield frame_updates
            frame_updates = {}
        async with aclosing(self.explore(requested, current, request)) as room_updates:
            async for updates in room_updates:
                yield frame_updates | updates if number == self._last_choice.get(visitor) else gr.skip()
                frame_updates = {}

    async def explore(self, address: Address, current: Address, request: gr.Request) -> UpdateStream:
        """Fill every room from a new capture; until then, and if there is none, the screen stays as it is.

        The visitor's previous request is abandoned; its result is shown first if it is already there.
        """
        visitor = session_of(request)
        for purpose in (FIGURE, STRIP, PAGE):
            self.context.engine.leave(visitor, purpose)
        reason = ""
        lines = exploring(self.context.engine, visitor, address, current)
        async with self._visitor_locks.setdefault(visitor, asyncio.Lock()), aclosing(lines):
            try:
                async for line in lines:
                    if isinstance(line, StatusData):
                        yield {self.visit.status: line}
                        if line.kind == "error" and (entry := self.context.engine.cached_capture(current.picture)):
                            yield await asyncio.to_thread(self._strip, entry.capture, current)  # asks for its end again
                    elif isinstance(line, Replacement):
                        address = line.address
                        reason = line.reason
                        yield {self.visit.requested: address}
                    else:
                        yield await asyncio.to_thread(self._fill, line, address, reason)
            except StoppedError:
                yield {self.visit.status: gr.skip()}  # gradio repeats the last update at the end, which is out of date

    def _strip(self, capture: Capture, address: Address) -> Updates:
        beside = companion_in_memory(self.context.engine, address, capture)
        return {self.thread: thread_data(capture, address, Chosen.of(address.parameters()), beside=beside)}

    def _fill(self, exploration: TimedCapture, address: Address, reason: str) -> Updates:
        beside = companion_in_memory(self.context.engine, address, exploration.capture)
        updates: Updates = {
            self.visit.status: ready(exploration, address, reason, beside),
            self.visit.size: size_chip(exploration.capture, address),
            self.context.address: address,
            **self._strip(exploration.capture, address),
        }
        for room in self.rooms:
            updates |= room.fill(exploration, address)
        return updates

    async def answer(self, current: Address) -> Any:
        """Add the companion's answer to the status line; the first map does not wait for a second model."""
        exploration = self.context.engine.cached_capture(current.picture)
        picture = companion(current, exploration.capture) if exploration else None
        if picture is None:
            return gr.skip()
        line = ready(exploration, current, beside=await self.context.engine.capture(picture))
        return line.model_copy(update={"address": {}})  # the address on the screen may be further on

    def leave(self, request: gr.Request) -> None:
        """Abandon the work of a page that was closed."""
        visitor = session_of(request)
        self.context.engine.leave(visitor)
        self._last_choice.pop(visitor, None)

    def menu(self, browser: str | None, address: Address) -> Updates:
        """Fill the models' sheet, once timm is loaded and knows which weights are here, and the visitor's name."""
        visitor = visitor_of(browser)
        tuned = tuned_choices(self.context.engine, self.settings, visitor)
        loaded = self.context.engine.loaded(address.picture)
        return {self.context.visitor: visitor, self.visit.model: model_chip(address, self.settings, tuned, loaded)}

    async def cost(self, event: gr.EventData, current: Address) -> Updates:
        """Fill the sheet of the sizes when it is opened, with the cost of a size that is being typed."""
        size = fields_of(event).get("size")
        if size is None or current == Address():
            return gr.skip()
        return {self.visit.size: await priced_sizes(self.context.engine, current, size)}
