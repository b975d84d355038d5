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
from vitexplorer.ui import visit
from vitexplorer.ui.address import Address, RoomKey
from vitexplorer.ui.desk import QUICK, Desk
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
        desk = Desk(engine, t, address=gr.State(Address()), language=gr.State("en"), visitor=gr.State(""))
        parts: dict[str, Component] = {"language": desk.language, "wanted": gr.State(Address())}
        parts["active"] = gr.State("attention")  # key of the room that is looked at
        parts["header"] = Header()
        with gr.Row(elem_id="vx-columns"):
            with gr.Column(elem_id="vx-left"):
                parts |= build_choices(t, settings)
            with gr.Column(elem_id="vx-main"):
                parts["status"] = StatusLine()
                entering = gr.Textbox(visible=False)  # through which the browser says which room is entered
                with gr.Tabs(selected="attention") as tabs:
                    rooms = [room(desk) for room in ROOMS if settings.trainings or room is not FinetuneRoom]
                    filled = [build_room(room, desk, entering, parts["active"]) for room in rooms]
                parts["tabs"] = tabs
        bind(page, parts, rooms, filled, desk, settings)
    return page, t


def build_choices(t: Translations, settings: Settings) -> dict[str, Component]:
    """The left column: image, model, weights, fit."""
    return {
        "upload": ImageUpload(label=t("image"), height=170),
        "strip": ExampleStrip(),
        "model": gr.Dropdown(
            label=t("model"),
            info=t("model_info" if settings.any_model else "model_info_closed"),
            choices=[],
            allow_custom_value=True,
            filterable=True,
            elem_classes=["vx-model"],
        ),
        "sentence": gr.Markdown(elem_classes=["vx-note"]),
        "weights": gr.Radio([(t(f"weights_{key}"), key) for key in ("trained", "random")], label=t("weights")),
        "fit": gr.Radio([(t(f"fit_{key}"), key) for key in ("crop", "squash", "pad", "native")], label=t("fit")),
    }


def build_room(room: Room, desk: Desk, entering: gr.Textbox, active: gr.State) -> list[Block]:
    """A room behind its door: the address bar knows when it is entered, and its panel fills itself."""

    def enter(room: str, request: gr.Request) -> Any:
        """The room that a person opened; none where gradio itself selected a tab. What ran in the last one stops."""
        desk.engine.background.stop(request.session_hash)
        return room if room in get_args(RoomKey) else gr.skip()

    with gr.Tab(desk.t(f"room_{room.key}"), id=room.key) as door:
        components = room.build()
    entered = door.select(enter, entering, active, js=f"() => window.vxEnter('{room.key}')", **QUICK)
    room.enter_on(entered.then, active)
    room.enter_on(desk.address.change, active)  # which gradio tells of because `explore` is queued
    return components


def bind(
    page: gr.Blocks,
    parts: dict[str, Component],
    rooms: list[Room],
    filled: list[list[Block]],
    desk: Desk,
    settings: Settings,
) -> None:
    """Every event of the frame, each followed by `explore`."""
    wanted, language = parts["wanted"], desk.language
    browser = gr.Textbox(visible=False)  # through which it says who it is
    outputs = [parts["status"], desk.address, *(component for components in filled for component in components)]

    def explore(address: Address, shown: Address, language: Language, request: gr.Request) -> Iterator[list[Any]]:
        """Fill every room from a new capture; until then, and if there is none, the screen stays as it is."""
        desk.engine.background.stop(request.session_hash)
        with closing(exploring(desk.engine, request.session_hash, address, shown, language)) as lines:
            for line in lines:
                if isinstance(line, StatusData):
                    yield [line, *(gr.skip() for _ in outputs[1:])]
                else:
                    values = [value for room in rooms for value in room.fill(line, address, language)]
                    yield [ready(line, address, language), address, *values]

    def menu(browser: str, language: Language) -> tuple[str, gr.Dropdown]:
        """The model menu, once timm is loaded and it can say which weights are on this machine; whose page this is."""
        visitor = visitor_of(browser)
        tuned = desk.engine.places.tuned(visitor) if settings.trainings and (visitor or not settings.hosted) else ()
        return visitor, gr.Dropdown(choices=model_choices(language, settings, tuned))

    def then_explore(event: Dependency) -> None:
        explored = event.success(
            explore,
            [wanted, desk.address, language],
            outputs,
            concurrency_id="engine",
            concurrency_limit=1,
            show_progress="hidden",
            api_visibility="private",
        )
        explored.then(menu, [browser, language], [desk.visitor, parts["model"]], js=VISITOR, **QUICK)

    def start(request: gr.Request) -> dict[Component, Any]:
        """The page as its URL asks for it."""
        return {parts[name]: value for name, value in visit.start(request).items()}

    for room in rooms:
        room.lead(parts, then_explore)
    then_explore(page.load(start, None, list(parts.values()), **QUICK))
    picked = parts["strip"].pick(
        visit.choose_example, [wanted, language], [wanted, parts["upload"], parts["strip"]], **QUICK
    )
    then_explore(picked)
    uploaded = parts["upload"].input(
        visit.choose_upload,
        [parts["upload"], wanted, language],
        [wanted, parts["strip"]],
        concurrency_limit=4,  # in the queue: only from there do sentences of an error reach the page
        show_progress="hidden",
        api_visibility="private",
    )
    then_explore(uploaded)
    uploaded.failure(visit.picture, wanted, parts["upload"], **QUICK)
    chosen = parts["model"].input(
        visit.choose_model, [parts["model"], wanted, language], [wanted, parts["sentence"]], **QUICK
    )
    then_explore(chosen)
    then_explore(parts["weights"].input(visit.choose_weights, [parts["weights"], wanted], wanted, **QUICK))
    then_explore(parts["fit"].input(visit.choose_fit, [parts["fit"], wanted], wanted, **QUICK))
