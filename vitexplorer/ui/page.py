"""The page: image and model on the left, the rooms on the right, one event that fills them all.

Whatever changes the capture goes through `explore`, which runs in the queue, one at a time, and says what it is doing.
Everything inside a room is answered from the capture by events that never queue.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any, get_args

import gradio as gr
from gradio.blocks import Block
from gradio.components.base import Component
from gradio.events import Dependency

from vitexplorer.settings import Settings
from vitexplorer.ui.address import Address, RoomKey
from vitexplorer.ui.desk import QUICK, Desk, Updates
from vitexplorer.ui.engine import Engine
from vitexplorer.ui.exploring import exploring, ready
from vitexplorer.ui.language import Translations
from vitexplorer.ui.menu import model_choices
from vitexplorer.ui.parts.header import Header
from vitexplorer.ui.parts.status import StatusData, StatusLine
from vitexplorer.ui.parts.strip import ExampleStrip
from vitexplorer.ui.parts.upload import ImageUpload
from vitexplorer.ui.rooms.attention import AttentionRoom
from vitexplorer.ui.rooms.figure_rooms import OutputsRoom, PositionsRoom, TokensRoom
from vitexplorer.ui.rooms.finetune import FinetuneRoom
from vitexplorer.ui.rooms.flow import FlowRoom
from vitexplorer.ui.rooms.patches import PatchesRoom
from vitexplorer.ui.rooms.room import Room
from vitexplorer.ui.rooms.size import SizeRoom
from vitexplorer.ui.rooms.what_if import WhatIfRoom
from vitexplorer.ui.visit import Visit, choose_fit, choose_weights, picture
from vitexplorer.ui.visitor import VISITOR, visitor_of
from vitexplorer.words import Language

ROOMS: tuple[type[Room], ...] = (
    PatchesRoom,
    AttentionRoom,
    FlowRoom,
    TokensRoom,
    OutputsRoom,
    PositionsRoom,
    SizeRoom,
    WhatIfRoom,
    FinetuneRoom,
)


def build_page(settings: Settings, engine: Engine) -> tuple[gr.Blocks, Translations]:
    """The page and its translations; nothing is computed yet."""
    t = Translations()
    with gr.Blocks(title="ViT Explorer", analytics_enabled=False, fill_width=True, delete_cache=(1800, 7200)) as page:
        Page(settings, Desk(engine, t, gr.State(Address()), gr.State("en"), visitor=gr.State(""))).build(page)
    return page, t


class Page:
    """The frame and its rooms."""

    def __init__(self, settings: Settings, desk: Desk):
        """Args: settings: what the owner of the installation decided; desk: what the rooms share."""
        self.settings, self.desk = settings, desk

    def build(self, page: gr.Blocks) -> None:
        """Lay everything out inside `page`, which is open, and bind the events of the frame."""
        choosing = {"wanted": gr.State(Address()), "active": gr.State("attention"), "header": Header()}
        with gr.Row(elem_id="vx-columns"):
            with gr.Column(elem_id="vx-left"):
                choosing |= self._build_choices()
            with gr.Column(elem_id="vx-main"):
                status = StatusLine()
                entering = gr.Textbox(visible=False)  # through which the browser says which room is entered
                with gr.Tabs(selected="attention") as tabs:
                    self.rooms = [
                        room(self.desk) for room in ROOMS if self.settings.trainings or room is not FinetuneRoom
                    ]
                    filled = [self._build_room(room, entering, choosing["active"]) for room in self.rooms]
        self.visit = Visit(language=self.desk.language, status=status, tabs=tabs, **choosing)
        self._browser = gr.Textbox(visible=False)  # through which it says who it is
        self._shown = [status, self.desk.address, *(component for components in filled for component in components)]
        self._bind(page)

    def _build_choices(self) -> dict[str, Component]:
        """The left column: image, model, weights, fit."""
        t = self.desk.t
        return {
            "upload": ImageUpload(label=t("image"), height=170),
            "strip": ExampleStrip(),
            "model": gr.Dropdown(
                label=t("model"),
                info=t("model_info" if self.settings.any_model else "model_info_closed"),
                choices=[],
                allow_custom_value=True,
                filterable=True,
                elem_classes=["vx-model"],
            ),
            "sentence": gr.Markdown(elem_classes=["vx-note"]),
            "weights": gr.Radio([(t(f"weights_{key}"), key) for key in ("trained", "random")], label=t("weights")),
            "fit": gr.Radio([(t(f"fit_{key}"), key) for key in ("crop", "squash", "pad", "native")], label=t("fit")),
        }

    def _build_room(self, room: Room, entering: gr.Textbox, active: gr.State) -> list[Block]:
        """A room behind its door: the address bar knows when it is entered, and its panel fills itself."""
        with gr.Tab(self.desk.t(f"room_{room.key}"), id=room.key) as door:
            components = room.build()
        entered = door.select(self.enter, entering, active, js=f"() => window.vxEnter('{room.key}')", **QUICK)
        room.enter_on(entered.then, active)
        room.enter_on(self.desk.address.change, active)  # which gradio tells of because `explore` is queued
        return components

    def _bind(self, page: gr.Blocks) -> None:
        """Every event of the frame, each followed by `explore`."""
        visit, here = self.visit, [self.visit.wanted, self.visit.language]
        for room in self.rooms:
            room.lead(visit, self.then_explore)
        self.then_explore(page.load(visit.start, None, visit.components, **QUICK))
        self.then_explore(
            visit.strip.pick(visit.choose_example, here, [visit.wanted, visit.upload, visit.strip], **QUICK)
        )
        uploaded = visit.upload.input(
            visit.choose_upload,
            [visit.upload, *here],
            [visit.wanted, visit.strip],
            concurrency_limit=4,  # in the queue: only from there do sentences of an error reach the page
            show_progress="hidden",
            api_visibility="private",
        )
        self.then_explore(uploaded)
        uploaded.failure(picture, visit.wanted, visit.upload, **QUICK)
        self.then_explore(
            visit.model.input(visit.choose_model, [visit.model, *here], [visit.wanted, visit.sentence], **QUICK)
        )
        for chosen, choose in ((visit.weights, choose_weights), (visit.fit, choose_fit)):
            self.then_explore(chosen.input(choose, [chosen, visit.wanted], visit.wanted, **QUICK))

    def then_explore(self, event: Dependency) -> None:
        """Fill every room after an event that wrote the wanted address, and then the menu of models."""
        explored = event.success(
            self.explore,
            [self.visit.wanted, self.desk.address, self.visit.language],
            self._shown,
            concurrency_id="engine",
            concurrency_limit=1,
            show_progress="hidden",
            api_visibility="private",
        )
        who = [self._browser, self.visit.language]
        explored.then(self.menu, who, [self.desk.visitor, self.visit.model], js=VISITOR, **QUICK)

    # -------------------------------------------------------------------------------------- events

    def enter(self, room: str, request: gr.Request) -> Any:
        """The room that a person opened; none where gradio itself selected a tab. What ran in the last one stops."""
        self.desk.engine.background.stop(request.session_hash)
        return room if room in get_args(RoomKey) else gr.skip()

    def explore(self, address: Address, shown: Address, language: Language, request: gr.Request) -> Iterator[Updates]:
        """Fill every room from a new capture; until then, and if there is none, the screen stays as it is."""
        self.desk.engine.background.stop(request.session_hash)
        lines = exploring(self.desk.engine, request.session_hash, address, shown, language)
        with closing(lines):
            for line in lines:
                if isinstance(line, StatusData):
                    yield {self.visit.status: line}
                    continue
                filled: Updates = {self.visit.status: ready(line, address, language), self.desk.address: address}
                for room in self.rooms:
                    filled |= room.fill(line, address, language)
                yield filled

    def menu(self, browser: str, language: Language) -> Updates:
        """The model menu, once timm is loaded and it can say which weights are on this machine; whose page this is."""
        visitor, settings, places = visitor_of(browser), self.settings, self.desk.engine.places
        tuned = places.tuned(visitor) if settings.trainings and (visitor or not settings.hosted) else ()
        return {
            self.desk.visitor: visitor,
            self.visit.model: gr.Dropdown(choices=model_choices(language, settings, tuned)),
        }
