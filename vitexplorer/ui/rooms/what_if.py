"""The What if room: the same image and model with something changed, beside the plain run.

What became of the answer at the top, the attention of both runs under one mouse with the switches beside them, and
below the figures: the class token and the map, whether tokens move with the image, and other views of the changed run.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import gradio as gr
from gradio.components.base import Component

from vitexplorer.numbers import percent
from vitexplorer.types import Query
from vitexplorer.ui.address import Address
from vitexplorer.ui.canvas.canvas import AttentionCanvas, head_of, query_of, query_text
from vitexplorer.ui.changes.changes import START, ChangesData, ChangesPicker, changes_data
from vitexplorer.ui.desk import QUICK, Desk, Listen, Updates
from vitexplorer.ui.language import word
from vitexplorer.ui.rooms.attention import is_block
from vitexplorer.ui.rooms.block_data import block_data, default_query
from vitexplorer.ui.rooms.room import Room, lead_to
from vitexplorer.ui.rooms.room_figures import RoomFigures
from vitexplorer.words import ExplainedError, Language, Text

if TYPE_CHECKING:
    from vitexplorer.capture import Capture

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
        """Those of the room first."""
        return (*super().views(), *OF_CHANGED)

    def capture(self, address: Address) -> Capture:
        """The changed run."""
        return self.desk.engine.changed(address.picture, address.change)

    def run(self, address: Address) -> Hashable:
        """A picture with its changes."""
        return address.picture, address.change

    def python(self, address: Address, view: str, settings: Mapping[str, Any]) -> str:
        """The lines of Python, with the change."""
        return self.desk.python_lines(address, view, changed=bool(address.change), **settings)


class WhatIfRoom(Room):
    """What if something were different?"""

    key = "what_if"

    def build(self) -> list[Component]:
        """Switches, two canvases, figures."""
        self.changed = gr.State(Address())  # the address with the changes that are shown
        self.shown = gr.State(None)  # what the room was filled for
        self.block = gr.State(0)  # that both canvases show
        with gr.Column(elem_classes=["vx-what-if", "vx-frame"]), gr.Column(elem_classes=["layout"]):
            self.picker = ChangesPicker(elem_id="vx-changes")
            with gr.Row(elem_classes=["stage"]):
                self.plain_canvas = AttentionCanvas(elem_id="vx-plain-canvas")
                self.changed_canvas = AttentionCanvas(elem_id="vx-changed-canvas")
        self.panel = ChangedFigures(replace(self.desk, address=self.changed))
        self.panel.build()
        canvases = [self.plain_canvas, self.changed_canvas]
        chosen = self.picker.choose(
            self.choose,
            [self.changed, self.block, self.desk.language],
            [self.picker, *canvases, self.changed],
            trigger_mode="always_last",
            **QUICK,
        )
        self.panel.enter_on(chosen.then, gr.State(self.key))
        for canvas in canvases:
            canvas.choose_block(
                self.show_block,
                [self.changed, self.desk.language],
                [self.block, *canvases],
                trigger_mode="always_last",
                **QUICK,
            )
        return []

    def enter_on(self, listen: Listen, active: gr.State) -> None:
        """Fill the room when it is entered, and when the image or model is another."""
        entered = listen(
            self.enter,
            [active, self.desk.address, self.changed, self.shown, self.desk.language],
            [self.picker, self.block, self.plain_canvas, self.changed_canvas, self.changed, self.shown],
            **QUICK,
        )
        self.panel.enter_on(entered.then, active)

    def enter(
        self, active: str, address: Address, changed: Address, shown: Address | None, language: Language
    ) -> Updates:
        """The changes chosen before, or those of the address, or a puzzle; the last block."""
        if active != self.key or shown == address or address == Address():
            return gr.skip()
        linked = shown is None or shown.opened != address.opened
        before = {"": START, NOTHING: ""}.get(address.change, address.change) if linked else changed.change
        plain = self.desk.engine.capture(address.picture)
        data, run, text = self._changed(address, before, language)
        if run is None:  # another model may have no such head
            data, run, text = self._changed(address, START, language)
        block = min(int(address.both_block or plain.depth - 1), plain.depth - 1)
        return {
            self.picker: data,
            self.block: block,
            **self._looked_at(plain, run, block, address, language),
            self.changed: replace(address, change=text),
            self.shown: address,
        }

    def choose(self, event: gr.EventData, changed: Address, block: int, language: Language) -> Updates:
        """Other changes; those that are not possible are answered with a sentence, and nothing else moves."""
        text = event._data.get("text")
        if text is None or changed == Address():
            return gr.skip()
        data, run, text = self._changed(changed, text, language)
        data.asked = event._data.get("asked", 0)
        if run is None:
            return {self.picker: data}
        canvases = self._canvases(self.desk.engine.capture(changed.picture), run, block, language)
        return {self.picker: data, **canvases, self.changed: replace(changed, change=text)}

    def show_block(self, event: gr.EventData, changed: Address, language: Language) -> Updates:
        """Another block of both runs; head and query stay what the visitor chose in the browser."""
        plain, block = self.desk.engine.capture(changed.picture), event._data.get("to")
        if not is_block(block, plain):
            return gr.skip()
        run = self.desk.engine.changed(changed.picture, changed.change)
        return {self.block: block, **self._canvases(plain, run, block, language)}

    def _changed(self, address: Address, text: str, language: Language) -> tuple[ChangesData, Capture | None, str]:
        """The picker, the changed run or None where it is not possible, and its changes in full."""
        from vitexplorer.interventions import settled, write_changes

        plain = self.desk.engine.capture(address.picture)
        try:
            chosen = settled(plain, text)
            run = self.desk.engine.changed(address.picture, write_changes(chosen))
        except ExplainedError as error:
            data = changes_data(plain, _possible(plain, text), language)
            data.refused = error.text.in_(language)
            return data, None, text
        data = changes_data(plain, chosen, language)
        data.reading = answer(plain, run, language) if chosen else ""
        data.next, data.next_room = lead_to("finetune", language), "finetune"
        return data, run, write_changes(chosen)

    def _looked_at(self, plain: Capture, run: Capture, block: int, address: Address, language: Language) -> Updates:
        """Both runs as the address has them, as far as this model can."""
        canvases = self._canvases(plain, run, block, language, default_query(plain, block))
        for data in canvases.values():
            query = query_of(address.both_query, data)
            data.query = data.query if query is None else query_text(query)
            data.head = head_of(address.both_head, data.heads)
        return canvases

    def _canvases(
        self, plain: Capture, run: Capture, block: int, language: Language, query: Query | None = None
    ) -> Updates:
        """Both runs' attention of a block, under one mouse; without a query, from the one that is on the screen."""
        before, after = (block_data(capture, block, language) for capture in (plain, run))
        for data, name in ((before, "plain"), (after, "changed")):
            data.link, data.run, data.walks = self.key, word(f"changes_{name}", language), plain.depth > 1
            data.query = None if query is None else query_text(query)
        if run.change:
            said = "；" if language == "zh" else "; "
            after.weights += f" · {said.join(text.in_(language) for text in run.change.texts)}"
            after.warning = " · ".join(filter(None, [word("changed_on_picture", language), after.warning]))
        return {self.plain_canvas: before, self.changed_canvas: after}


def _possible(plain: Capture, text: str) -> dict[str, dict[str, Any]]:
    """Those of some changes that are possible one by one, so that the switches stay as they were put."""
    from vitexplorer.interventions import read_changes, settled

    chosen: dict[str, dict[str, Any]] = {}
    try:
        for name, given in read_changes(text).items():
            chosen |= settled(plain, {name: given})
    except ExplainedError:
        return chosen
    return chosen


def answer(plain: Capture, run: Capture, language: Language) -> str:
    """What became of the answer, and what follows from that; without classes, of the token that would be read."""
    from vitexplorer.quantities.read_out import top_classes
    from vitexplorer.quantities.two_runs import token_cosines

    if plain.logits is None:
        cosine = float(token_cosines(plain, run, "cls" if "cls" in plain.prefix_tokens else "mean")[-1])
        so = next(name for least, name in ((ALIKE, "alike"), (MOVED, "moved"), (-1, "other")) if cosine >= least)
        return word("changes_no_answer", language, cosine=f"{cosine:.2f}", so=word(f"changes_{so}", language))
    if plain.model.num_classes == 1:
        values = {name: f"{float(capture.logits[0]):.3g}" for name, capture in (("before", plain), ("after", run))}
        return word("changes_number", language, **values)
    best, now = (top_classes(capture.logits, plain.model.class_texts, 1)[0] for capture in (plain, run))
    names = [one.name.in_(language) or str(one.index) for one in (best, now)]
    shares = [percent(one.probability) for one in (best, now)]
    if best.index != now.index:
        said = [Text("{name} ({share})", "{name}（{share}）").format(name=name, share=share) for name, share in
                zip(names, shares, strict=True)]  # fmt: skip
        return word("changes_new_answer", language, before=said[0], after=said[1])
    kind = "unsure" if best.probability - now.probability > UNSURE else "same"
    return word(f"changes_{kind}_answer", language, name=names[0], before=shares[0], after=shares[1])
