"""Component with the texts of a comparison: the answers of both sides, how they are matched, presets.

A `Pair` holds the captures of both sides; its address names them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from vitexplorer.core.text import Language
from vitexplorer.core.types import OUTPUT, Output, prefix_text
from vitexplorer.models.catalog import title_of
from vitexplorer.models.examples import examples
from vitexplorer.ui.canvas.two_sided import Blocks, Side
from vitexplorer.ui.kit.language import word
from vitexplorer.ui.kit.widget import Widget
from vitexplorer.ui.rooms.compare.words import COMPARE_WORDS
from vitexplorer.ui.shell.address import COMPARED, FIRST_CHANGE, OWN, Address
from vitexplorer.ui.shell.chips.size_chip import pixels
from vitexplorer.ui.shell.frame import FrameData

if TYPE_CHECKING:
    from vitexplorer.capturing.capture import Capture
    from vitexplorer.service.engine import Picture


class Preset(BaseModel):
    """A pair worth a look."""

    label: str
    changes: dict[str, str]
    """Parameters of the address that change"""


class SidesData(FrameData):
    """Data of both sides. While the right side is being computed, `working` alone is set."""

    working: str = ""
    """Progress of the right side"""
    refused: str = ""
    """Reason why the right side is not the requested one"""
    title: str = ""
    """Title of the left model"""
    note: str = ""
    """Weights and input size of the left model"""
    presets: list[Preset] = []
    swapped: dict[str, str] = {}
    """Parameters of the address with the sides exchanged"""
    address: dict[str, str] = {}
    """Parameters of the address that describe the right side"""
    changes: dict[str, str] = {}
    """Changes on the left, `left_change`, and on the right, `change`, as `vx.intervene` reads them"""
    first_change: str = ""
    """Change to offer where nothing was changed in the room What if"""
    notes: list[str] = []
    """Notes on how places and blocks are matched"""


class Sides(Widget):
    """Component of both sides. Events: `choose` with one choice; `passes` once both networks are to be seen.

    Swapping and presets go through the address.
    """

    data_model = SidesData
    sends = ("choose", "passes")


_WORDS = ("swap", "left_changed", "right_changed", "presets", "scales")
VIT, DINO, MAE, SWIN = (
    f"scenes_{name}" for name in ("vit_patch16_192", "dino_patch16_192", "mae_patch16_192", "swin_patch4_window6_192")
)
SEVERAL, REGISTERS = (f"scenes_several_vit_{name}" for name in ("patch16_192", "reg4_patch16_192"))
DEIT = "scenes_deit_patch16_192"
FINE = "384"
MORE = 4
"""Number of pictures beside the left one in the preset with several pictures"""
_CHOICES = {name: f"other_{name}" for name in ("image", "model", "weights", "fit", "size", "change")} | {
    "left_change": "left_change"
}
"""Names of the choices of a browser, with their fields of the address"""


@dataclass(frozen=True)
class Pair:
    """Captures of both sides and their address."""

    address: Address
    left: Capture
    right: Capture
    refused: str = ""
    """Reason why the right side is not the requested one"""

    @property
    def runs(self) -> tuple[tuple[Picture, str], tuple[Picture, str]]:
        """The engine's keys of the left and the right run."""
        address = self.address
        return (address.picture, address.left_change), (address.other, address.other_change)

    def of(self, index: int) -> Capture:
        """Return the capture of the left side, 0, or the right, 1."""
        return (self.left, self.right)[index]

    def sides(self) -> tuple[Side, Side]:
        """Return both sides for the stage."""
        language = self.address.language
        return tuple(Side(capture, side_title(capture, language), language) for capture in (self.left, self.right))


def chosen(data: Mapping[str, Any], beside: Address) -> Address | None:
    """Return the address with a browser's choice in it; None where the data are no valid choice."""
    if len(data) != 1 or beside == Address():
        return None
    (name, value), *_ = data.items()
    if name not in _CHOICES or not isinstance(value, str):
        return None
    value = value or (OWN if name == "size" else "")
    reset = {"other_size": OWN, "other_change": ""} if name == "model" else {}
    field = _CHOICES[name]
    read = Address.read({**beside.parameters(), field: value})
    return replace(beside, **{**reset, field: value}, other_block="") if getattr(read, field) == value else None


def right_as_left(address: Address) -> Address:
    """Return the address of the right side as if it were the left."""
    other = address.other
    return replace(address, image=other.image, model=other.model, weights=other.weights, fit=other.fit, size=other.size)


def side_parameters(address: Address, prefix: str) -> dict[str, str]:
    """Return image, model, weights, fit and size of the left side as parameters of a side, empty ones included.

    `prefix` is empty for the left side, `other_` for the right.
    """
    size = address.picture.size or (OWN if prefix else "")
    fields = {name: getattr(address, name) for name in ("image", "model", "weights", "fit")}
    return {f"{prefix}{name}": value for name, value in (fields | {"size": size}).items()}


def swapped(address: Address) -> dict[str, str]:
    """Return the parameters of both sides with the sides exchanged."""
    changes = {"left_change": address.other_change, "other_change": address.left_change}
    return side_parameters(right_as_left(address), "") | side_parameters(address, "other_") | changes


def side_title(capture: Capture, language: Language) -> str:
    """Return the title over a side's picture; random weights have a warning on the picture instead."""
    provenance = capture.provenance
    kind = [word("state_tuned", language)] if provenance.weights == "fine-tuned" else []
    return " · ".join([title_of(provenance.model).in_(language), *kind, pixels(*provenance.input_size)])


def answer_of(capture: Capture, language: Language) -> str:
    """Return the likeliest class, or the single output, or why there is no answer."""
    from vitexplorer.quantities.read_out import answer_text, top_classes

    if capture.provenance.is_random:
        return word("weights_random_note", language)
    if capture.logits is None:
        return word("status_no_answer", language)
    best = top_classes(capture.logits, capture.model.class_texts, 1)[0]
    name = OUTPUT if isinstance(best, Output) and not best.name.en else answer_text(best)
    return word("status_answer", language, name=name, share=best.display_value)


def matching(pair: Pair, blocks: Blocks) -> list[str]:
    """Return notes on how places, blocks and tokens are matched, where it is not obvious."""
    left, right = pair.left, pair.right
    language = pair.address.language
    left_block, right_block = blocks
    names = {"left": COMPARE_WORDS["left"].in_(language), "right": COMPARE_WORDS["right"].in_(language)}
    grids = [capture.grid(block) for capture, block in ((left, left_block), (right, right_block))]
    shapes = [f"{grid.rows} × {grid.cols}" for grid in grids]
    notes = []
    if left.provenance.image_hash != right.provenance.image_hash:
        notes.append(COMPARE_WORDS["images"].in_(language))
    elif left.input.fit != right.input.fit:
        notes.append(COMPARE_WORDS["fits"].in_(language))
    if shapes[0] != shapes[1]:
        notes.append(COMPARE_WORDS["grids"].format(one=shapes[0], other=shapes[1]).in_(language))
    if left.depth != right.depth:
        depths = {"one": left_block, "last": left.depth - 1, "other": right_block, "other_last": right.depth - 1}
        notes.append(COMPARE_WORDS["depths"].format(**depths).in_(language))
    for side, name, other in ((left, "left", right), (right, "right", left)):
        missing = [prefix_text(token) for token in other.prefix_tokens if token not in side.prefix_tokens]
        if missing:
            notes.append(COMPARE_WORDS["token"].format(side=names[name], token=missing[0]).in_(language))
    separator = "；" if language == "zh" else "; "
    for side, name in ((left, "left"), (right, "right")):
        if side.change:
            texts = separator.join(text.in_(language) for text in side.change.texts)
            notes.append(COMPARE_WORDS["change"].format(side=names[name], what=texts).in_(language))
    return notes


def _pictures(address: Address) -> dict[str, str]:
    """Return the preset of one model and several pictures in one basis; small patches show parts of objects."""
    others = [example for example in examples() if example != address.image][:MORE]
    right = dict.fromkeys(COMPARED, "") | {"other_model": DINO, "other_image": others[0], "other_size": FINE}
    return {
        "model": DINO,
        "size": FINE,
        "image": address.image,
        **right,
        "view": "shared_pca",
        "v.images": ",".join(others[1:]),
    }


def presets(pair: Pair) -> list[Preset]:
    """List pairs worth a look, on the current image."""
    address = pair.address
    language = address.language
    image = {"image": address.image, **dict.fromkeys(COMPARED, "")}
    plain = {"weights": "trained", "size": "", "other_weights": "trained", "other_size": OWN}
    result = [
        Preset(label=COMPARE_WORDS[name].in_(language), changes={**image, **plain, "model": left, "other_model": right})
        for name, left, right in (
            ("vit_dino", VIT, DINO),
            ("vit_swin", VIT, SWIN),
            ("dino_mae", DINO, MAE),
            ("registers", SEVERAL, REGISTERS),
        )
    ]
    model = {**image, "model": address.model, "other_model": address.model, "weights": "trained"}
    result.append(Preset(label=COMPARE_WORDS["pictures"].in_(language), changes=plain | _pictures(address)))
    random = {**model, "other_weights": "random", "other_size": address.picture.size or OWN}
    result.append(Preset(label=COMPARE_WORDS["trained"].in_(language), changes=random))
    own = pair.left.model.unsized or pair.left.model  # the left model at its own input size
    height, width = own.preprocessing.input_size
    if own.family.size_step(own.module) and height == width:
        sizes = {"size": "", "other_size": str(2 * height), "other_weights": "trained"}
        label = COMPARE_WORDS["sizes"].format(one=height, other=2 * height).in_(language)
        result.append(Preset(label=label, changes={**model, **sizes}))
    return result


def sides_data(pair: Pair, blocks: Blocks) -> SidesData:
    """Return the texts of a pair whose `blocks` are on the stage."""
    address = pair.address
    language = address.language
    provenance = pair.left.provenance
    answers = [answer_of(side, language) for side in (pair.left, pair.right)]
    return SidesData(
        question=word("compare_question", language),
        reading=COMPARE_WORDS["answers"].format(left=answers[0], right=answers[1]).in_(language),
        refused=pair.refused,
        title=title_of(provenance.model).in_(language),
        note=f"{provenance.weights_text.in_(language)} · {pixels(*provenance.input_size)}",
        presets=presets(pair),
        swapped=swapped(address),
        address={name: getattr(address, name) for name in COMPARED},
        changes={"left_change": address.left_change, "change": address.other_change},
        first_change=FIRST_CHANGE,
        notes=matching(pair, blocks),
        words={key: COMPARE_WORDS[key].in_(language) for key in _WORDS},
    )
