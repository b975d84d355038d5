"""View as a question: its number or small map for every image, at the settings in its key.

Keys are written as in `evaluation/methods.py`: `attention_rollout`, `attention_map:block=3;head=mean`. Other settings
take their defaults; the default target is the likeliest class.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from vitexplorer.capturing.capture import Capture
from vitexplorer.controls import Control
from vitexplorer.core.text import Text, UnsupportedError, same
from vitexplorer.core.types import Result
from vitexplorer.evaluation.methods import settings_of, title_with_settings, view_of
from vitexplorer.survey.question import Column, Question, Values, one_by_one
from vitexplorer.views import VIEWS, compute

MOST_CELLS = 1024
NO_MAP = Text(
    "The view {view} gives {shape} numbers for an image. A survey keeps one number or a map of at most {most} cells.",
    "视图 {view} 对每幅图像给出 {shape} 个数。普查只保存一个数，或最多 {most} 格的图。",
)


def _setting_text(control: Control, written: str) -> Text:
    """Name a setting with its value, in words if these are the same for every model."""
    value = same(written) if control.of_capture else control.say(written, None)
    return Text("{name} {value}", "{name} {value}").format(name=control.label, value=value)


def view_question(key: str) -> Question:
    """Make the question of a view's key. Raises UnknownNameError if there is no such view."""
    record = VIEWS[view_of(key)]
    name = f"view_{key}"
    title = title_with_settings(key, _setting_text)

    def columns(capture: Capture) -> tuple[Column, ...]:
        result = _result(key, capture)
        shape = _shape(result.values)
        axes = (("rows", *result.axes) if len(result.axes) == 1 else result.axes) if shape else None
        kind = pa.list_(pa.float32()) if shape else pa.float32()
        return (Column(name, title, result.unit, filters=shape is None, shape=shape, axes=axes, type=kind),)

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
    """Return (rows, cols) of a map, (1, entries) of a list, None for one number."""
    return None if values.size == 1 else tuple(np.atleast_2d(values).shape)
