"""The Compare room: any two of model, weights, image, size, tuned or not, changed or not, under one mouse.

The left side is what the bar above shows; the right one has chips of its own. Both stand in the address.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import gradio as gr
from gradio.blocks import Block

from vitexplorer.models.catalog import find
from vitexplorer.numbers import percent
from vitexplorer.settings import settings
from vitexplorer.types import prefix_text
from vitexplorer.ui.address import OTHER, OWN, Address
from vitexplorer.ui.answers import answered, session_of
from vitexplorer.ui.changes.changes import START
from vitexplorer.ui.desk import QUICK, WAITING, Listen, Updates
from vitexplorer.ui.input_size import cost_of, size_chip, with_sizes
from vitexplorer.ui.jobs import Done, Step, StoppedError, Waiter
from vitexplorer.ui.language import word
from vitexplorer.ui.menu import model_chip, tuned_choices
from vitexplorer.ui.parts.image_chip import ImageChip, ImageChipData, image_chip
from vitexplorer.ui.parts.model_chip import ModelChip
from vitexplorer.ui.parts.size_chip import SizeChip, SizeChipData
from vitexplorer.ui.parts.widget import sent
from vitexplorer.ui.places import MODEL
from vitexplorer.ui.rooms.room import Room
from vitexplorer.ui.rooms.two_sided import Blocks, Side, TwoSided
from vitexplorer.ui.sides.sides import Preset, Sides, SidesData
from vitexplorer.ui.turns import NotYetError
from vitexplorer.words import ExplainedError, Language

if TYPE_CHECKING:
    from vitexplorer.capture import Capture

VIT, DINO, MAE, SWIN = (
    f"scenes_{name}" for name in ("vit_patch16_192", "dino_patch16_192", "mae_patch16_192", "swin_patch4_window6_192")
)
BESIDE = "beside"
"""what one waits for who puts another model on the right"""
_CHOICES = {"image", "model", "weights", "fit", "size", "change"}
_WORDS = ("compare_swap", "compare_no_swap", "compare_changed", "compare_presets")


@dataclass(frozen=True)
class Pair:
    """Both sides, and the address that they are of, in full."""

    address: Address
    left: Capture
    right: Capture
    refused: str = ""
    """why the right one is not what was asked for"""

    def sides(self, language: Language) -> tuple[Side, Side]:
        """For the stage."""
        left, right = (_named(capture, language) for capture in (self.left, self.right))
        return Side(self.left, left), Side(self.right, right)


class CompareRoom(Room):
    """How do the two differ?"""

    key = "compare"

    def build(self) -> list[Block]:
        """What is said of both, the chips of the right one, two canvases."""
        self.beside = gr.State(Address())  # the address with the right side that is shown
        self.shown = gr.State(None)  # what the room was filled for
        self.blocks = gr.State((0, 0))
        self.stage = TwoSided(self.key, ("vx-left-canvas", "vx-right-canvas"))
        with gr.Column(elem_classes=["vx-compare", "vx-frame"]), gr.Column(elem_classes=["layout"]):
            self.sides = Sides(elem_id="vx-sides")
            with gr.Row(elem_classes=["vx-other"]):
                self.image = ImageChip(elem_id="vx-other-image")
                self.model = ModelChip(elem_id="vx-other-model")
                self.size = SizeChip(elem_id="vx-other-size")
            state = [self.beside, self.blocks, self.desk.language]
            self.stage.build(self.move, state, [self.sides, self.blocks])
        choices = [sent(part, "choose") for part in (self.image, self.model, self.size, self.sides)]
        gr.on(
            choices,
            self.choose,
            [self.beside, self.blocks, self.desk.language, self.desk.visitor],
            [*self._filled, self.beside],
            trigger_mode="multiple",
            **WAITING,
        )
        self.size.cost(self.cost, [self.beside, self.desk.language], self.size, trigger_mode="always_last", **QUICK)
        return []

    @property
    def _filled(self) -> list[Block]:
        return [self.sides, self.image, self.model, self.size, self.blocks, *self.stage.canvases]

    def enter_on(self, listen: Listen, active: gr.State) -> None:
        """Fill the room when it is entered, and when the left side is another."""
        listen(
            self.enter,
            [active, self.desk.address, self.beside, self.shown, self.desk.language, self.desk.visitor],
            [*self._filled, self.beside, self.shown],
            **WAITING,
        )

    # -------------------------------------------------------------------------------------- events

    async def enter(
        self,
        active: str,
        address: Address,
        beside: Address,
        shown: Address | None,
        language: Language,
        visitor: str,
        request: gr.Request,
    ) -> AsyncGenerator[Updates, None]:
        """What was on the right before, or what the address has there, or a good neighbour of the left."""
        if active != self.key or shown == address or address == Address():
            yield self._nothing
            return
        linked = shown is None or shown.opened != address.opened
        wanted = address if linked else replace(address, **{name: getattr(beside, name) for name in OTHER})
        async for step in self._made(wanted, language, request):
            if isinstance(step, Pair):
                blocks, canvases = self.stage.open(step.sides(language), step.address, language)
                filled = self._chips(step, language, visitor) | canvases
                yield {
                    **filled,
                    self.sides: self._data(step, blocks, language),
                    self.blocks: blocks,
                    self.beside: step.address,
                    self.shown: address,
                }
            else:
                yield {self.sides: step}

    @property
    def _nothing(self) -> Updates:
        """What a generator says that has nothing to say; gradio takes none at all for empty values."""
        return {self.sides: gr.skip()}

    async def choose(
        self,
        event: gr.EventData,
        beside: Address,
        blocks: Blocks,
        language: Language,
        visitor: str,
        request: gr.Request,
    ) -> AsyncGenerator[Updates, None]:
        """Another right side; one that is not possible is answered with a sentence, and nothing else moves."""
        wanted = chosen(event._data, beside)
        if wanted is None:
            yield self._nothing
            return
        async for step in self._made(wanted, language, request, instead=beside):
            if not isinstance(step, Pair):
                yield {self.sides: step}
                continue
            if step.refused:
                yield {self.sides: self._data(step, blocks, language)}
                return
            blocks, canvases = self.stage.open(step.sides(language), step.address, language)
            yield {
                **self._chips(step, language, visitor),
                **canvases,
                self.sides: self._data(step, blocks, language),
                self.blocks: blocks,
                self.beside: step.address,
            }

    def move(self, event: gr.EventData, beside: Address, blocks: Blocks, language: Language) -> Updates:
        """Another block on one side, and the one beside it."""
        if beside == Address():
            return gr.skip()
        pair = self.pair(beside)
        moved = self.stage.move(event, pair.sides(language), blocks, language)
        if moved is None:
            return gr.skip()
        blocks, canvases = moved
        return {**canvases, self.blocks: blocks, self.sides: self._data(pair, blocks, language)}

    def cost(self, event: gr.EventData, beside: Address, language: Language) -> Updates:
        """The sheet of the sizes on the right, as that of the bar."""
        size = event._data.get("size")
        if size is None or beside == Address():
            return gr.skip()
        there, engine = on_the_left(beside), self.desk.engine
        chip = with_sizes(size_chip(engine.capture(there.picture), there, language), engine, there, language)
        if size:
            chip.says = cost_of(engine, there, size, language)
        return {self.size: chip}

    # -------------------------------------------------------------------------------------- what is shown

    def pair(self, address: Address) -> Pair:
        """Both sides of an address in full. Raises as `Engine.changed`."""
        engine = self.desk.engine
        return Pair(address, engine.capture(address.picture), engine.changed(address.other, address.other_change))

    async def _made(
        self, wanted: Address, language: Language, request: gr.Request, instead: Address | None = None
    ) -> AsyncGenerator[Any, None]:
        """How far the right side is, then both; in place of one that cannot be, what was there, or a neighbour."""
        waiter = Waiter(session_of(request), BESIDE)
        self.desk.engine.leave(waiter.visitor, BESIDE)

        def make() -> Pair:
            return self._possible(wanted, instead, language)

        try:
            async with aclosing(answered(waiter, make)) as steps:
                async for step in steps:
                    yield step.result if isinstance(step, Done) else SidesData(working=_line(step, language))
        except StoppedError:  # another one was chosen; gradio ends with what was said last, which is past
            yield gr.skip()
        except ExplainedError as error:
            yield SidesData(refused=error.text.in_(language))

    def _possible(self, wanted: Address, instead: Address | None, language: Language) -> Pair:
        address = wanted if wanted.other_model else replace(wanted, **self._neighbour(wanted))
        try:
            return self.pair(address)
        except NotYetError:
            raise
        except ExplainedError as error:
            plain = replace(address, **dict.fromkeys(OTHER, ""))
            other = instead or replace(plain, **self._neighbour(plain))
            return replace(self.pair(other), refused=error.text.in_(language))

    def _neighbour(self, address: Address) -> dict[str, str]:
        """What to put beside a model that is worth a look: of a tuned one its base, otherwise another bundled one."""
        if address.model.startswith(MODEL):
            base = self.desk.engine.base_of(address.picture)
            return {"other_model": base.model, "other_weights": base.weights}
        return {"other_model": VIT if address.model == DINO else DINO, "other_weights": "trained", "other_size": OWN}

    def _chips(self, pair: Pair, language: Language, visitor: str) -> Updates:
        """The right side, as the bar shows the left."""
        there, engine = on_the_left(pair.address), self.desk.engine
        image: ImageChipData = image_chip(there.image, language)
        image.takes_drops = False
        size: SizeChipData = size_chip(pair.right, there, language)
        tuned = tuned_choices(engine, settings(), visitor)
        return {self.image: image, self.model: model_chip(there, language, settings(), tuned), self.size: size}

    def _data(self, pair: Pair, blocks: Blocks, language: Language) -> SidesData:
        address, other = pair.address, on_the_left(pair.address)
        provenance = pair.left.provenance
        height, width = provenance.input_size
        return SidesData(
            question=word("compare_question", language),
            reading=word(
                "compare_answers", language, left=_answer(pair.left, language), right=_answer(pair.right, language)
            ),
            refused=pair.refused,
            title=_title(provenance.model, language),
            note=f"{provenance.weights_text.in_(language)} · {_pixels(height, width)}",
            presets=list(_presets(pair, language)),
            swapped=_named_fields(other, "") | _named_fields(address, "other_"),
            address={name: getattr(address, name) for name in OTHER},
            change=address.other_change,
            first_change=START,
            notes=list(_notes(pair, blocks, language)),
            words={key: word(key, language) for key in _WORDS},
        )


def chosen(data: Mapping[str, Any], beside: Address) -> Address | None:
    """The address with another right side, as a browser names it; None for what is no choice."""
    if len(data) != 1 or beside == Address():
        return None
    (name, value), *_ = data.items()
    if name not in _CHOICES or not isinstance(value, str):
        return None
    value = value or (OWN if name == "size" else "")
    anew = {"other_size": OWN, "other_change": ""} if name == "model" else {}
    field = f"other_{name}"
    read = Address.read({**beside.parameters(), field: value})
    return replace(beside, **{**anew, field: value}, other_block="") if getattr(read, field) == value else None


def on_the_left(address: Address) -> Address:
    """What is on the right, as it would be on the left."""
    other = address.other
    return replace(address, image=other.image, model=other.model, weights=other.weights, fit=other.fit, size=other.size)


def _named_fields(address: Address, prefix: str) -> dict[str, str]:
    """Image, model, weights, fit and size of the left side, as parameters of one side, all of them named."""
    size = address.picture.size or (OWN if prefix else "")
    fields = {name: getattr(address, name) for name in ("image", "model", "weights", "fit")}
    return {f"{prefix}{name}": value for name, value in (fields | {"size": size}).items()}


def _line(step: Step, language: Language) -> str:
    return step.doing.in_(language) if step.doing else word("status_queue", language, place=max(1, step.place))


def _title(model: str, language: Language) -> str:
    entry = find(model)
    return entry.title.in_(language) if entry else model


def _named(capture: Capture, language: Language) -> str:
    height, width = capture.provenance.input_size
    return f"{_title(capture.provenance.model, language)} · {_pixels(height, width)}"


def _pixels(height: int, width: int) -> str:
    return f"{height} px" if height == width else f"{height} × {width} px"


def _answer(capture: Capture, language: Language) -> str:
    """The likeliest class, or why there is none."""
    from vitexplorer.quantities.read_out import class_text, top_classes

    if capture.provenance.is_random:
        return word("weights_random_note", language)
    if capture.logits is None:
        return word("status_no_answer", language)
    if capture.model.num_classes == 1:
        return f"{float(capture.logits[0]):.3g}"
    best = top_classes(capture.logits, capture.model.class_texts, 1)[0]
    return word("status_answer", language, name=class_text(best.index, best.name), share=percent(best.probability))


def _notes(pair: Pair, blocks: Blocks, language: Language) -> list[str]:
    """How places, blocks and tokens are matched, where that is not plain."""
    (left, right), (one, two) = (pair.left, pair.right), blocks
    names = {"left": word("compare_left", language), "right": word("compare_right", language)}
    grids = [capture.grid(block) for capture, block in ((left, one), (right, two))]
    shapes = [f"{grid.rows} × {grid.cols}" for grid in grids]
    found = []
    if left.provenance.image_hash != right.provenance.image_hash:
        found.append(word("compare_images", language))
    elif left.input.fit != right.input.fit:
        found.append(word("compare_fits", language))
    if shapes[0] != shapes[1]:
        found.append(word("compare_grids", language, one=shapes[0], other=shapes[1]))
    if left.depth != right.depth:
        found.append(
            word("compare_depths", language, one=one, last=left.depth - 1, other=two, other_last=right.depth - 1)
        )
    for side, name, other in ((left, "left", right), (right, "right", left)):
        missing = [prefix_text(token) for token in other.prefix_tokens if token not in side.prefix_tokens]
        if missing:
            found.append(word("compare_token", language, side=names[name], token=missing[0]))
    if pair.right.change:
        said = "；" if language == "zh" else "; "
        texts = said.join(text.in_(language) for text in pair.right.change.texts)
        found.append(word("compare_change", language, what=texts))
    return found


def _presets(pair: Pair, language: Language) -> list[Preset]:
    """Good pairs, on the image that is shown."""
    address, image = pair.address, {"image": pair.address.image, **dict.fromkeys(OTHER, "")}
    plain = {"weights": "trained", "size": "", "other_weights": "trained", "other_size": OWN}
    found = [
        Preset(label=word(f"compare_{name}", language), changes={**image, **plain, "model": one, "other_model": other})
        for name, one, other in (
            ("vit_dino", VIT, DINO),
            ("vit_swin", VIT, SWIN),
            ("dino_mae", DINO, MAE),
        )
    ]
    model = {**image, "model": address.model, "other_model": address.model, "weights": "trained"}
    random = {**model, "other_weights": "random", "other_size": address.picture.size or OWN}
    found.append(Preset(label=word("compare_trained", language), changes=random))
    own = pair.left.model.unsized or pair.left.model
    height, width = own.preprocessing.input_size
    if own.family.size_step(own.module) and height == width:
        sizes = {"size": "", "other_size": str(2 * height), "other_weights": "trained"}
        label = word("compare_sizes", language, one=height, other=2 * height)
        found.append(Preset(label=label, changes={**model, **sizes}))
    return found
