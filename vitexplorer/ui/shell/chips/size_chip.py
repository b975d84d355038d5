"""Size chip of the top bar: the input's size and fit; its sheet lists other sizes with their cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel

from vitexplorer.core.text import ExplainedError, Language
from vitexplorer.service.answer_threads import in_thread
from vitexplorer.service.engine import Engine
from vitexplorer.ui.kit.language import word
from vitexplorer.ui.kit.widget import Widget
from vitexplorer.ui.shell.address import Address

if TYPE_CHECKING:
    from vitexplorer.capturing.capture import Capture
    from vitexplorer.quantities.size_choices import SizeCost


class SizeItem(BaseModel):
    """One size."""

    value: str
    """Size as in the page's address; empty for the model's own"""
    label: str
    """Factor of the model's own size: 1×, 1.5×, ..."""
    grid: str
    """Pixels"""
    cost: str
    """Tokens, relative time and memory, computed before any run"""
    refused: str = ""
    """Reason why it cannot be chosen; empty if it can"""


class SizeChipData(BaseModel):
    """The chip and the sizes."""

    title: str = ""
    note: str = ""
    size: str = ""
    """Current size, as in the page's address"""
    sizes: list[SizeItem] = []
    """Sizes to choose from; empty for a model that takes only one"""
    step: int = 0
    """Pixels of which a size must be a multiple; 0 if no size can be typed"""
    says: str = ""
    """Message about other sizes of this model, or about the typed one"""
    fit: str = "crop"
    words: dict[str, str] = {}


class SizeChip(Widget):
    """Component that fires `choose` with `size` or `fit`, and `cost` with the typed `size` when the sheet opens."""

    data_model = SizeChipData
    sends = ("choose", "cost")


_WORDS = ("size", "size_free", "size_apply", "fit", "fit_crop", "fit_squash", "fit_pad", "fit_native")


def size_chip(capture: Capture, address: Address) -> SizeChipData:
    """Return the chip of a capture's input size; other sizes are not filled in yet."""
    height, width = capture.provenance.input_size
    grid = capture.grid(0)
    patches = word("size_patches", address.language, rows=grid.rows, cols=grid.cols)
    return SizeChipData(
        title=pixels(height, width),
        note=f"{word(f'fit_{address.fit}', address.language)} · {patches}",
        fit=address.fit,
        words={key: word(key, address.language) for key in _WORDS},
    )


async def priced_sizes(engine: Engine, address: Address, typed: str) -> SizeChipData:
    """Return the chip with the sizes that the model can take, and what the size costs that is being typed, if any.

    Errors are those of `Engine.model`.
    """
    picture = address.picture
    chip = size_chip(await engine.capture(picture), address)
    costs = await engine.size_choices(picture.model, picture.weights)
    model = await engine.model(picture.model, picture.weights)
    multiple = model.family.size_step(model.module)
    chip.size = picture.size
    chip.sizes = [_item(cost, address.language, is_own=cost is costs[0]) for cost in costs] if len(costs) > 1 else []
    chip.step = multiple[0] if multiple and multiple[0] == multiple[1] else 0
    chip.says = "" if multiple else word("size_one", address.language)
    if typed:
        chip.says = await _cost_of(engine, address, typed)
    return chip


async def _cost_of(engine: Engine, address: Address, size: str) -> str:
    """Describe the cost of a typed size, or the reason why the model cannot take it."""
    from vitexplorer.quantities.size_choices import size_cost

    try:
        model = await engine.model(address.picture.model, address.picture.weights)
        cost = await in_thread(size_cost, model, size)
    except ExplainedError as error:
        return error.text.in_(address.language)
    return (cost.refusal or cost.text).in_(address.language)


def _item(cost: SizeCost, language: Language, *, is_own: bool) -> SizeItem:
    height, width = cost.size
    return SizeItem(
        value="" if is_own else (f"{height}" if height == width else f"{height}x{width}"),
        label=f"{cost.factor:.2g}×",
        grid=pixels(height, width),
        cost=word(
            "size_cost",
            language,
            tokens=cost.tokens,
            times=cost.times,
            megabytes=(cost.memory.capture_bytes + cost.memory.attention) / 1e6,
        ),
        refused=cost.refusal.in_(language) if cost.refusal else "",
    )


def pixels(height: int, width: int) -> str:
    """Format an input size in pixels; a square one as one number."""
    return f"{height} px" if height == width else f"{height} × {width} px"
