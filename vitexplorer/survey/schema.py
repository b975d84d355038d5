"""Questions that apply to a model, and the columns of its survey.

Blocks, heads, features and map grids are read from one capture of a noise image, so no family needs code of its own. A
question that does not apply to the model is left out, with the reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from vitexplorer.capturing.capture import Capture, ModelInput, capture, plain_numbers
from vitexplorer.capturing.capture_batch import capture_inputs
from vitexplorer.core.text import ExplainedError, Text
from vitexplorer.core.types import Fit, Size
from vitexplorer.models.loading import LoadedModel
from vitexplorer.survey.question import Column, Question, Values
from vitexplorer.survey.questions import QUESTIONS, question_of
from vitexplorer.survey.watched_pass import watched_captures

FILE_COLUMNS = (
    Column("path", Text("File", "文件"), filters=False, type=pa.string()),
    Column("label", Text("Label", "标签"), type=pa.string()),
    Column("reason", Text("Why it could not be read", "无法读取的原因"), filters=False, type=pa.string()),
    Column(
        "reason_zh",
        Text("Why it could not be read, in Chinese", "无法读取的原因（中文）"),
        filters=False,
        type=pa.string(),
    ),
    Column("width", Text("Width", "宽"), Text("pixels of the file", "文件的像素"), type=pa.int32()),
    Column("height", Text("Height", "高"), Text("pixels of the file", "文件的像素"), type=pa.int32()),
    Column("hash", Text("Hash of the pixels", "像素的哈希"), filters=False, type=pa.string()),
)
"""Columns that every survey has; `reason` is null if the image could be read"""


NO_GRID = Text(
    'Under fit "native" every image has a grid of its own, so the map {question} cannot be kept. Choose another fit.',
    '在 fit "native" 下，每幅图像的网格各不相同，因此无法保存图“{question}”。请选择其他 fit。',
)


@dataclass(frozen=True)
class Schema:
    """Questions of a survey and the columns of their answers."""

    questions: tuple[Question, ...]
    columns: tuple[Column, ...]
    """Columns of the answers, in their order, after `FILE_COLUMNS`"""
    left_out: dict[str, Text]
    """Keys of questions that do not apply to the model, with the reason"""
    input_size: Size
    """Input size of the noise image: the model's own, unless fit is "native"."""
    heads: tuple[int, ...]
    """Number of heads of each block; 0 if its attention is not available"""

    @property
    def arrow(self) -> pa.Schema:
        """Arrow schema of a file of rows."""
        return pa.schema([pa.field(column.key, column.type) for column in (*FILE_COLUMNS, *self.columns)])

    def captures(self, model: LoadedModel, inputs: Sequence[ModelInput]) -> list[Capture]:
        """Capture prepared images of one size as the questions need them, see `watched_pass.py`."""
        keys = {question.key for question in self.questions}
        if not keys & {"heads", "rollout"}:
            return capture_inputs(model, inputs)
        return watched_captures(model, inputs, rollout="rollout" in keys)

    def answers(self, captures: Sequence[Capture], targets: Sequence[int | None]) -> list[Values | ExplainedError]:
        """Return the values of each capture's row, or the error that prevents them.

        The captures are of one input size; `targets` are the classes of the images' labels, see `class_of`.
        """
        if not captures:
            return []
        rows: list[dict] = [{} for _ in captures]
        try:
            with plain_numbers(captures[0].input.tensor.device):
                for question in self.questions:
                    for row, values in zip(rows, question.answers(captures, targets), strict=True):
                        row.update(values)
            return rows
        except ExplainedError as error:
            if len(captures) == 1:
                return [error]
        return [self.answers([each], [target])[0] for each, target in zip(captures, targets, strict=True)]


def schema_of(model: LoadedModel, ask: Sequence[str] | None = None, fit: Fit = "crop") -> Schema:
    """Make the schema of a survey of `model` at its size: `ask` as for `vx.survey`, `fit` as for `capture`.

    Raises UnknownNameError if there is no such question, SettingError if a setting of a view is invalid.
    """
    questions = [question_of(key) for key in dict.fromkeys(QUESTIONS if ask is None else ask)]
    trial = capture(model, _noise(model.preprocessing.input_size), fit)
    applicable, columns, left_out = [], [], {}
    for question in questions:
        reason = question.refuses(trial)
        of_question = () if reason is not None else question.columns(trial)
        if reason is None and fit == "native" and any(column.axes and "cols" in column.axes for column in of_question):
            reason = NO_GRID.format(question=question.title)
        if reason is not None:
            left_out[question.key] = reason
            continue
        applicable.append(question)
        columns += of_question
    heads = tuple(calls[0].num_heads if len(calls) == 1 else 0 for calls in trial.calls)
    return Schema(tuple(applicable), tuple(columns), left_out, trial.provenance.input_size, heads)


def _noise(size: Size) -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, (*size, 3), dtype=np.uint8)
