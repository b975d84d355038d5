"""Two captures as the room Compare speaks of them: what each is and says, how they are matched, good pairs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from vitexplorer.core.text import Language
from vitexplorer.core.types import OUTPUT, Output, prefix_text
from vitexplorer.models.catalog import find
from vitexplorer.models.examples import examples
from vitexplorer.service.jobs import Step
from vitexplorer.ui.canvas.two_sided import Blocks, Side
from vitexplorer.ui.kit.language import word
from vitexplorer.ui.rooms.compare.sides import Preset
from vitexplorer.ui.rooms.compare.words import COMPARE_WORDS
from vitexplorer.ui.shell.address import COMPARED, OWN, Address

if TYPE_CHECKING:
    from vitexplorer.capturing.capture import Capture

VIT, DINO, MAE, SWIN = (
    f"scenes_{name}" for name in ("vit_patch16_192", "dino_patch16_192", "mae_patch16_192", "swin_patch4_window6_192")
)
SEVERAL, REGISTERS = (f"scenes_several_vit_{name}" for name in ("patch16_192", "reg4_patch16_192"))
FINE = "384"
MORE = 4
"""pictures beside the one on the left, to begin with"""
_CHOICES = {name: f"other_{name}" for name in ("image", "model", "weights", "fit", "size", "change")} | {
    "left_change": "left_change"
}
"""what a browser may choose, and the field of the address that it becomes"""


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
        left, right = (named(capture, language) for capture in (self.left, self.right))
        return Side(self.left, left), Side(self.right, right)


def chosen(data: Mapping[str, Any], beside: Address) -> Address | None:
    """The address with what a browser chose in it; None for what is no choice."""
    if len(data) != 1 or beside == Address():
        return None
    (name, value), *_ = data.items()
    if name not in _CHOICES or not isinstance(value, str):
        return None
    value = value or (OWN if name == "size" else "")
    anew = {"other_size": OWN, "other_change": ""} if name == "model" else {}
    field = _CHOICES[name]
    read = Address.read({**beside.parameters(), field: value})
    return replace(beside, **{**anew, field: value}, other_block="") if getattr(read, field) == value else None


def on_the_left(address: Address) -> Address:
    """Address of the right side, as if it stood on the left."""
    other = address.other
    return replace(address, image=other.image, model=other.model, weights=other.weights, fit=other.fit, size=other.size)


def parameters_of(address: Address, prefix: str) -> dict[str, str]:
    """Image, model, weights, fit and size of the left side, as parameters of one side, all of them named."""
    size = address.picture.size or (OWN if prefix else "")
    fields = {name: getattr(address, name) for name in ("image", "model", "weights", "fit")}
    return {f"{prefix}{name}": value for name, value in (fields | {"size": size}).items()}


def swapped(address: Address) -> dict[str, str]:
    """Parameters of both sides the other way round."""
    changes = {"left_change": address.other_change, "other_change": address.left_change}
    return parameters_of(on_the_left(address), "") | parameters_of(address, "other_") | changes


def line_of(step: Step, language: Language) -> str:
    """Progress of the right side."""
    return step.doing.in_(language) if step.doing else word("status_queue", language, place=max(1, step.place))


def title_of(model: str, language: Language) -> str:
    """A model as the catalogue calls it."""
    entry = find(model)
    return entry.title.in_(language) if entry else model


def named(capture: Capture, language: Language) -> str:
    """Title over a side's picture."""
    provenance = capture.provenance
    kind = (
        [word("state_tuned", language)] if provenance.weights == "fine-tuned" else []
    )  # random says it on the picture
    return " · ".join([title_of(provenance.model, language), *kind, pixels_of(*provenance.input_size)])


def pixels_of(height: int, width: int) -> str:
    """A size of input."""
    return f"{height} px" if height == width else f"{height} × {width} px"


def answer_of(capture: Capture, language: Language) -> str:
    """The likeliest class, or the one output, or why there is none."""
    from vitexplorer.quantities.read_out import answer_text, top_classes

    if capture.provenance.is_random:
        return word("weights_random_note", language)
    if capture.logits is None:
        return word("status_no_answer", language)
    best = top_classes(capture.logits, capture.model.class_texts, 1)[0]
    name = OUTPUT if isinstance(best, Output) and not best.name.en else answer_text(best)
    return word("status_answer", language, name=name, share=best.display_value)


def matching(pair: Pair, blocks: Blocks, language: Language) -> list[str]:
    """Notes on how places, blocks and tokens are matched, where that is not plain."""
    (left, right), (one, two) = (pair.left, pair.right), blocks
    names = {"left": COMPARE_WORDS["left"].in_(language), "right": COMPARE_WORDS["right"].in_(language)}
    grids = [capture.grid(block) for capture, block in ((left, one), (right, two))]
    shapes = [f"{grid.rows} × {grid.cols}" for grid in grids]
    found = []
    if left.provenance.image_hash != right.provenance.image_hash:
        found.append(COMPARE_WORDS["images"].in_(language))
    elif left.input.fit != right.input.fit:
        found.append(COMPARE_WORDS["fits"].in_(language))
    if shapes[0] != shapes[1]:
        found.append(COMPARE_WORDS["grids"].format(one=shapes[0], other=shapes[1]).in_(language))
    if left.depth != right.depth:
        depths = {"one": one, "last": left.depth - 1, "other": two, "other_last": right.depth - 1}
        found.append(COMPARE_WORDS["depths"].format(**depths).in_(language))
    for side, name, other in ((left, "left", right), (right, "right", left)):
        missing = [prefix_text(token) for token in other.prefix_tokens if token not in side.prefix_tokens]
        if missing:
            found.append(COMPARE_WORDS["token"].format(side=names[name], token=missing[0]).in_(language))
    said = "；" if language == "zh" else "; "
    for side, name in ((left, "left"), (right, "right")):
        if side.change:
            texts = said.join(text.in_(language) for text in side.change.texts)
            found.append(COMPARE_WORDS["change"].format(side=names[name], what=texts).in_(language))
    return found


def _pictures(address: Address) -> dict[str, str]:
    """One model on both sides, and several pictures in one basis; at a size whose patches show parts of things."""
    others = [one for one in examples() if one != address.image][:MORE]
    right = dict.fromkeys(COMPARED, "") | {"other_model": DINO, "other_image": others[0], "other_size": FINE}
    return {
        "model": DINO,
        "size": FINE,
        "image": address.image,
        **right,
        "view": "shared_pca",
        "v.images": ",".join(others[1:]),
    }


def presets(pair: Pair, language: Language) -> list[Preset]:
    """Good pairs, on the image that is shown."""
    address, image = pair.address, {"image": pair.address.image, **dict.fromkeys(COMPARED, "")}
    plain = {"weights": "trained", "size": "", "other_weights": "trained", "other_size": OWN}
    found = [
        Preset(label=COMPARE_WORDS[name].in_(language), changes={**image, **plain, "model": one, "other_model": other})
        for name, one, other in (
            ("vit_dino", VIT, DINO),
            ("vit_swin", VIT, SWIN),
            ("dino_mae", DINO, MAE),
            ("registers", SEVERAL, REGISTERS),
        )
    ]
    model = {**image, "model": address.model, "other_model": address.model, "weights": "trained"}
    found.append(Preset(label=COMPARE_WORDS["pictures"].in_(language), changes=plain | _pictures(address)))
    random = {**model, "other_weights": "random", "other_size": address.picture.size or OWN}
    found.append(Preset(label=COMPARE_WORDS["trained"].in_(language), changes=random))
    own = pair.left.model.unsized or pair.left.model
    height, width = own.preprocessing.input_size
    if own.family.size_step(own.module) and height == width:
        sizes = {"size": "", "other_size": str(2 * height), "other_weights": "trained"}
        label = COMPARE_WORDS["sizes"].format(one=height, other=2 * height).in_(language)
        found.append(Preset(label=label, changes={**model, **sizes}))
    return found
