"""Views: each file of this package is one picture with a question. `compute` runs a view, `views()` lists them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from vitexplorer.controls import MethodsControl, in_words
from vitexplorer.core.capture_protocol import OTHER_NAMES, missing_part
from vitexplorer.core.registry import Registry
from vitexplorer.core.sharp_map import SharpMapResult
from vitexplorer.core.text import Language, Progress, Text, UnsupportedError
from vitexplorer.core.types import MapResult, Result
from vitexplorer.views.record import View

if TYPE_CHECKING:
    from vitexplorer.capturing.capture import Capture

VIEWS: Registry[View] = Registry("view", __name__, "VIEW")

NO_NUMBERS = Text(
    "There is nothing to read here: none of the values is a finite number.", "这里没有可解读的内容：没有任何有限数值。"
)


BEFORE_SHARPENING = Text("Before sharpening: {reading}", "细化之前：{reading}")


def refusal(view: str, capture: Capture) -> Text | None:
    """Return the reason why a view has no meaning for a capture, or None if it has one.

    Raises:
        UnknownNameError: no such view.
    """
    record = VIEWS[view]
    if not (record.any_family or capture.model.family.shows_stream):
        return capture.model.family.no_stream(capture.model.title)
    if record.names_of_timm and not capture.model.family.names_of_timm:
        return OTHER_NAMES.format(model=capture.model.title)
    return missing_part(capture, *record.reads) or record.refuses(capture)


def compute(view: str, capture: Capture, *, progress: Progress | None = None, **settings: Any) -> Result:
    """Compute the numbers of one view of a capture. `View.runs` says whether that runs the network again.

    Args:
        view: a key of `views()`.
        capture: from `capture`.
        progress: called with the progress of a view that runs the network many times; its exceptions stop the work.
        settings: the view's controls; those left out take their defaults.

    Raises:
        UnknownNameError: no such view or setting; the message names the nearest.
        SettingError: a value that the control cannot take.
        UnsupportedError: the view has no meaning for this model; the message says why.
    """
    from vitexplorer.capturing.capture import plain_numbers  # here: they import torch
    from vitexplorer.quantities.sharpening import sharpened

    record = VIEWS[view]
    reason = refusal(view, capture)
    if reason is not None:
        raise UnsupportedError(reason)
    with plain_numbers(capture.input.tensor.device):
        chosen = record.settings(capture, settings)
        passes = chosen.pop("sharpen", 1)
        extra = {"progress": progress} if record.runs == "many" and passes == 1 else {}
        result = record.compute(capture, **chosen, **extra)
        if passes > 1:
            result = sharpened(
                record.compute, record.controls, capture, chosen, passes, result, record.goes_back, progress
            )
            chosen["sharpen"] = passes
    used = result.settings or chosen
    return replace(
        result,
        view=view,
        title=result.title if result.title.en else record.title,
        provenance=capture.provenance,
        settings=used,
        settings_said=in_words(record.controls, capture, used),
        notes=(*capture.model.notes, *capture.input.notes, *result.notes),
    )


def explanations() -> dict[str, View]:
    """Return the views of the room Flow that draw one map of the image, the choices of views that compare methods."""
    return {
        key: view
        for key, view in VIEWS.items()
        if view.room == "flow" and not any(isinstance(control, MethodsControl) for control in view.controls)
    }


def explanation(
    view: str, capture: Capture, target: int | str, seed: int, progress: Progress | None, **settings: Any
) -> MapResult:
    """Compute the map of one of `explanations()` for a target; controls not in `settings` take their defaults."""
    controls = {control.name for control in VIEWS[view].controls}
    target_and_seed = {key: value for key, value in {"target": target, "seed": seed}.items() if key in controls}
    return compute(view, capture, progress=progress, **target_and_seed, **settings)


def reading(result: Result, language: Language = "en") -> str:
    """Return one or two sentences on a result, made of its numbers, as a lecturer would point at its figure.

    Raises:
        UnknownNameError: the result comes from no view, such as a figure of fine-tuning.
    """
    record = VIEWS[result.view]
    if np.issubdtype(result.values.dtype, np.floating) and not np.isfinite(result.values).any():
        return NO_NUMBERS.in_(language)
    if isinstance(result, SharpMapResult):
        return BEFORE_SHARPENING.format(reading=record.reading(result.of_patches())).in_(language)
    return record.reading(result).in_(language)


def views() -> dict[str, View]:
    """Return every view by its key, with its question, its controls and its paper."""
    return dict(VIEWS)
