"""The Compare room: two runs side by side that may differ in model, weights, image, size and changes.

The left side is the choice of the page's header; the right side has chips of its own. Both are in the address.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Hashable, Mapping
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import gradio as gr

from vitexplorer.core.settings import settings
from vitexplorer.core.text import ExplainedError, Text
from vitexplorer.core.types import Result
from vitexplorer.service.answer_threads import in_thread
from vitexplorer.service.jobs import Done, StoppedError, Waiting, following
from vitexplorer.service.user_storage import MODEL
from vitexplorer.ui.canvas.two_sided import Blocks, TwoSided
from vitexplorer.ui.gradio_adapter.events import fields_of, sent
from vitexplorer.ui.gradio_adapter.page_blocks import session_of
from vitexplorer.ui.gradio_adapter.types import Block
from vitexplorer.ui.panel.figure_panel import Nearest, ViewSource, of_model
from vitexplorer.ui.panel.room_figures import RoomFigures
from vitexplorer.ui.rooms.compare.passes import Passes
from vitexplorer.ui.rooms.compare.sides import (
    DEIT,
    DINO,
    VIT,
    Pair,
    Sides,
    SidesData,
    chosen,
    right_as_left,
    sides_data,
)
from vitexplorer.ui.rooms.room import Room
from vitexplorer.ui.shell.address import COMPARED, OWN, Address
from vitexplorer.ui.shell.chips.image_chip import ImageChip, image_chip
from vitexplorer.ui.shell.chips.model_chip import ModelChip, model_chip, tuned_choices
from vitexplorer.ui.shell.chips.size_chip import SizeChip, priced_sizes, size_chip
from vitexplorer.ui.shell.exploring import step_line
from vitexplorer.ui.shell.room_context import LATEST, QUICK, WAITING, Listen, Updates, UpdateStream
from vitexplorer.ui.shell.room_sign import WHY

if TYPE_CHECKING:
    from vitexplorer.capturing.capture import Capture
    from vitexplorer.comparisons.record import Comparison


BESIDE = "beside"
"""Kind of job of a visitor who chooses another right side; a newer one ends it"""


class PairFigures(RoomFigures):
    """Panel of comparisons of the two sides; controls offer the blocks, heads and classes of the left side."""

    def records(self) -> Mapping[str, Comparison]:
        """Return the registry of comparisons."""
        from vitexplorer.comparisons import COMPARISONS

        return COMPARISONS

    async def source(self, address: Address) -> ViewSource:
        """Return the comparisons as a source, with refusals for the two sides of the address."""
        from vitexplorer.comparisons import COMPARISONS, reading, refusal

        left, right = await self.capture(address), await self._right(address)
        return ViewSource(
            left,
            COMPARISONS,
            lambda key: refusal(key, left, right),
            reading,
            lambda key: nearest_pair(key, left, right),
        )

    def run(self, address: Address) -> Hashable:
        """Return the engine's key of both runs: both pictures, with the changes on each side."""
        return address.picture, address.left_change, address.other, address.other_change

    async def capture(self, address: Address) -> Capture:
        """Return the capture of the left side."""
        return await self.context.engine.changed(address.picture, address.left_change)

    async def compute(self, address: Address, capture: Capture, view: str, given: Mapping[str, Any]) -> Result:
        """Compute one comparison, or return it from memory."""
        return await self.context.engine.compare(self.run(address), capture, await self._right(address), view, given)

    def python(self, address: Address, view: str, settings: Mapping[str, Any]) -> str:
        """Return Python code that makes both captures and compares them."""
        return self.context.lines_of_two(address, right_as_left(address), view, settings)

    async def _right(self, address: Address) -> Capture:
        return await self.context.engine.changed(address.other, address.other_change)


def nearest_pair(key: str, left: Capture, right: Capture) -> Nearest | None:
    """Return a model for the one side that a comparison refuses even beside itself; None where neither or both do."""
    from vitexplorer.comparisons import refusal

    refused = [side for side in (left, right) if refusal(key, side, side)]
    if len(refused) != 1:
        return None
    former, other = (left, right) if refused == [left] else (right, left)
    model = DEIT if other.model.name == VIT else VIT
    of_right = {"other_model": model, "other_weights": "trained", "other_size": OWN}
    return Nearest(model, former.model.name, of_model(model) if former is left else of_right)


class CompareRoom(Room):
    """Two models, images, sizes or runs side by side."""

    key = "compare"
    title = Text("Compare", "对比")
    invitation = Text("Put another model beside it", "与另一个模型并排")
    icon = "M3 4h7.500v16H3z M13.500 4H21v16h-7.500z M5.500 9h2.500 M16 9h2.500 M5.500 13h2.500"
    group = WHY

    def build(self) -> list[Block]:
        """Build the texts of both sides, the chips of the right side, the comparisons, and two canvases."""
        self.beside = gr.State(Address())  # the address with the current right side
        self.filled = gr.State(None)  # the page's address for which the room was filled
        self.blocks = gr.State((0, 0))
        self.stage = TwoSided(self.key, ("vx-left-canvas", "vx-right-canvas"))
        self.passes = Passes()
        with gr.Column(elem_classes=["vx-compare", "vx-frame"]), gr.Column(elem_classes=["layout"]):
            self.sides = Sides(elem_id="vx-sides")
            with gr.Column(elem_classes=["vx-other"]):
                self.image = ImageChip(elem_id="vx-other-image")
                self.model = ModelChip(elem_id="vx-other-model")
                self.size = SizeChip(elem_id="vx-other-size")
            self.panel = PairFigures(replace(self.context, address=self.beside), self.key)
            self.panel.build()
            self.stage.build(self.move, [self.beside, self.blocks], [self.sides, self.blocks])
            self.passes.build()
        pictures = self.passes.pictures
        asked = [sent(self.sides, "passes"), *(sent(picture, "follow") for picture in pictures)]
        gr.on(asked, self.follow, self.beside, pictures, trigger_mode="multiple", **QUICK)
        choices = [sent(part, "choose") for part in (self.image, self.model, self.size, self.sides)]
        chosen = gr.on(
            choices,
            self.choose,
            [self.beside, self.blocks, self.context.visitor],
            [*self._outputs, self.beside],
            trigger_mode="multiple",
            **WAITING,
        )
        self.size.cost(self.cost, self.beside, self.size, **LATEST)
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
        self, active: str, address: Address, beside: Address, filled: Address | None, visitor: str, request: gr.Request
    ) -> UpdateStream:
        """Show the right side of an opened link, or the previous one, or a model worth comparing with the left."""
        if active != self.key or filled == address or address == Address():
            yield {self.sides: gr.skip()}  # gradio would write empty values if nothing were yielded
            return
        is_new_link = filled is None or filled.opened != address.opened
        requested = address if is_new_link else replace(address, **{name: getattr(beside, name) for name in COMPARED})
        async for step in self._steps(requested, request):
            if isinstance(step, Pair):
                yield await self._opened(step, visitor) | {self.filled: address}
            else:
                yield {self.sides: step}

    async def choose(
        self, event: gr.EventData, beside: Address, blocks: Blocks, visitor: str, request: gr.Request
    ) -> UpdateStream:
        """Show another right side; for an impossible one a sentence appears and nothing else changes."""
        requested = chosen(fields_of(event), beside)
        if requested is None:
            yield {self.sides: gr.skip()}
            return
        async for step in self._steps(requested, request, instead=beside):
            if not isinstance(step, Pair):
                yield {self.sides: step}
            elif step.refused:
                yield {self.sides: sides_data(step, blocks)}
            else:
                yield await self._opened(step, visitor)

    async def move(self, event: gr.EventData, beside: Address, blocks: Blocks) -> Updates:
        """Show another block on one side, and the matching block on the other."""
        if beside == Address():
            return gr.skip()
        pair = await self.pair(beside)
        moved = await in_thread(self.stage.move, event, pair.sides(), blocks)
        if moved is None:
            return gr.skip()
        blocks, canvases = moved
        return {**canvases, self.blocks: blocks, self.sides: sides_data(pair, blocks)}

    async def follow(self, event: gr.EventData, beside: Address) -> Updates:
        """Show the whole network of both sides, or follow another token on one of them."""
        if beside == Address():
            return gr.skip()
        pair = await self.pair(beside)
        if event.target not in self.passes.pictures:
            return await in_thread(self.passes.open, pair)
        return await self._followed(pair, self.passes.pictures.index(event.target), fields_of(event))

    async def _followed(self, pair: Pair, index: int, sent: Mapping[str, Any]) -> Updates:
        """Return one side's picture of another token; with `whole`, with what its blocks add to the logit."""
        from vitexplorer.views import VIEWS

        capture = pair.of(index)
        try:
            settings = VIEWS["network"].settings(capture, {"query": sent.get("query") or "mean"})
        except ExplainedError:  # of the pair that was there before
            return gr.skip()
        result = None
        if sent.get("whole"):
            result = await self.context.engine.compute(pair.runs[index], capture, "network", settings)
        data = await in_thread(self.passes.data, pair, index, settings["query"], result)
        return {self.passes.pictures[index]: data}

    async def cost(self, event: gr.EventData, beside: Address) -> Updates:
        """Fill the sheet of input sizes of the right side, as in the page's header."""
        size = fields_of(event).get("size")
        if size is None or beside == Address():
            return gr.skip()
        return {self.size: await priced_sizes(self.context.engine, right_as_left(beside), size)}

    # -------------------------------------------------------------------------------------- data

    async def pair(self, address: Address) -> Pair:
        """Return the captures of both sides of an address; raises what `Engine.changed` raises."""
        engine = self.context.engine
        return Pair(
            address,
            await engine.changed(address.picture, address.left_change),
            await engine.changed(address.other, address.other_change),
        )

    async def _opened(self, pair: Pair, visitor: str) -> Updates:
        """Show both sides as their address names them."""
        blocks, canvases = await in_thread(self.stage.open, pair.sides(), pair.address)
        return {
            **self._chips(pair, visitor),
            **canvases,
            self.sides: sides_data(pair, blocks),
            self.blocks: blocks,
            self.beside: pair.address,
        }

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
                        yield SidesData(working=step_line(step, requested.language))
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
        image = image_chip(right)
        image.takes_drops = False
        tuned = tuned_choices(engine, settings(), visitor)
        model = model_chip(right, settings(), tuned, engine.loaded(right.picture))
        model.takes_drops = False
        return {self.image: image, self.model: model, self.size: size_chip(pair.right, right)}
