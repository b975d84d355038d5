"""The What if room: the same image and model with something changed, beside the plain run.

What became of the answer at the top, the attention of both runs under one mouse with the switches beside them, and
below the figures: the class token and the map, whether tokens move with the image, and other views of the changed run.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import gradio as gr
from gradio.components import Component

from vitexplorer.core.text import ExplainedError, Language, Text
from vitexplorer.core.types import Output
from vitexplorer.service.answer_threads import in_thread
from vitexplorer.ui.canvas.two_sided import Side, TwoSided
from vitexplorer.ui.gradio_adapter.events import fields_of
from vitexplorer.ui.panel.room_figures import RoomFigures
from vitexplorer.ui.rooms.room import Room
from vitexplorer.ui.rooms.what_if.changes import ChangesData, ChangesPicker, changes_data
from vitexplorer.ui.rooms.what_if.words import WHAT_IF_WORDS
from vitexplorer.ui.shell.address import FIRST_CHANGE, Address
from vitexplorer.ui.shell.room_context import QUICK, Desk, Listen, Updates

if TYPE_CHECKING:
    from vitexplorer.capturing.capture import Capture

OF_CHANGED = ("attention_rollout", "head_atlas", "pooling", "logit_lens", "token_pca", "generic_relevance")
"""views of other rooms that are offered of the changed run"""
UNSURE = 0.1
"""of probability lost, from which on an answer that stays is less sure"""
ALIKE, MOVED = 0.95, 0.5
"""cosines from which on what a model makes of an image is almost, or partly, what it was"""
NOTHING = "nothing"
"""in an address: a person chose to change nothing"""


class ChangedFigures(RoomFigures):
    """The room's own views, and some of others, of the changed run."""

    def __init__(self, desk: Desk):
        """Args: desk: with the address that names the changes."""
        super().__init__(desk, "what_if")

    def views(self) -> tuple[str, ...]:
        """Keys of the views, those of the room first."""
        return (*super().views(), *OF_CHANGED)

    async def capture(self, address: Address) -> Capture:
        """The changed run."""
        return await self.desk.engine.changed(address.picture, address.change)

    def run(self, address: Address) -> Hashable:
        """A picture with its changes."""
        return address.picture, address.change

    def python(self, address: Address, view: str, settings: Mapping[str, Any]) -> str:
        """The lines of Python, with the change."""
        return self.desk.python_lines(address, view, changed=bool(address.change), **settings)


class WhatIfRoom(Room):
    """The same image with positions off, patches shuffled, heads removed and more."""

    key = "what_if"
    title = Text("What if", "假如改变")
    invitation = Text("Change something and run it again", "改一改，再运行一次")
    icon = "M8.5 8.5a3.5 3.5 0 1 1 5 3.200c-1 .6-1.5 1.200-1.5 2.800 M12 19v.2"
    apart = True

    def build(self) -> list[Component]:
        """Switches, two canvases, figures."""
        self.changed = gr.State(Address())  # the address with the changes that are shown
        self.shown = gr.State(None)  # what the room was filled for
        self.block = gr.State(0)  # that both canvases show
        with gr.Column(elem_classes=["vx-what-if", "vx-frame"]), gr.Column(elem_classes=["layout"]):
            self.picker = ChangesPicker(elem_id="vx-changes")
            self.stage = TwoSided(self.key, ("vx-plain-canvas", "vx-changed-canvas"))
            self.stage.build(self.show_block, [self.changed, self.desk.language], [self.block])
        self.panel = ChangedFigures(replace(self.desk, address=self.changed))
        self.panel.build()
        chosen = self.picker.choose(
            self.choose,
            [self.changed, self.block, self.desk.language],
            [self.picker, *self.stage.canvases, self.changed],
            trigger_mode="always_last",
            **QUICK,
        )
        self.panel.enter_on(chosen.then, gr.State(self.key))
        return []

    def enter_on(self, listen: Listen, active: gr.State) -> None:
        """Fill the room when it is entered, and when the image or model is another."""
        entered = listen(
            self.enter,
            [active, self.desk.address, self.changed, self.shown, self.desk.language],
            [self.picker, self.block, *self.stage.canvases, self.changed, self.shown],
            **QUICK,
        )
        self.panel.enter_on(entered.then, active)

    async def enter(
        self, active: str, address: Address, changed: Address, shown: Address | None, language: Language
    ) -> Updates:
        """The changes chosen before, or those of the address, or a puzzle; the last block."""
        if active != self.key or shown == address or address == Address():
            return gr.skip()
        linked = shown is None or shown.opened != address.opened
        before = {"": FIRST_CHANGE, NOTHING: ""}.get(address.change, address.change) if linked else changed.change
        plain = await self.desk.engine.capture(address.picture)
        data, run, text = await self._changed(address, before, language)
        if run is None:  # another model may have no such head
            data, run, text = await self._changed(address, FIRST_CHANGE, language)
        (block, _), canvases = await in_thread(self.stage.open, _sides(plain, run, language), address, language)
        return {
            self.picker: data,
            self.block: block,
            **canvases,
            self.changed: replace(address, change=text),
            self.shown: address,
        }

    async def choose(self, event: gr.EventData, changed: Address, block: int, language: Language) -> Updates:
        """Other changes; those that are not possible are answered with a sentence, and nothing else moves."""
        text = fields_of(event).get("text")
        if text is None or changed == Address():
            return gr.skip()
        data, run, text = await self._changed(changed, text, language)
        data.asked = fields_of(event).get("asked", 0)
        if run is None:
            return {self.picker: data}
        sides = _sides(await self.desk.engine.capture(changed.picture), run, language)
        canvases = await in_thread(self.stage.show, sides, (block, block), language)
        return {self.picker: data, **canvases, self.changed: replace(changed, change=text)}

    async def show_block(self, event: gr.EventData, changed: Address, language: Language) -> Updates:
        """Another block of both runs; head and query stay what the visitor chose in the browser."""
        plain, block = await self.desk.engine.capture(changed.picture), fields_of(event).get("block", 0)
        run = await self.desk.engine.changed(changed.picture, changed.change)
        moved = await in_thread(self.stage.move, event, _sides(plain, run, language), (block, block), language)
        if moved is None:
            return gr.skip()
        (block, _), canvases = moved
        return {self.block: block, **canvases}

    async def _changed(
        self, address: Address, text: str, language: Language
    ) -> tuple[ChangesData, Capture | None, str]:
        """The picker, the changed run or None where it is not possible, and its changes in full."""
        from vitexplorer.interventions import settled, write_changes

        plain = await self.desk.engine.capture(address.picture)
        try:
            chosen = await in_thread(settled, plain, text)
            run = await self.desk.engine.changed(address.picture, write_changes(chosen))
        except ExplainedError as error:
            data = await in_thread(lambda: changes_data(plain, _possible(plain, text), language))
            data.refused = error.text.in_(language)
            return data, None, text
        data = await in_thread(changes_data, plain, chosen, language)
        data.reading = await in_thread(answer, plain, run, language) if chosen else ""
        return data.model_copy(update=self.next_button(language)), run, write_changes(chosen)


def _sides(plain: Capture, run: Capture, language: Language) -> tuple[Side, Side]:
    return Side(plain, WHAT_IF_WORDS["plain"].in_(language)), Side(run, WHAT_IF_WORDS["changed"].in_(language))


def _possible(plain: Capture, text: str) -> dict[str, dict[str, Any]]:
    """Keep of some changes those that are possible one by one, so that the switches stay as they were put."""
    from vitexplorer.interventions import read_changes, settled

    chosen: dict[str, dict[str, Any]] = {}
    try:
        for name, given in read_changes(text).items():
            chosen |= settled(plain, {name: given})
    except ExplainedError:
        return chosen
    return chosen


def answer(plain: Capture, run: Capture, language: Language) -> str:
    """Sentence on the answer before and after the change; without classes, on the token that would be read."""
    from vitexplorer.quantities.read_out import top_classes
    from vitexplorer.quantities.two_runs import token_cosines

    if plain.logits is None:
        cosine = float(token_cosines(plain, run, "cls" if "cls" in plain.prefix_tokens else "mean")[-1])
        so = next(name for least, name in ((ALIKE, "alike"), (MOVED, "moved"), (-1, "other")) if cosine >= least)
        return WHAT_IF_WORDS["no_answer"].format(cosine=f"{cosine:.2f}", so=WHAT_IF_WORDS[so]).in_(language)
    best, now = (top_classes(capture.logits, plain.model.class_texts, 1)[0] for capture in (plain, run))
    if isinstance(best, Output):
        return WHAT_IF_WORDS["number"].format(before=best.display_value, after=now.display_value).in_(language)
    names = [one.name.in_(language) or str(one.index) for one in (best, now)]
    shares = [best.display_value, now.display_value]
    if best.index != now.index:
        said = [Text("{name} ({share})", "{name}（{share}）").format(name=name, share=share) for name, share in
                zip(names, shares, strict=True)]  # fmt: skip
        return WHAT_IF_WORDS["new_answer"].format(before=said[0], after=said[1]).in_(language)
    kind = "unsure" if best.probability - now.probability > UNSURE else "same"
    return WHAT_IF_WORDS[f"{kind}_answer"].format(name=names[0], before=shares[0], after=shares[1]).in_(language)
