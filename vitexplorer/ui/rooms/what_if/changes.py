"""Component with a switch and controls for each possible change, made from the registry of interventions.

The page is built before torch is loaded, so the picker takes the list of changes from its value. A switch or control
that moves sends `choose` with all changes as one text, in the format of the URL and of `--change`.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from pydantic import BaseModel

from vitexplorer.core.text import ExplainedError, Language
from vitexplorer.ui.canvas.files import input_file
from vitexplorer.ui.controls.field import Field, field_of
from vitexplorer.ui.kit.language import word
from vitexplorer.ui.kit.served_files import ServedFile
from vitexplorer.ui.kit.widget import Widget
from vitexplorer.ui.rooms.what_if.words import WHAT_IF_WORDS
from vitexplorer.ui.shell.address import FIRST_CHANGE
from vitexplorer.ui.shell.frame import FrameData

if TYPE_CHECKING:
    from vitexplorer.capturing.capture import Capture
    from vitexplorer.interventions import Changes

EXAMPLES = {
    "nothing": "",
    "blunt": "temperature:temperature=4",
    "puzzle": FIRST_CHANGE,
    "bag": "shuffle_patches:seed=0;positions:how=off",
    "positions": "positions:how=off",
    "sparse": "top_k:k=8",
    "block": "heads_off:heads={last}.*,how=zero",
    "hidden": "mask_patches",
    "shift": "shift_image:right={half},down={half},fill=wrap",
}
"""Example changes, by the key of their label in `WHAT_IF_WORDS`"""
STRIKING = EXAMPLES["blunt"]
"""Change that the room begins with: it changes the answer of the bundled classifier in every bundled scene"""


class ChangeItem(BaseModel):
    """One intervention."""

    key: str
    title: str
    question: str
    misleads: str
    on: bool = False
    refused: str = ""
    """Reason why this model cannot be changed in this way"""
    controls: list[Field] = []


class ChangesData(FrameData):
    """All interventions, with those that are on."""

    asked: int = 0
    """Number of the question that this answers, counted by the browser; 0 where it answers none"""
    items: list[ChangeItem] = []
    examples: list[dict[str, str]] = []
    """Sets of changes: `label` and `text`"""
    text: str = ""
    """Current changes as text"""
    image: ServedFile | None = None
    """Pixels that the plain run saw"""
    refused: str = ""
    """Reason why the changes were not made"""


class ChangesPicker(Widget):
    """Component of the switches. Event: `choose` with `text` and `asked`."""

    data_model = ChangesData
    sends = ("choose",)


def changes_data(capture: Capture, chosen: Changes, language: Language) -> ChangesData:
    """Return the picker's data for a plain run and the changes that are on; every setting is filled in."""
    from vitexplorer.interventions import interventions, write_changes

    return ChangesData(
        items=[_item(key, capture, chosen, language) for key in interventions()],
        examples=_examples(capture, language),
        text=write_changes(chosen),
        image=input_file(capture),
        question=word("changes_question", language),
        words={
            **{key: WHAT_IF_WORDS[key].in_(language) for key in ("examples", "scales")},
            **{key: word(key, language) for key in ("changes_switches", "panel_working")},
        },
    )


def _examples(capture: Capture, language: Language) -> list[dict[str, str]]:
    """List the examples that are possible for this model; every setting is filled in."""
    from vitexplorer.interventions import settled, write_changes

    fields = {"last": capture.depth - 1, "half": capture.grid(capture.depth - 1).patch_size // 2}
    examples = []
    for name, changes in EXAMPLES.items():
        with suppress(ExplainedError):
            text = write_changes(settled(capture, changes.format(**fields)))
            examples.append({"label": WHAT_IF_WORDS[name].in_(language), "text": text})
    return examples


def _item(key: str, capture: Capture, chosen: Changes, language: Language) -> ChangeItem:
    from vitexplorer.controls import specs
    from vitexplorer.interventions import INTERVENTIONS

    record = INTERVENTIONS[key]
    reason = record.refuses(capture)
    return ChangeItem(
        key=key,
        title=record.title.in_(language),
        question=record.question.in_(language),
        misleads=record.misleads.in_(language),
        on=key in chosen,
        refused=reason.in_(language) if reason else "",
        controls=[]
        if reason
        else [field_of(spec, language) for spec in specs(record.controls, capture, chosen.get(key, {}))],
    )
