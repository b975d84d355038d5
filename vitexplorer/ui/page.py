"""The page: a bar with what is looked at, a rail of rooms, the rooms; one event that fills them all.

Whatever changes the capture goes through `explore`, which waits for its turn and says what it is doing. Everything
inside a room is answered from the capture.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from typing import Any
from weakref import WeakValueDictionary

import gradio as gr

from vitexplorer.core.settings import Settings
from vitexplorer.core.text import Language
from vitexplorer.learn import Step
from vitexplorer.service.answer_threads import Wait, waiting_in_thread
from vitexplorer.service.engine import Engine, Explored, Picture
from vitexplorer.service.jobs import StoppedError
from vitexplorer.service.visitor_names import visitor_of
from vitexplorer.ui.gradio_adapter.events import fields_of, sent
from vitexplorer.ui.gradio_adapter.page_blocks import PatientBlocks, session_of
from vitexplorer.ui.gradio_adapter.types import Block, Dependency
from vitexplorer.ui.kit.language import Translations
from vitexplorer.ui.kit.served_files import ServedFile, cached_file
from vitexplorer.ui.rooms.attention.room import AttentionRoom
from vitexplorer.ui.rooms.compare.room import CompareRoom
from vitexplorer.ui.rooms.finetune.room import FinetuneRoom
from vitexplorer.ui.rooms.flow.room import FlowRoom
from vitexplorer.ui.rooms.folder.room import FolderRoom
from vitexplorer.ui.rooms.outputs.room import OutputsRoom
from vitexplorer.ui.rooms.patches.room import PatchesRoom
from vitexplorer.ui.rooms.positions.room import PositionsRoom
from vitexplorer.ui.rooms.room import Room
from vitexplorer.ui.rooms.size.room import SizeRoom
from vitexplorer.ui.rooms.tokens.room import TokensRoom
from vitexplorer.ui.rooms.what_if.room import WhatIfRoom
from vitexplorer.ui.server.api import open_door
from vitexplorer.ui.shell.address import Address
from vitexplorer.ui.shell.exploring import PAGE, Instead, exploring, ready
from vitexplorer.ui.shell.guide import Guide, OnScreen, guide_data, step_named, step_text
from vitexplorer.ui.shell.header import Header
from vitexplorer.ui.shell.image_chip import ImageChip
from vitexplorer.ui.shell.kept_views import KeptViews
from vitexplorer.ui.shell.model_chip import ModelChip
from vitexplorer.ui.shell.model_menu import model_chip, tuned_choices
from vitexplorer.ui.shell.rail import SELECTED, Rail
from vitexplorer.ui.shell.room_context import FIGURE, QUICK, WAITING, Desk, Updates
from vitexplorer.ui.shell.size_chip import SizeChip
from vitexplorer.ui.shell.size_choice import cost_of, size_chip, with_sizes
from vitexplorer.ui.shell.status import StatusData, StatusLine
from vitexplorer.ui.shell.visit import Visit

LOOK = "(...inputs) => { window.vxLook(); return window.vxVisitor(...inputs); }"
"""lets the rail fire the event of the room that is looked at, and says who the browser is"""
ROOMS: tuple[type[Room], ...] = (
    PatchesRoom,
    AttentionRoom,
    FlowRoom,
    TokensRoom,
    OutputsRoom,
    PositionsRoom,
    SizeRoom,
    WhatIfRoom,
    CompareRoom,
    FinetuneRoom,
    FolderRoom,
)


def build_page(settings: Settings, engine: Engine) -> tuple[gr.Blocks, Translations]:
    """The page and its translations; nothing is computed yet."""
    t = Translations()
    with PatientBlocks(title="ViT Explorer", analytics_enabled=False, fill_width=True) as page:
        Page(settings, Desk(engine, t, gr.State(Address()), gr.State("en"), visitor=gr.State(""))).build(page)
    open_door(page, settings, engine)
    return page, t


class Page:
    """The frame and its rooms."""

    def __init__(self, settings: Settings, desk: Desk):
        """Args: settings: what the owner of the installation decided; desk: what the rooms share."""
        rooms = tuple(room for room in ROOMS if room.is_offered(settings))
        self.settings, self.desk = settings, replace(desk, rooms=rooms)
        self.rooms = [room(self.desk) for room in rooms]
        self._one_at_a_time: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def build(self, page: gr.Blocks) -> None:
        """Lay everything out inside `page`, which is open, and bind the events of the frame."""
        active = gr.State("")
        with gr.Row(elem_id="vx-bar"):
            gr.HTML("<h1>ViT Explorer</h1>", elem_id="vx-brand", apply_default_css=False)
            image, model, size = (
                ImageChip(elem_id="vx-image"),
                ModelChip(elem_id="vx-model"),
                SizeChip(elem_id="vx-size"),
            )
            status, kept = StatusLine(elem_id="vx-status"), KeptViews(elem_id="vx-kept")
            header = Header(elem_id="vx-header")
        rail = Rail(elem_id="vx-rail", rooms=[room.key for room in self.rooms])
        guide = Guide(elem_id="vx-guide")
        entering = gr.Textbox(visible=False)  # through which the browser says which room is entered
        with gr.Tabs(selected="attention", elem_id="vx-rooms") as tabs:
            filled = [self._build_room(room, rail, entering, active) for room in self.rooms]
        wanted = gr.State(Address())
        parts = (image, model, size, status, kept, header, rail, guide, tabs)
        self.visit = Visit(self.desk.language, wanted, *parts, self.desk.rooms)
        self._browser = gr.Textbox(visible=False)  # through which it says who it is
        self._shown = [
            wanted,
            status,
            size,
            self.desk.address,
            *(component for components in filled for component in components),
        ]
        self._bind(page)

    def _build_room(self, room: Room, rail: Rail, entering: gr.Textbox, active: gr.State) -> list[Block]:
        """A room behind its door; its panel fills itself when it is entered."""
        with gr.Tab(self.desk.t(room.title), id=room.key) as door:
            components = room.build()
        entered = door.select(self.enter, entering, active, js=f"() => window.vxEnter('{room.key}')", **QUICK)
        room.enter_on(entered.then, active)
        room.enter_on(rail.look(room.key), gr.State(room.key))
        return components

    def _bind(self, page: gr.Blocks) -> None:
        """Every event of the frame; those that choose what is looked at are followed by `explore`."""
        visit = self.visit
        page.unload(self.leave)
        visit.rail.enter(None, None, visit.tabs, js=SELECTED, **QUICK)
        for room in self.rooms:
            room.lead(visit, self.then_explore)
        stops = [sent(room.panel.panel, "stop") for room in self.rooms if room.panel]
        gr.on(stops, self.stop, None, None, **QUICK)
        self._then_menu(page.load(self.start, None, self._with_shown(visit.components), **WAITING))
        visit.size.cost(self.cost, [self.desk.address, visit.language], visit.size, trigger_mode="always_last", **QUICK)
        links = [sent(part, "go") for part in (visit.kept, visit.guide)]
        here = [self.desk.address, visit.language]
        chosen = self._with_shown(visit.of_choice)
        self._then_menu(gr.on(links, self.go, [visit.wanted, *here], chosen, trigger_mode="multiple", **WAITING))
        visit.guide.tell(self.tell, here, visit.guide, trigger_mode="always_last", **QUICK)
        visit.guide.handout(self.handout, here, visit.guide, trigger_mode="once", **QUICK)
        choices = [sent(part, "choose") for part in (visit.image, visit.model, visit.size, visit.status)]
        given = [visit.wanted, *here, self.desk.visitor]
        chosen = self._with_shown([visit.wanted, visit.image, visit.model])
        self._then_menu(gr.on(choices, self.choose, given, chosen, trigger_mode="multiple", **WAITING))

    def _with_shown(self, components: list[Block]) -> list[Block]:
        """What an event writes to that fills the rooms as well: to ask for that anew would be another two requests."""
        return list(dict.fromkeys([*components, *self._shown]))

    def then_explore(self, event: Dependency) -> None:
        """Fill what all rooms show after an event that wrote the wanted address, then the room that is looked at."""
        given = [self.visit.wanted, self.desk.address, self.visit.language]
        self._then_menu(event.success(self.explore, given, self._shown, **WAITING))

    def _then_menu(self, explored: Dependency) -> None:
        who = [self._browser, self.visit.wanted, self.visit.language]
        explored.then(self.menu, who, [self.desk.visitor, self.visit.model], js=LOOK, **QUICK)

    # -------------------------------------------------------------------------------------- events

    def enter(self, room: str, request: gr.Request) -> Any:
        """The room that a person opened, which is filled at once. What ran in the last one stops.

        None where gradio itself or a link selected a tab: it is filled once the capture that comes with it is there.
        """
        self.desk.engine.leave(session_of(request), FIGURE)
        return room if any(one.key == room for one in self.rooms) else ""

    def stop(self, request: gr.Request) -> None:
        """The stop button of a room's figures."""
        self.desk.engine.leave(session_of(request), FIGURE)

    async def start(self, request: gr.Request) -> AsyncGenerator[Updates, None]:
        """The page as its URL asks for it, then the rooms."""
        arrived = await asyncio.to_thread(self.visit.start, request)
        async for updates in self._chosen(arrived, Address(), arrived[self.visit.language], request):
            yield updates

    async def go(
        self, event: gr.EventData, before: Address, shown: Address, language: Language, request: gr.Request
    ) -> AsyncGenerator[Updates, None]:
        """What a link says, without loading the page anew."""
        chosen = await asyncio.to_thread(self.visit.go, event, before, language)
        async for updates in self._chosen(chosen, shown, language, request):
            yield updates

    async def choose(
        self,
        event: gr.EventData,
        address: Address,
        shown: Address,
        language: Language,
        visitor: str,
        request: gr.Request,
    ) -> AsyncGenerator[Updates, None]:
        """Another image, model, weights, size or fit."""

        def choose() -> Updates:
            return self.visit.choose(event, address, language, tuned_choices(self.desk.engine, self.settings, visitor))

        async for updates in self._chosen(await asyncio.to_thread(choose), shown, language, request):
            yield updates

    async def _chosen(
        self, chosen: Updates, shown: Address, language: Language, request: gr.Request
    ) -> AsyncGenerator[Updates, None]:
        """What an event changes at once, and what it fills: in one answer where the capture is in memory.

        Nothing is filled after an event that was not heard.
        """
        wanted = chosen.get(self.visit.wanted)
        if wanted is not None and self.desk.engine.is_own_size(wanted.picture):
            wanted = chosen[self.visit.wanted] = replace(wanted, size="")
        if wanted is None or self.desk.engine.kept(wanted.picture) is None:
            yield chosen
            chosen = {}
        if wanted is not None:
            async with aclosing(self.explore(wanted, shown, language, request)) as filled:
                async for updates in filled:
                    yield chosen | updates
                    chosen = {}

    async def explore(
        self, address: Address, shown: Address, language: Language, request: gr.Request
    ) -> AsyncGenerator[Updates, None]:
        """Fill every room from a new capture; until then, and if there is none, the screen stays as it is.

        What was asked for before is let go; where it is there already it is shown first.
        """
        visitor = session_of(request)
        for wanted in (FIGURE, PAGE):
            self.desk.engine.leave(visitor, wanted)
        instead, lines = "", exploring(self.desk.engine, visitor, address, shown, language)
        async with self._one_at_a_time.setdefault(visitor, asyncio.Lock()), aclosing(lines):
            try:
                async for line in lines:
                    if isinstance(line, StatusData):
                        yield {self.visit.status: line}
                    elif isinstance(line, Instead):
                        address, instead = line.address, line.why
                        yield {self.visit.wanted: address}
                    else:
                        yield await asyncio.to_thread(self._filled, line, address, language, instead)
            except StoppedError:
                yield {self.visit.status: gr.skip()}  # gradio ends with what was said last, which is past

    def _filled(self, explored: Explored, address: Address, language: Language, instead: str) -> Updates:
        filled: Updates = {
            self.visit.status: ready(explored, address, language, instead),
            self.visit.size: size_chip(explored.capture, address, language),
            self.desk.address: address,
        }
        for room in self.rooms:
            filled |= room.fill(explored, address, language)
        return filled

    def leave(self, request: gr.Request) -> None:
        """The page was closed."""
        self.desk.engine.leave(session_of(request))

    def menu(self, browser: str, wanted: Address, language: Language) -> Updates:
        """The sheet of the models, once timm is loaded and can say which weights are here; whose page this is."""
        visitor = visitor_of(browser)
        tuned = tuned_choices(self.desk.engine, self.settings, visitor)
        return {
            self.desk.visitor: visitor,
            self.visit.model: model_chip(
                wanted, language, self.settings, tuned, self.desk.engine.loaded(wanted.picture)
            ),
        }

    async def cost(self, event: gr.EventData, shown: Address, language: Language) -> Updates:
        """The sheet of the sizes, filled when it is opened, with what one that is being typed would cost."""
        size = fields_of(event).get("size")
        if size is None or shown == Address():
            return gr.skip()
        chip = size_chip(await self.desk.engine.capture(shown.picture), shown, language)
        chip = await with_sizes(chip, self.desk.engine, shown, language)
        if size:
            chip.says = await cost_of(self.desk.engine, shown, size, language)
        return {self.visit.size: chip}

    async def tell(self, event: gr.EventData, shown: Address, language: Language) -> Updates:
        """A step of the guided path with the numbers of what is on the screen."""
        step = step_named(fields_of(event).get("step"))
        if step is None or shown == Address():
            return gr.skip()
        text = await waiting_in_thread(
            lambda wait: step_text(step, self._on_screen(shown.picture, wait), language),
        )
        return {self.visit.guide: guide_data(language, text)}

    async def handout(self, shown: Address, language: Language) -> Updates:
        """The guided path on paper, each step with this picture in its own model."""
        if shown == Address():
            return gr.skip()
        fit = "crop" if shown.fit == "native" else shown.fit
        own = replace(shown.picture, weights="trained", fit=fit)

        def written(wait: Wait) -> ServedFile:
            from vitexplorer.learn.handout import handout_of

            def seen(step: Step) -> OnScreen:
                picture = replace(own, model=step.state["model"], size=step.state.get("size", ""))
                return self._on_screen(picture, wait)

            return cached_file(handout_of(seen, language).encode(), "vit-explorer-handout.html")

        return {self.visit.guide: guide_data(language, handout=await waiting_in_thread(written))}

    def _on_screen(self, picture: Picture, wait: Wait) -> OnScreen:
        """A capture as the steps of the path see it, whose functions wait on the thread that calls them."""
        engine, capture = self.desk.engine, wait(self.desk.engine.capture(picture))
        return OnScreen(
            capture,
            lambda view, settings: wait(engine.compute(picture, capture, view, settings)),
            lambda changes: wait(engine.changed(picture, changes)),
            lambda model: self._on_screen(replace(picture, model=model, weights="trained", size=""), wait),
        )
