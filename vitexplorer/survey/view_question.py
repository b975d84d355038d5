"""A view as a question: its number or its small map of every image, at the settings that its key states.

`attention_rollout`, `attention_map:block=3;head=mean`: the notation of `evaluation/methods.py`. What is left out takes
its default, which for a class that is explained is the likeliest one.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from vitexplorer.capturing.capture import Capture
from vitexplorer.controls import Control
from vitexplorer.core.text import Text, UnsupportedError, same
from vitexplorer.core.types import Result
from vitexplorer.evaluation.methods import settings_of, view_of
from vitexplorer.survey.question import Column, Question, Values, one_by_one
from vitexplorer.views import VIEWS, compute

MOST_CELLS = 1024
NO_MAP = Text(
    "The view {view} gives {shape} numbers for an image. A survey keeps one number or a map of at most {most} cells.",
    "视图 {view} 对每张图像给出 {shape} 个数。普查只保存一个数，或最多 {most} 格的图。",
)


def column_of(key: str) -> str:
    """The column of a view's key."""
    return f"view_{key}"


def title_of(key: str) -> Text:
    """The view, and in brackets each setting that the key states: "Grad-CAM (Block 3)"."""
    record, stated = VIEWS[view_of(key)], settings_of(key)
    said = [_said(control, stated[control.name]) for control in record.controls if control.name in stated]
    if not said:
        return record.title
    settings = Text(", ".join(one.en for one in said), "，".join(one.zh for one in said))
    return Text("{view} ({settings})", "{view}（{settings}）").format(view=record.title, settings=settings)


def _said(control: Control, written: str) -> Text:
    """A setting by its name, and its value in words where these are the same for every model."""
    value = same(written) if control.of_capture else control.say(written, None)
    return Text("{name} {value}", "{name} {value}").format(name=control.label, value=value)


def view_question(key: str) -> Question:
    """The question that a view's key is; raises UnknownNameError for no view."""
    record, name, title = VIEWS[view_of(key)], column_of(key), title_of(key)

    def columns(capture: Capture) -> tuple[Column, ...]:
        result = _result(key, capture)
        shape = _shape(result.values)
        axes = (("rows", *result.axes) if len(result.axes) == 1 else result.axes) if shape else None
        kind = pa.list_(pa.float32()) if shape else pa.float32()
        return (Column(name, kind, title, result.unit, filters=shape is None, shape=shape, axes=axes),)

    def answer(capture: Capture) -> Values:
        values = _result(key, capture).values
        return {name: values.astype(np.float32).ravel() if _shape(values) else float(values.item())}

    return Question(key, title, record.question, columns, one_by_one(answer), paper=record.paper)


def _result(key: str, capture: Capture) -> Result:
    result = compute(view_of(key), capture, **settings_of(key))
    values = result.values
    if values.size > MOST_CELLS or values.ndim > 2 or values.dtype.kind not in "fiu" or values.size == 0:
        shape = " x ".join(map(str, values.shape))
        raise UnsupportedError(NO_MAP.format(view=key, shape=shape, most=MOST_CELLS))
    return result


def _shape(values: np.ndarray) -> tuple[int, int] | None:
    """Rows and columns of a map, one row of a list; None of one number."""
    return None if values.size == 1 else tuple(np.atleast_2d(values).shape)
