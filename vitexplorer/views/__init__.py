"""Views: one file, one picture with a question. `compute` asks it, `views()` lists them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from vitexplorer.controls import Control, MethodsControl
from vitexplorer.core.capture_protocol import other_names
from vitexplorer.core.registry import Registry
from vitexplorer.core.text import Language, Progress, Text, UnsupportedError
from vitexplorer.core.types import MapResult, Result
from vitexplorer.views.record import View

if TYPE_CHECKING:
    from vitexplorer.capturing.capture import Capture

VIEWS: Registry[View] = Registry("view", __name__, "VIEW")

NO_NUMBERS = Text(
    "There is nothing to read here: none of the values is a finite number.", "这里无可解读：没有一个值是有限的数。"
)


def refusal(view: str, capture: Capture) -> Text | None:
    """Why a view has no meaning for a capture; None where it has one. Raises UnknownNameError for no view."""
    record = VIEWS[view]
    if not (record.any_family or capture.model.family.shows_stream):
        return capture.model.family.no_stream(capture.model.name)
    if record.names_of_timm and not capture.model.family.names_of_timm:
        return other_names(capture.model.name)
    return record.refuses(capture)


def compute(view: str, capture: Capture, *, progress: Progress | None = None, **settings: Any) -> Result:
    """The numbers of one view of a capture. `View.runs` says whether it runs the network again.

    Args:
        view: a key of `views()`.
        capture: from `capture`.
        progress: told how far a view is that runs the network many times; what it raises stops the work.
        settings: the view's controls; what is left out takes its default.

    Raises:
        UnknownNameError: no such view or setting; the message names the nearest.
        SettingError: a value that the control cannot take.
        UnsupportedError: the view has no meaning for this model; the message says why.
    """
    from vitexplorer.capturing.capture import plain_numbers  # which loads torch

    record = VIEWS[view]
    reason = refusal(view, capture)
    if reason is not None:
        raise UnsupportedError(reason)
    told = {"progress": progress} if record.runs == "many" else {}
    with plain_numbers(capture.input.tensor.device):
        result = record.compute(capture, **record.settings(capture, settings), **told)
    return replace(
        result,
        notes=(*capture.model.notes, *capture.input.notes, *result.notes),
        settings_said={
            control.name: (control.called(capture), control.say(result.settings[control.name], capture))
            for control in record.controls
            if control.name in result.settings
        },
    )


def explanations() -> dict[str, View]:
    """The views of the room Flow that draw one map of the image: what those that compare methods choose from."""
    of_room = {key: view for key, view in VIEWS.items() if view.room == "flow"}
    return {key: view for key, view in of_room.items() if not any(map(_compares, view.controls))}


def _compares(control: Control) -> bool:
    return isinstance(control, MethodsControl)


def explanation(
    view: str, capture: Capture, target: int, seed: int, progress: Progress | None, **settings: Any
) -> MapResult:
    """The map of one of them for a class; controls that are not among the settings are at their defaults."""
    controls = {control.name for control in VIEWS[view].controls}
    wanted = {key: value for key, value in {"target": target, "seed": seed}.items() if key in controls}
    return compute(view, capture, progress=progress, **wanted, **settings)


def reading(result: Result, language: Language = "en") -> str:
    """What one says pointing at the figure of a result: one sentence, two at most, made of its numbers.

    Raises UnknownNameError for a result that is no view's, such as a figure of fine-tuning.
    """
    record = VIEWS[result.view]
    if np.issubdtype(result.values.dtype, np.floating) and not np.isfinite(result.values).any():
        return NO_NUMBERS.in_(language)
    return record.reading(result).in_(language)


def views() -> dict[str, View]:
    """Every view by its key, with its question, its controls and its paper."""
    return dict(VIEWS)
