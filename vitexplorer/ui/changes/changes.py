"""What can be changed, as switches with their controls, made from the registry of interventions at run time.

The page is built before torch is loaded, so the picker learns what there is from its value. A switch or control that
moves sends `choose` with all changes as one text, the one that the URL and `--change` have.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradio.data_classes import FileData, GradioModel

from vitexplorer.controls import Choice, Control, Number
from vitexplorer.ui.files import image_file
from vitexplorer.ui.language import word
from vitexplorer.ui.parts.field import Field, Option
from vitexplorer.ui.parts.widget import Widget
from vitexplorer.words import ExplainedError, Language

if TYPE_CHECKING:
    from vitexplorer.capture import Capture
    from vitexplorer.interventions import Changes

EXAMPLES = {
    "nothing": "",
    "puzzle": "shuffle_patches:seed=0",
    "bag": "shuffle_patches:seed=0;positions:how=off",
    "positions": "positions:how=off",
    "sparse": "top_k:k=8",
    "block": "heads_off:heads={last}.*,how=zero",
    "hidden": "mask_patches",
    "shift": "shift_image:right={half},down={half},fill=wrap",
}
"""changes to begin with"""
START = EXAMPLES["puzzle"]
"""what is shown before anything is chosen: every model can be given a puzzle"""

_WORDS = (
    "changes_choose",
    "changes_examples",
    "changes_heads_help",
    "changes_patches_help",
    "changes_clear",
    "changes_one_head",
    "block",
    "panel_working",
)


class ChangeControl(Field):
    """One setting of an intervention."""

    kind: str = "text"
    """choice, number, heads or patches"""


class ChangeItem(GradioModel):
    """One intervention."""

    key: str
    title: str
    question: str
    misleads: str
    on: bool = False
    refused: str = ""
    """why this model cannot be changed so"""
    controls: list[ChangeControl] = []


class ChangeExample(GradioModel):
    """A set of changes under a name."""

    label: str
    text: str


class ChangesData(GradioModel):
    """All interventions and which are on."""

    items: list[ChangeItem] = []
    examples: list[ChangeExample] = []
    text: str = ""
    """the changes that are shown"""
    image: FileData | None = None
    """what the plain run saw"""
    rows: int = 0
    cols: int = 0
    """the grid in which patches are picked"""
    cell: list[float] = []
    """height and width of one cell as shares of the image's"""
    heads: list[int] = []
    """of each block"""
    answer: str = ""
    refused: str = ""
    """why the changes were not made"""
    words: dict[str, str] = {}


class ChangesPicker(Widget):
    """The switches. Fires `choose` with `text`."""

    data_model = ChangesData
    stem = "changes"
    folder = Path(__file__).parent


def changes_data(capture: Capture, chosen: Changes, language: Language) -> ChangesData:
    """The picker for a plain run with the changes that are on, every setting filled in."""
    from vitexplorer.interventions import interventions, write_changes

    grid = capture.grid(capture.depth - 1)
    height, width = capture.input.pixels.shape[:2]
    return ChangesData(
        items=[_item(key, capture, chosen, language) for key in interventions()],
        examples=_examples(capture, language),
        text=write_changes(chosen),
        image=image_file(capture.input.pixels),
        rows=grid.rows,
        cols=grid.cols,
        cell=[grid.patch_size / height, grid.patch_size / width],
        heads=[capture.num_heads(block) for block in range(capture.depth)],
        words={key: word(key, language) for key in _WORDS if key != "changes_one_head"}
        | {"changes_one_head": word("changes_one_head", language, block="{block}", head="{head}")},
    )


def _examples(capture: Capture, language: Language) -> list[ChangeExample]:
    """Those that are possible for this model, every setting filled in."""
    from vitexplorer.interventions import settled, write_changes

    fields = {"last": capture.depth - 1, "half": capture.grid(capture.depth - 1).patch_size // 2}
    examples = []
    for name, changes in EXAMPLES.items():
        with suppress(ExplainedError):
            text = write_changes(settled(capture, changes.format(**fields)))
            examples.append(ChangeExample(label=word(f"changes_{name}", language), text=text))
    return examples


def _item(key: str, capture: Capture, chosen: Changes, language: Language) -> ChangeItem:
    from vitexplorer.controls import checked
    from vitexplorer.interventions import INTERVENTIONS

    record = INTERVENTIONS[key]
    reason = record.refuses(capture)
    settings = chosen.get(key) or ({} if reason else checked(record.controls, capture, {}))
    return ChangeItem(
        key=key,
        title=record.title.in_(language),
        question=record.question.in_(language),
        misleads=record.misleads.in_(language),
        on=key in chosen,
        refused=reason.in_(language) if reason else "",
        controls=[] if reason else [describe(control, settings, language) for control in record.controls],
    )


def describe(control: Control, settings: Mapping[str, Any], language: Language) -> ChangeControl:
    """A control as the browser draws it."""
    from vitexplorer.interventions import written
    from vitexplorer.interventions.heads_off import HeadsControl
    from vitexplorer.interventions.mask_patches import PatchesControl

    described = ChangeControl(
        name=control.name, label=control.label.in_(language), value=written(settings[control.name])
    )
    if isinstance(control, Choice):
        described.kind = "choice"
        described.options = [Option(value=key, label=label.in_(language)) for key, label in control.options]
    elif isinstance(control, Number):
        described.kind = "number"
        described.low, described.high, described.step = control.low, control.high, control.step
    elif isinstance(control, HeadsControl):
        described.kind = "heads"
    elif isinstance(control, PatchesControl):
        described.kind = "patches"
    return described
