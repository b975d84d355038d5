"""Comparisons: one file, one picture of two captures with a question. `compare` asks it, `comparisons()` lists them.

    left, right = (vx.capture(vx.load_model(name), "picture.jpg") for name in (one, other))
    result = vx.compare("cka", left, right)

The two may be any: of two models, of trained and random weights, of two images or sizes, of a model and its tuned one,
of a plain and a changed run. What a comparison draws of each side is what the view of one capture draws.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from vitexplorer.comparisons.record import Comparison
from vitexplorer.core.registry import Registry
from vitexplorer.core.text import Language, Text, UnsupportedError
from vitexplorer.core.types import Result

if TYPE_CHECKING:
    from vitexplorer.capturing.capture import Capture

COMPARISONS: Registry[Comparison] = Registry("comparison", __name__, "COMPARISON")


def refusal(comparison: str, left: Capture, right: Capture) -> Text | None:
    """Why it has no meaning for these two; None where it has one. Raises UnknownNameError for no comparison."""
    record = COMPARISONS[comparison]
    for capture in (left, right):
        if not capture.model.family.shows_stream:
            return capture.model.family.no_stream(capture.model.name)
    return record.refuses(left, right)


def compare(comparison: str, left: Capture, right: Capture, **settings: Any) -> Result:
    """The numbers of one comparison of two captures.

    Args:
        comparison: a key of `comparisons()`.
        left: from `capture`, or from `intervene`.
        right: the same.
        settings: its controls, of which the left capture says what there is; what is left out takes its default.

    Raises:
        UnknownNameError: no such comparison or setting; the message names the nearest.
        SettingError: a value that the control cannot take.
        UnsupportedError: it has no meaning for these two; the message says why.
    """
    from vitexplorer.capturing.capture import plain_numbers  # which loads torch

    record, reason = COMPARISONS[comparison], refusal(comparison, left, right)
    if reason is not None:
        raise UnsupportedError(reason)
    with plain_numbers(left.input.tensor.device):
        result = record.compute(left, right, **record.settings(left, settings))
    of_both = [note for one in (left, right) for note in (*one.model.notes, *one.input.notes)]
    return replace(
        result,
        provenance=replace(left.provenance, beside=right.provenance),
        notes=tuple(dict.fromkeys([*of_both, *result.notes])),
        settings_said={
            control.name: (control.called(left), control.say(result.settings[control.name], left))
            for control in record.controls
            if control.name in result.settings
        },
    )


def reading(result: Result, language: Language = "en") -> str:
    """What one says pointing at the figure of a comparison. Raises UnknownNameError for a result that is none's."""
    return COMPARISONS[result.view].reading(result).in_(language)


def comparisons() -> dict[str, Comparison]:
    """Every comparison by its key, with its question, its controls and its paper."""
    return dict(COMPARISONS)
