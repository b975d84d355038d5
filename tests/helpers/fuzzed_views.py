"""Fuzz subjects of views: settings that the controls offer, and settings with exactly one invalid value.

A setting is drawn from the control's bounds, options or patches. A valid drawing must be answered, and an invalid value
must be refused with a message that names its control.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from tests.helpers.fuzz_subject import Subject
from tests.helpers.invented_texts import reading_texts
from tests.helpers.least_settings import LEAST
from tests.helpers.small_families import capture_case
from tests.helpers.small_models import capture_small
from vitexplorer.capturing.capture import Capture, capture
from vitexplorer.controls import Control, TextControl, TextsControl, checked
from vitexplorer.controls.spec import Spec
from vitexplorer.core.text import ExplainedError
from vitexplorer.interventions import intervene
from vitexplorer.models.loading import load_model
from vitexplorer.views import VIEWS, compute, refusal

WHOLE = ("vit", "encoder", "deit_distilled", "beit", "eva02", "dinov3", "swin", "swinv2_padded")
ATTENTION_ONLY = ("cait", "xcit")
CHANGED = "vit, changed"
SPECIAL = ("scenes_mae_patch16_192", "scenes_captioner")
"""Bundled models with a part of their own: a decoder, a captioner"""
MODELS = (*WHOLE, *ATTENTION_ONLY, CHANGED)
"""Models: one of each kind of tokens, one without a classifier, two with attention only"""
WRONG: list[Any] = ["nosuch", "\0", "-1000000000000", "1e99", -(10**12), 10**12, float("nan"), [], {}, (1, 2, 3), b"0"]
"""Values that no control accepts, except an empty list where any number of choices is valid"""
TAKES_NONE = ("several", "patches")


@cache
def capture_of(model: str) -> Capture:
    if model == CHANGED:
        return intervene(reading_texts(capture_small("vit")), {"heads_off": {"heads": [(0, 0)]}})
    if model in SPECIAL:
        return capture(load_model(model), capture_small("vit").input.pixels)
    return reading_texts(capture_small(model)) if model in WHOLE else capture_case(model)


@cache
def claims() -> dict[str, tuple[str, ...]]:
    """Return by view the models that it supports; those with a part of their own if there is no other."""

    def supported(view: str, models: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(model for model in models if refusal(view, capture_of(model)) is None)

    return {view: supported(view, MODELS) or supported(view, SPECIAL) for view in VIEWS}


@dataclass(frozen=True)
class Asked:
    """View of a model with settings as text, of which one may be invalid."""

    view: str
    model: str
    settings: tuple[tuple[str, Any], ...]
    wrong: str = ""
    """Control with the invalid value"""


# ---------------------------------------------------------------------------------------------- drawn


def valid(spec: Spec) -> SearchStrategy[Any]:
    """Draw a value that a control offers, or its default if the control describes values only in words."""
    offered = st.sampled_from([written for written, _ in spec.options] or [spec.value])
    if spec.kind == "several":
        return st.lists(offered, min_size=1, max_size=2, unique=True).map(",".join)
    if spec.kind == "number" and spec.low is not None and spec.high is not None:
        steps = st.integers(0, int((spec.high - spec.low) / (spec.step or 1)))
        return steps.map(lambda n: round(spec.low + n * (spec.step or 1), 6))
    if spec.board is None or spec.kind not in ("patch", "patches"):
        return offered
    cell = st.tuples(st.integers(0, spec.board.rows - 1), st.integers(0, spec.board.cols - 1))
    if spec.kind == "patches":
        return st.lists(cell, min_size=1, max_size=3, unique=True).map(lambda c: "+".join(f"{r}.{k}" for r, k in c))
    return cell | offered if spec.options else cell


@st.composite
def asked(draw: DrawFn, view: str) -> Asked:
    """Draw a view with all controls in order, since options may depend on earlier controls."""
    model = draw(st.sampled_from(claims()[view]))
    seen, settings, written = capture_of(model), dict[str, Any](), dict[str, Any]()
    for control in VIEWS[view].controls:
        least = LEAST.get(view, {}).get(control.name)
        value = draw(valid(control.spec(seen, settings))) if least is None else least
        value = None if value == "" else value
        written[control.name] = value
        settings = checked(VIEWS[view].controls[: len(written)], seen, written)
    return Asked(view, model, tuple(written.items()))


def is_taken(control: Control, value: Any) -> bool:
    """Return True for one of `WRONG` that a control takes: a sentence as a text, an empty list as no choices."""
    if isinstance(control, TextControl | TextsControl) and isinstance(value, str):
        return True
    return value == [] and (control.kind in TAKES_NONE or (isinstance(control, TextsControl) and not control.start))


@st.composite
def asked_wrongly(draw: DrawFn, view: str) -> Asked:
    """Draw a view with one value of a wrong type, out of range, or without meaning."""
    right = draw(asked(view))
    control = draw(st.sampled_from(VIEWS[view].controls))
    wrong = [value for value in WRONG if not is_taken(control, value)]
    settings = dict(right.settings) | {control.name: draw(st.sampled_from(wrong))}
    return Asked(view, right.model, tuple(settings.items()), control.name)


# ---------------------------------------------------------------------------------------------- asked


def ask(case: Asked) -> None:
    """Compute the view; ExplainedError if it refuses."""
    compute(case.view, capture_of(case.model), **dict(case.settings))


def ask_wrongly(case: Asked) -> None:
    """Raise the expected ExplainedError; AssertionError for an answer or an unrelated message."""
    (control,) = (one for one in VIEWS[case.view].controls if one.name == case.wrong)
    refused = None
    try:
        ask(case)
    except ExplainedError as error:
        refused = error
    assert refused, f"{control.name} took what it cannot take"
    assert names(control, refused.text.en), f"{control.name} is not named: {refused.text.en}"
    raise refused


def names(control: Control, sentence: str) -> bool:
    """Return True if a message mentions a control by its name, its label, or its group."""
    words = [control.name, control.label.en.split(" (")[0], *{"patch": ["patch", "row", "col"]}.get(control.kind, [])]
    words += {"target": ["class"], "several": ["view"], "patches": ["patch"]}.get(control.kind, [])
    return any(word.lower() in sentence.lower() for word in words)


def views() -> Iterator[Subject]:
    """Return the subjects of all views with valid settings, and of those with controls with invalid ones."""
    with_controls = [view for view in VIEWS if VIEWS[view].controls]
    yield Subject("views", st.sampled_from(sorted(VIEWS)).flatmap(asked), ask)
    yield Subject("views, one wrong", st.sampled_from(with_controls).flatmap(asked_wrongly), ask_wrongly)
