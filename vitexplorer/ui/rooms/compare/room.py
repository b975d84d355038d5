"""The Compare room: two runs side by side that may differ in model, weights, image, size and changes.

The left side is the choice of the page's header; the right side has chips of its own. Both are in the address.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import gradio as gr

from vitexplorer.core.settings import settings
from vitexplorer.core.text import ExplainedError, Text
from vitexplorer.service.answer_threads import in_thread
from vitexplorer.service.jobs import Done, StoppedError, Waiting, following
from vitexplorer.service.user_storage import MODEL
from vitexplorer.ui.canvas.two_sided import Blocks, TwoSided
from vitexplorer.ui.gradio_adapter.events import fields_of, sent
from vitexplorer.ui.gradio_adapter.page_blocks import session_of
from vitexplorer.ui.gradio_adapter.types import Block
from vitexplorer.ui.kit.language import word
from vitexplorer.ui.rooms.compare.pair_figures import PairFigures
from vitexplorer.ui.rooms.compare.pairs import (
    DINO,
    VIT,
    Pair,
    answer_of,
    chosen,
    matching,
    pixels_of,
    presets,
    progress_line,
    right_as_left,
    swapped,
    title_of,
)
from vitexplorer.ui.rooms.compare.sides import Sides, SidesData
from vitexplorer.ui.rooms.compare.words import COMPARE_WORDS
from vitexplorer.ui.rooms.room import Room
from vitexplorer.ui.shell.address import COMPARED, FIRST_CHANGE, OWN, Address
from vitexplorer.ui.shell.image_chip import ImageChip, ImageChipData, image_chip
from vitexplorer.ui.shell.model_chip import ModelChip, model_chip, tuned_choices
from vitexplorer.ui.shell.room_context import QUICK, WAITING, Listen, Updates
from vitexplorer.ui.shell.size_chip import SizeChip, SizeChipData, cost_of, size_chip, with_sizes

BESIDE = "beside"
"""Kind of job of a visitor who chooses another right side; a newer one ends it"""
_WORDS = ("swap", "left_changed", "right_changed", "presets")


class CompareRoom(Room):
    """Two models, images, sizes or runs side by side."""

    key = "compare"
    title = Text("Compare", "对比")
    invitation = Text("Put another model beside it", "与另一个模型并排")
    icon = "M3 4h7.500v16H3z M13.500 4H21v16h-7.500z M5.500 9h2.500 M16 9h2.500 M5.500 13h2.500"

    def build(self) -> list[Block]:
        """Build the texts of both sides, the chips of the right side, and two canvases."""
        self.beside = gr.State(Address())  # the address with the current right side
        self.filled = gr.State(None)  # the page's address for which the room was filled
        self.blocks = gr.State((0, 0))
        self.stage = TwoSided(self.key, ("vx-left-canvas", "vx-right-canvas"))
        with gr.Column(elem_classes=["vx-compare", "vx-frame"]), gr.Column(elem_classes=["layout"]):
            self.sides = Sides(elem_id="vx-sides")
            with gr.Row(elem_classes=["vx-other"]):
                self.image = ImageChip(elem_id="vx-other-image")
                self.model = ModelChip(elem_id="vx-other-model")
                self.size = SizeChip(elem_id="vx-other-size")
            self.stage.build(self.move, [self.beside, self.blocks], [self.sides, self.blocks])
        choices = [sent(part, "choose") for part in (self.image, self.model, self.size, self.sides)]
        chosen = gr.on(
            choices,
            self.choose,
            [self.beside, self.blocks, self.context.visitor],
            [*self._outputs, self.beside],
            trigger_mode="multiple",
            **WAITING,
        )
        self.size.cost(self.cost, self.beside, self.size, trigger_mode="always_last", **QUICK)
        self.panel = PairFigures(replace(self.context, address=self.beside))
        self.panel.build()
        self.panel.enter_on(chosen.then, gr.State(self.key))
        return []

    @property
    def _outputs(self) -> list[Block]:
        return [self.sides, self.image, self.model, self.size, self.blocks, *self.stage.canvases]

    def enter_on(self, listen: Listen, active: gr.State) -> None:
        """Fill the room when it is entered, and when the left side changes."""
        entered = listen(
            self.enter,
            [active, self.context.address, self.beside, self.filled, self.context.visitor],
            [*self._outputs, self.beside, self.filled],
            **WAITING,
        )
        self.panel.enter_on(entered.then, active)

    # -------------------------------------------------------------------------------------- events

    async def enter(
        self,
        active: str,
        address: Address,
        beside: Address,
        filled: Address | None,
        visitor: str,
        request: gr.Request,
    ) -> AsyncGenerator[Updates, None]:
        """Show the right side of an opened link, or the previous one, or a model worth comparing with the left."""
        if active != self.key or filled == address or address == Address():
            yield self._nothing
            return
        is_new_link = filled is None or filled.opened != address.opened
        requested = address if is_new_link else replace(address, **{name: getattr(beside, name) for name in COMPARED})
        async for step in self._steps(requested, request):
            if isinstance(step, Pair):
                blocks, canvases = await self._opened(step)
                yield {
                    **self._chips(step, visitor),
                    **canvases,
                    self.sides: self._data(step, blocks),
                    self.blocks: blocks,
                    self.beside: step.address,
                    self.filled: address,
                }
            else:
                yield {self.sides: step}

    @property
    def _nothing(self) -> Updates:
        """Answer of a generator that changes nothing: gradio would write empty values if nothing were yielded."""
        return {self.sides: gr.skip()}

    async def choose(
        self,
        event: gr.EventData,
        beside: Address,
        blocks: Blocks,
        visitor: str,
        request: gr.Request,
    ) -> AsyncGenerator[Updates, None]:
        """Show another right side; for an impossible one a sentence appears and nothing else changes."""
        requested = chosen(fields_of(event), beside)
        if requested is None:
            yield self._nothing
            return
        async for step in self._steps(requested, request, instead=beside):
            if not isinstance(step, Pair):
                yield {self.sides: step}
                continue
            if step.refused:
                yield {self.sides: self._data(step, blocks)}
                return
            blocks, canvases = await self._opened(step)
            yield {
                **self._chips(step, visitor),
                **canvases,
                self.sides: self._data(step, blocks),
                self.blocks: blocks,
                self.beside: step.address,
            }

    async def move(self, event: gr.EventData, beside: Address, blocks: Blocks) -> Updates:
        """Show another block on one side, and the matching block on the other."""
        if beside == Address():
            return gr.skip()
        pair = await self.pair(beside)
        moved = await in_thread(self.stage.move, event, pair.sides(), blocks)
        if moved is None:
            return gr.skip()
        blocks, canvases = moved
        return {**canvases, self.blocks: blocks, self.sides: self._data(pair, blocks)}

    async def cost(self, event: gr.EventData, beside: Address) -> Updates:
        """Fill the sheet of input sizes of the right side, as in the page's header."""
        size = fields_of(event).get("size")
        if size is None or beside == Address():
            return gr.skip()
        engine = self.context.engine
        right = right_as_left(beside)
        chip = size_chip(await engine.capture(right.picture), right)
        chip = await with_sizes(chip, engine, right)
        if size:
            chip.says = await cost_of(engine, right, size)
        return {self.size: chip}

    # -------------------------------------------------------------------------------------- data

    async def pair(self, address: Address) -> Pair:
        """Return the captures of both sides of an address; raises what `Engine.changed` raises."""
        engine = self.context.engine
        return Pair(
            address,
            await engine.changed(address.picture, address.left_change),
            await engine.changed(address.other, address.other_change),
        )

    async def _opened(self, pair: Pair) -> tuple[Blocks, Updates]:
        return await in_thread(self.stage.open, pair.sides(), pair.address)

    async def _steps(
        self, requested: Address, request: gr.Request, instead: Address | None = None
    ) -> AsyncGenerator[Any, None]:
        """Yield the progress of the right side, then both sides.

        An impossible right side is replaced by `instead`, or by a model worth comparing with the left.
        """
        waiter = Waiting(session_of(request), BESIDE)
        self.context.engine.leave(waiter.visitor, BESIDE)

        try:
            async with aclosing(following(waiter, self._possible(requested, instead))) as steps:
                async for step in steps:
                    if isinstance(step, Done):
                        yield step.result
                    else:
                        yield SidesData(working=progress_line(step, requested.language))
        except StoppedError:  # another side was chosen; gradio would repeat the last answer, which is outdated
            yield gr.skip()
        except ExplainedError as error:
            yield SidesData(refused=error.text.in_(requested.language))

    async def _possible(self, requested: Address, instead: Address | None) -> Pair:
        address = requested
        if not address.other_model:
            address = replace(address, **await in_thread(self._neighbour, address))
        try:
            return await self.pair(address)
        except ExplainedError as error:
            plain = replace(address, **dict.fromkeys(COMPARED, ""))
            other = instead or replace(plain, **await in_thread(self._neighbour, plain))
            return replace(await self.pair(other), refused=error.text.in_(requested.language))

    def _neighbour(self, address: Address) -> dict[str, str]:
        """Return a model worth comparing with the left: the base of a tuned model, otherwise another bundled one."""
        if address.model.startswith(MODEL):
            base = self.context.engine.base_of(address.picture)
            if base.model != address.model:
                return {"other_model": base.model, "other_weights": base.weights}
        return {"other_model": VIT if address.model == DINO else DINO, "other_weights": "trained", "other_size": OWN}

    def _chips(self, pair: Pair, visitor: str) -> Updates:
        """Fill the chips of the right side, as the page's header shows the left."""
        engine = self.context.engine
        right = right_as_left(pair.address)
        image: ImageChipData = image_chip(right)
        image.takes_drops = False
        size: SizeChipData = size_chip(pair.right, right)
        tuned = tuned_choices(engine, settings(), visitor)
        model = model_chip(right, settings(), tuned, engine.loaded(right.picture))
        model.takes_drops = False
        return {self.image: image, self.model: model, self.size: size}

    def _data(self, pair: Pair, blocks: Blocks) -> SidesData:
        address, language = pair.address, pair.address.language
        provenance = pair.left.provenance
        height, width = provenance.input_size
        answers = [answer_of(side, language) for side in (pair.left, pair.right)]
        return SidesData(
            question=word("compare_question", language),
            reading=COMPARE_WORDS["answers"].format(left=answers[0], right=answers[1]).in_(language),
            refused=pair.refused,
            title=title_of(provenance.model, language),
            note=f"{provenance.weights_text.in_(language)} · {pixels_of(height, width)}",
            presets=list(presets(pair)),
            swapped=swapped(address),
            address={name: getattr(address, name) for name in COMPARED},
            changes={"left_change": address.left_change, "change": address.other_change},
            first_change=FIRST_CHANGE,
            notes=list(matching(pair, blocks)),
            words={key: COMPARE_WORDS[key].in_(language) for key in _WORDS},
        )
