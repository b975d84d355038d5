"""The thread: one patch from the image to the answer, in a strip that stays under every room.

A patch, block, head or class that a person chooses in any room is in the page's address, from which the strip and the
other rooms take it. Choices equal to the defaults (class token, last block, heads fused) count as none.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import gradio as gr
from pydantic import BaseModel

from vitexplorer.controls import BlockControl, HeadControl, QueryControl, TargetControl
from vitexplorer.core.format import measured, percent, signed
from vitexplorer.core.text import ExplainedError, Language, Text, same
from vitexplorer.core.types import ContributionsResult, query_text
from vitexplorer.service.answer_threads import in_thread
from vitexplorer.service.jobs import waiting
from vitexplorer.ui.canvas.files import input_file, made_once
from vitexplorer.ui.gradio_adapter.events import fields_of
from vitexplorer.ui.kit.served_files import FileAddress
from vitexplorer.ui.kit.widget import Widget
from vitexplorer.ui.shell.address import Address, Chosen
from vitexplorer.ui.shell.exploring import companion, companion_in_memory
from vitexplorer.ui.shell.room_context import LATEST, RoomContext
from vitexplorer.ui.thread.words import THREAD_WORDS

if TYPE_CHECKING:
    from vitexplorer.capturing.capture import Capture
    from vitexplorer.quantities.token_path import TokenPath

ADDS = "logit_attribution"
"""View that the strip takes the block's contribution from"""
STRIP = "strip"
"""Purpose of a visitor's wait for the last stops; a request for another capture ends the wait"""


class Stop(BaseModel):
    """One stop of the strip: a button that opens a room on the very thing."""

    label: str
    text: str
    title: str
    """Tooltip with the definition"""
    room: str
    view: str = ""
    """View of the room; empty for its first"""
    chosen: dict[str, str] = {}
    """Parameters of the address to set"""
    crop: list[float] = []
    """Part of the image as a thumbnail: left, top, width and height in shares of the image"""


class ThreadData(BaseModel):
    """The strip."""

    label: str = ""
    stops: list[Stop] = []
    image: FileAddress | None = None
    depth: int = 0
    """Number of blocks: the last one counts as not chosen"""
    chosen: dict[str, str] = {}
    """Choices that the stops were made for"""
    asks: bool = False
    """True where the last stops need another pass, for which the component asks with `whole`"""


class Thread(Widget):
    """Component of the strip; `follow` has the fields of `Chosen`, and `whole`."""

    data_model = ThreadData
    sends = ("follow",)

    def listen(self, context: RoomContext) -> None:
        """Answer choices made in the browser."""
        self._context = context
        self.follow(self.answer, context.address, self, **LATEST)

    async def answer(self, event: gr.EventData, address: Address) -> Any:
        """Follow another patch, block, head or class; with `whole`, run the model for the last stops."""
        if address == Address():
            return gr.skip()
        engine = self._context.engine
        chosen = Chosen.of(fields_of(event))
        capture = await engine.capture(address.picture)
        if not fields_of(event).get("whole"):
            beside = companion_in_memory(engine, address, capture)
            return await in_thread(thread_data, capture, address, chosen, None, beside)
        waiting.set(replace(waiting.get(), wants=STRIP))
        picture = companion(address, capture)
        beside = await engine.capture(picture) if picture else None
        added = None
        with suppress(ExplainedError):  # a model without classes, or one whose logit is no sum over the blocks
            target = target_of(capture, chosen.target)
            added = await engine.compute(address.picture, capture, ADDS, {"target": target})
        data = await in_thread(thread_data, capture, address, chosen, added, beside)
        data.asks = False
        return data


def thread_data(
    capture: Capture,
    address: Address,
    chosen: Chosen,
    added: ContributionsResult | None = None,
    beside: Capture | None = None,
) -> ThreadData:
    """Return the strip.

    `added` are the contributions to the logit of the chosen class, None where they are not known yet, or not at all;
    `beside` is the capture of the companion of a model without a classifier, if it is in memory.
    """
    from vitexplorer.quantities.token_path import token_path

    if chosen.block == str(capture.depth - 1):
        chosen = replace(chosen, block="")
    block = _parsed(BlockControl(), chosen.block, capture, {}, capture.depth - 1)
    patch = _parsed(QueryControl(), chosen.query, capture, {"block": block}, None)
    patch = None if isinstance(patch, str) else patch
    head = _parsed(HeadControl(), chosen.head, capture, {"block": block}, None)
    head = None if isinstance(head, str) else head
    try:
        path = made_once(capture, ("path", block, patch, head), lambda: token_path(capture, block, patch, head))
    except ExplainedError:  # a block whose attention does not go from tokens to patches: the page does without
        return ThreadData()
    language = address.language
    stops = [
        _image_stop(capture, path, language),
        _patch_stop(capture, path, patch is not None, language),
        *_token_stop(path, language),
        _head_stop(path, head is not None, language),
        *_answer_stops(capture, path, chosen, added, beside, language),
    ]
    return ThreadData(
        label=THREAD_WORDS["strip"].in_(language),
        stops=stops,
        image=input_file(capture),
        depth=capture.depth,
        chosen=asdict(chosen),
        asks=added is None and (capture.logits is not None or (beside is None and bool(companion(address, capture)))),
    )


def target_of(capture: Capture, target: str) -> int:
    """Return the chosen class where the model has it, otherwise the likeliest; raises what `TargetControl` raises."""
    control = TargetControl()
    likeliest = control.default(capture)
    return _parsed(control, target, capture, {}, likeliest)


def _parsed(control: Any, value: str, capture: Capture, settings: Mapping[str, Any], default: Any) -> Any:
    """Parse a choice; the default where there is none, or where it is of another model."""
    try:
        return control.parse(value, capture, settings) if value else default
    except ExplainedError:
        return default


def _stop(key: str, language: Language, room: str, text: Text, title: str = "", **more: Any) -> Stop:
    """Make a stop from the words of a key; `values` among `more` are filled in, the rest are its fields."""
    values = more.pop("values", {})
    return Stop(
        label=THREAD_WORDS[key].format(**values).in_(language),
        text=text.in_(language),
        title=THREAD_WORDS[title or f"{key}_title"].format(**values).in_(language),
        room=room,
        **more,
    )


def _image_stop(capture: Capture, path: TokenPath, language: Language) -> Stop:
    grid = capture.grid(path.block)
    text = THREAD_WORDS["grid"].format(rows=grid.rows, cols=grid.cols)
    return _stop("image", language, "patches", text, crop=[0, 0, 1, 1])


def _patch_stop(capture: Capture, path: TokenPath, is_chosen: bool, language: Language) -> Stop:
    (row, col), side = path.patch, capture.grid(path.block).patch_size
    height, width = capture.input.pixels.shape[:2]
    values = {"reader": query_text(path.reader), "block": path.block}
    return _stop(
        "patch" if is_chosen else "patch_most",
        language,
        "patches",
        THREAD_WORDS["patch_at"].format(row=row, col=col),
        values=values,
        chosen={"query": f"{row},{col}"},
        crop=[col * side / width, row * side / height, side / width, side / height],
    )


def _token_stop(path: TokenPath, language: Language) -> list[Stop]:
    if path.norm is None:
        return []
    text = THREAD_WORDS["norm"].format(norm=measured(path.norm))
    return [_stop("token", language, "tokens", text, values={"block": path.block}, view="token_norms")]


def _head_stop(path: TokenPath, is_chosen: bool, language: Language) -> Stop:
    values = {"block": path.block, "head": path.head, "share": percent(path.share), "reader": query_text(path.reader)}
    return _stop(
        "head_chosen" if is_chosen else "head",
        language,
        "attention",
        THREAD_WORDS["head_at"].format(**values),
        title="head_title",
        values=values,
        view="attention_map",
        chosen={"block": str(path.block), "head": str(path.head)},
    )


def _answer_stops(
    capture: Capture,
    path: TokenPath,
    chosen: Chosen,
    added: ContributionsResult | None,
    beside: Capture | None,
    language: Language,
) -> list[Stop]:
    from vitexplorer.quantities.read_out import answer_text
    from vitexplorer.quantities.targets import explained

    answering = beside or capture
    if answering.logits is None:
        return []
    likeliest = target_of(answering, "")
    target = likeliest if beside else target_of(capture, chosen.target)
    answer = explained(answering, target)
    name = answer.name if answer.name.en else answer_text(answer)
    text = same("{name} {value}").format(name=name, value=answer.display_value)
    if beside:
        values = {"model": beside.model.title}
        return [_stop("companion", language, "outputs", text, values=values)]
    key = "answer" if target == likeliest else "answer_chosen"
    key = "answer_random" if capture.provenance.is_random else key
    last = _stop(key, language, "outputs", text)
    values = {"block": path.block, "name": name}
    return [*_adds_stop(capture, path.block, added, values, language), last]


def _adds_stop(
    capture: Capture, block: int, added: ContributionsResult | None, values: Mapping[str, Any], language: Language
) -> list[Stop]:
    """Return the stop of the block's contribution, with dots in place of a number that is not known yet."""
    from vitexplorer.views import refusal

    if made_once(capture, ("refusal", ADDS), lambda: refusal(ADDS, capture)):
        return []
    key, text = "adds", same("…")
    parts = dict(zip(added.parts, added.values.tolist(), strict=True)) if added else {}
    for branch, name in (("attn", "adds"), ("attn + mlp", "adds_both")):
        if (value := parts.get(f"block {block} {branch}")) is not None:
            key, text = name, same(signed(value))
    return [_stop(key, language, "outputs", text, title="adds_title", values=values, view=ADDS)]
