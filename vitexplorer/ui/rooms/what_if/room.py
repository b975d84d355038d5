"""The What if room: a changed run of the network beside the plain run of the same image and model.

At the top is the answer before and after the change. Below it stand the attention of both runs on linked canvases with
the switches, then the figures: comparisons with the plain run, and other views of the changed run.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import gradio as gr
from gradio.components import Component

from vitexplorer.core.format import measured
from vitexplorer.core.text import ExplainedError, Language, Text
from vitexplorer.core.types import Output, Result
from vitexplorer.service.answer_threads import in_thread
from vitexplorer.ui.canvas.two_sided import Side, TwoSided
from vitexplorer.ui.gradio_adapter.events import fields_of
from vitexplorer.ui.panel.figure_panel import ViewSource, capture_views
from vitexplorer.ui.panel.room_figures import RoomFigures
from vitexplorer.ui.rooms.room import Room
from vitexplorer.ui.rooms.what_if.changes import STRIKING, ChangesData, ChangesPicker, changes_data
from vitexplorer.ui.rooms.what_if.words import WHAT_IF_WORDS
from vitexplorer.ui.shell.address import FIRST_CHANGE, Address
from vitexplorer.ui.shell.room_context import LATEST, QUICK, Listen, Updates
from vitexplorer.ui.shell.room_sign import CHANGE, next_button

if TYPE_CHECKING:
    from vitexplorer.capturing.capture import Capture
    from vitexplorer.comparisons.record import Comparison
    from vitexplorer.views.record import View

OF_CHANGED = ("attention_rollout", "head_atlas", "pooling", "logit_lens", "token_pca", "generic_relevance")
"""Views of other rooms that this room offers for the changed run"""
OF_BOTH = ("network",)
"""Comparisons that this room offers, of the plain run on the left and the changed run on the right"""
UNSURE = 0.1
"""Loss of probability above which an unchanged answer is called less sure"""
ALIKE, MOVED = 0.95, 0.5
"""Least cosines of the output token before and after that count as almost the same, and as partly the same"""
NOTHING = "nothing"
"""Text in an address after a person chose to change nothing"""


class ChangedFigures(RoomFigures):
    """Panel of the changed run, which the address names: the room's own views, some of other rooms, comparisons."""

    def views(self) -> tuple[str, ...]:
        """Return the keys of the views, the room's own first."""
        return (*super().views(), *OF_BOTH, *OF_CHANGED)

    def records(self) -> Mapping[str, View | Comparison]:
        """Return the views, and in their place the comparisons of the same name that the room offers."""
        from vitexplorer.comparisons import COMPARISONS

        return ChainMap({key: COMPARISONS[key] for key in OF_BOTH}, super().records())

    async def source(self, address: Address) -> ViewSource:
        """Return the views of the changed run, and its comparisons with the plain one."""
        from vitexplorer.comparisons import reading, refusal

        plain, changed_run = await self.context.engine.capture(address.picture), await self.capture(address)
        views = capture_views(changed_run)
        return replace(
            views,
            records=self.records(),
            refusal=lambda key: refusal(key, plain, changed_run) if key in OF_BOTH else views.refusal(key),
            reading=lambda result, language: (reading if result.view in OF_BOTH else views.reading)(result, language),
        )

    async def compute(self, address: Address, capture: Capture, view: str, given: Mapping[str, Any]) -> Result:
        """Compute a view of the changed run, or its comparison with the plain one; or return it from memory."""
        if view not in OF_BOTH:
            return await super().compute(address, capture, view, given)
        plain = await self.context.engine.capture(address.picture)
        return await self.context.engine.compare(self.run(address), plain, capture, view, given)

    async def capture(self, address: Address) -> Capture:
        """Return the changed run."""
        return await self.context.engine.changed(address.picture, address.change)

    def run(self, address: Address) -> Hashable:
        """Return the engine's key of the run: the picture with its changes."""
        return address.picture, address.change

    def python(self, address: Address, view: str, settings: Mapping[str, Any]) -> str:
        """Return Python code that makes the same figure, with the change."""
        if view in OF_BOTH:
            both = replace(address, left_change="", other_change=address.change)
            return self.context.lines_of_two(both, both, view, settings)
        return self.context.python_lines(address, view, changed=bool(address.change), **settings)


class WhatIfRoom(Room):
    """The same image with positions off, patches shuffled, heads removed and more."""

    key = "what_if"
    title = Text("What if", "假如改变")
    invitation = Text("Change something and run it again", "改一改，再运行一次")
    icon = "M8.5 8.5a3.5 3.5 0 1 1 5 3.200c-1 .6-1.5 1.200-1.5 2.800 M12 19v.2"
    group = CHANGE

    def build(self) -> list[Component]:
        """Build the switches, two canvases and the figures."""
        self.changed = gr.State(Address())  # the address with the current changes
        self.filled = gr.State(None)  # the page's address for which the room was filled
        self.block = gr.State(0)  # the block on both canvases
        with gr.Column(elem_classes=["vx-what-if", "vx-frame"]), gr.Column(elem_classes=["layout"]):
            self.picker = ChangesPicker(elem_id="vx-changes")
            self.stage = TwoSided(self.key, ("vx-plain-canvas", "vx-changed-canvas"))
            self.stage.build(self.show_block, [self.changed], [self.block])
        self.panel = ChangedFigures(replace(self.context, address=self.changed), self.key)
        self.panel.build()
        outputs = [self.picker, *self.stage.canvases, self.changed]
        chosen = self.picker.choose(self.choose, [self.changed, self.block], outputs, **LATEST)
        self.panel.enter_on(chosen.then, gr.State(self.key))
        return []

    def enter_on(self, listen: Listen, active: gr.State) -> None:
        """Fill the room when it is entered, and when the image or model changes."""
        entered = listen(
            self.enter,
            [active, self.context.address, self.changed, self.filled],
            [self.picker, self.block, *self.stage.canvases, self.changed, self.filled],
            **QUICK,
        )
        self.panel.enter_on(entered.then, active)

    async def enter(self, active: str, address: Address, changed: Address, filled: Address | None) -> Updates:
        """Show the changes of an opened link, or the previous ones, or a striking one."""
        if active != self.key or filled == address or address == Address():
            return gr.skip()
        is_new_link = filled is None or filled.opened != address.opened
        if is_new_link:
            requested = {"": STRIKING, NOTHING: ""}.get(address.change, address.change)
        else:
            requested = changed.change
        plain = await self.context.engine.capture(address.picture)
        data, changed_run, text = await self._changed(address, requested)
        if changed_run is None:  # this model may have no such head, or attention that cannot change
            data, changed_run, text = await self._changed(address, FIRST_CHANGE)
        (block, _), canvases = await in_thread(self.stage.open, _sides(plain, changed_run, address), address)
        return {
            self.picker: data,
            self.block: block,
            **canvases,
            self.changed: replace(address, change=text),
            self.filled: address,
        }

    async def choose(self, event: gr.EventData, changed: Address, block: int) -> Updates:
        """Show other changes; for impossible ones a sentence appears and nothing else changes."""
        text = fields_of(event).get("text")
        if text is None or changed == Address():
            return gr.skip()
        data, changed_run, text = await self._changed(changed, text)
        data.asked = fields_of(event).get("asked", 0)
        if changed_run is None:
            return {self.picker: data}
        sides = _sides(await self.context.engine.capture(changed.picture), changed_run, changed)
        canvases = await in_thread(self.stage.show, sides, (block, block))
        return {self.picker: data, **canvases, self.changed: replace(changed, change=text)}

    async def show_block(self, event: gr.EventData, changed: Address) -> Updates:
        """Show another block of both runs; head and query stay what the visitor chose in the browser."""
        plain = await self.context.engine.capture(changed.picture)
        block = fields_of(event).get("block", 0)
        changed_run = await self.context.engine.changed(changed.picture, changed.change)
        moved = await in_thread(self.stage.move, event, _sides(plain, changed_run, changed), (block, block))
        if moved is None:
            return gr.skip()
        (block, _), canvases = moved
        return {self.block: block, **canvases}

    async def _changed(self, address: Address, text: str) -> tuple[ChangesData, Capture | None, str]:
        """Return the picker's data, the changed run or None where it is impossible, and its changes in full."""
        from vitexplorer.interventions import settled, write_changes

        language = address.language
        plain = await self.context.engine.capture(address.picture)
        try:
            chosen = await in_thread(settled, plain, text)
            changed_run = await self.context.engine.changed(address.picture, write_changes(chosen))
        except ExplainedError as error:
            data = await in_thread(lambda: changes_data(plain, _possible(plain, text), language))
            data.refused = error.text.in_(language)
            return data, None, text
        data = await in_thread(changes_data, plain, chosen, language)
        data.reading = await in_thread(answer, plain, changed_run, language, address.texts) if chosen else ""
        button = next_button(self.context.rooms, self.key, language)
        return data.model_copy(update=button), changed_run, write_changes(chosen)


def _sides(plain: Capture, changed_run: Capture, address: Address) -> tuple[Side, Side]:
    language = address.language
    plain_title, changed_title = (WHAT_IF_WORDS[key].in_(language) for key in ("plain", "changed"))
    return Side(plain, plain_title, language), Side(changed_run, changed_title, language)


def _possible(plain: Capture, text: str) -> dict[str, dict[str, Any]]:
    """Return the changes up to the first impossible one, so that the switches stay as the visitor set them."""
    from vitexplorer.interventions import read_changes, settled

    chosen: dict[str, dict[str, Any]] = {}
    try:
        for name, given in read_changes(text).items():
            chosen |= settled(plain, {name: given})
    except ExplainedError:
        return chosen
    return chosen


def answer(plain: Capture, changed_run: Capture, language: Language, texts: str = "") -> str:
    """Compare the answer before and after the change in a sentence; without classes, the output token.

    Of a model that reads texts compare the cosines of `texts`, apart by semicolons.
    """
    from vitexplorer.quantities.read_out import top_classes
    from vitexplorer.quantities.two_runs import token_cosines

    if plain.model.text is not None:
        return _best_texts(plain, changed_run, texts).in_(language)
    if plain.logits is None:
        cosine = float(token_cosines(plain, changed_run, "cls" if "cls" in plain.prefix_tokens else "mean")[-1])
        kind = next(name for least, name in ((ALIKE, "alike"), (MOVED, "moved"), (-1, "other")) if cosine >= least)
        return WHAT_IF_WORDS["no_answer"].format(cosine=f"{cosine:.2f}", so=WHAT_IF_WORDS[kind]).in_(language)
    before, after = (top_classes(capture.logits, plain.model.class_texts, 1)[0] for capture in (plain, changed_run))
    if isinstance(before, Output):
        return WHAT_IF_WORDS["number"].format(before=before.display_value, after=after.display_value).in_(language)
    names = [best.name.in_(language) or str(best.index) for best in (before, after)]
    shares = [before.display_value, after.display_value]
    if before.index != after.index:
        answers = [
            Text("{name} ({share})", "{name}（{share}）").format(name=name, share=share)
            for name, share in zip(names, shares, strict=True)
        ]
        return WHAT_IF_WORDS["new_answer"].format(before=answers[0], after=answers[1]).in_(language)
    kind = "unsure" if before.probability - after.probability > UNSURE else "same"
    return WHAT_IF_WORDS[f"{kind}_answer"].format(name=names[0], before=shares[0], after=shares[1]).in_(language)


def _best_texts(plain: Capture, changed_run: Capture, texts: str) -> Text:
    """Name the text that fits each run best; texts that the model refuses give way to the view's own."""
    from vitexplorer.views import VIEWS, compute

    record = VIEWS["text_scores"]
    try:
        settings = record.settings(plain, {"texts": texts} if texts else {})
    except ExplainedError:
        settings = record.settings(plain, {})
    runs = [compute("text_scores", run, **settings) for run in (plain, changed_run)]
    before, after = (int(run.values.argmax()) for run in runs)
    cosines = [measured(run.values[best]) for run, best in zip(runs, (before, after), strict=True)]
    names = runs[0].texts
    if before == after:
        return WHAT_IF_WORDS["same_text"].format(text=names[before], before=cosines[0], after=cosines[1])
    return WHAT_IF_WORDS["new_text"].format(
        before=names[before], before_cosine=cosines[0], after=names[after], after_cosine=cosines[1]
    )
