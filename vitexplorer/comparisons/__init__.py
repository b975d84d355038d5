"""Comparisons of two captures, one file each. `compare` computes one, `comparisons()` lists all.

    left, right = (vx.capture(vx.load_model(name), "picture.jpg") for name in (one, other))
    result = vx.compare("cka", left, right)

The two captures may differ in anything: model, weights (trained, random, tuned), image, size, or a change. Each side
is drawn as the view of a single capture draws it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from vitexplorer.comparisons.record import Comparison
from vitexplorer.controls import in_words
from vitexplorer.core.registry import Registry
from vitexplorer.core.text import Language, Text, UnsupportedError
from vitexplorer.core.types import Result

if TYPE_CHECKING:
    from vitexplorer.capturing.capture import Capture

COMPARISONS: Registry[Comparison] = Registry("comparison", __name__, "COMPARISON")


def refusal(comparison: str, left: Capture, right: Capture) -> Text | None:
    """Return the reason why a comparison does not apply to these two, or None.

    Raises UnknownNameError if there is no such comparison.
    """
    record = COMPARISONS[comparison]
    for capture in (left, right):
        if not capture.model.family.shows_stream:
            return capture.model.family.no_stream(capture.model.title)
    return record.refuses(left, right)


def compare(comparison: str, left: Capture, right: Capture, **settings: Any) -> Result:
    """Compute one comparison of two captures.

    Args:
        comparison: a key of `comparisons()`.
        left: from `capture`, or from `intervene`.
        right: likewise.
        settings: values of its controls, whose options are those of the left capture; missing ones take their defaults.

    Raises:
        UnknownNameError: there is no such comparison or setting; the message suggests the nearest name.
        SettingError: a value is invalid.
        UnsupportedError: the comparison does not apply to these two; the message says why.
    """
    from vitexplorer.capturing.capture import plain_numbers  # imports torch

    record = COMPARISONS[comparison]
    reason = refusal(comparison, left, right)
    if reason is not None:
        raise UnsupportedError(reason)
    with plain_numbers(left.input.tensor.device):
        chosen = record.settings(left, settings)
        result = record.compute(left, right, **chosen)
    used = result.settings or chosen
    notes = [note for capture in (left, right) for note in (*capture.model.notes, *capture.input.notes)]
    return replace(
        result,
        view=comparison,
        title=result.title if result.title.en else record.title,
        provenance=replace(left.provenance, beside=right.provenance),
        settings=used,
        settings_said=in_words(record.controls, left, used),
        notes=tuple(dict.fromkeys([*notes, *result.notes])),
    )


def reading(result: Result, language: Language = "en") -> str:
    """Summarise a result in a sentence. Raises UnknownNameError if it is not the result of a comparison."""
    return COMPARISONS[result.view].reading(result).in_(language)


def comparisons() -> dict[str, Comparison]:
    """Return every comparison by its key."""
    return dict(COMPARISONS)
