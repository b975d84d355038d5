"""Which questions a model answers, and the columns of its survey.

What a model has (blocks, heads, features, the grid of a map) is read from one capture of a noisy picture, so that
every family answers for itself. A question without a meaning for the model is left out with the reason.
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
    Column("path", pa.string(), Text("File", "文件"), filters=False),
    Column("label", pa.string(), Text("Label", "标注")),
    Column("reason", pa.string(), Text("Why it could not be read", "无法读取的原因"), filters=False),
    Column(
        "reason_zh", pa.string(), Text("Why it could not be read, in Chinese", "无法读取的原因（中文）"), filters=False
    ),
    Column("width", pa.int32(), Text("Width", "宽"), Text("pixels of the file", "文件的像素")),
    Column("height", pa.int32(), Text("Height", "高"), Text("pixels of the file", "文件的像素")),
    Column("hash", pa.string(), Text("Hash of the pixels", "像素的哈希"), filters=False),
)
"""what every row has, whoever is asked; `reason` is null where the image could be read"""


NO_GRID = Text(
    'Under fit "native" every image has a grid of its own, so the map {question} cannot be kept. Choose another fit.',
    '在 fit "native" 下，每张图像的网格各不相同，因此无法保存图“{question}”。请选择其他 fit。',
)


@dataclass(frozen=True)
class Schema:
    """The questions that are asked of every image, and the columns of their answers."""

    questions: tuple[Question, ...]
    columns: tuple[Column, ...]
    """of the answers, in their order; `FILE_COLUMNS` stand before them"""
    left_out: dict[str, Text]
    """keys of questions that have no meaning for the model, and why"""
    input_size: Size
    """of the picture that was tried, the model's own under every fit but native"""
    heads: tuple[int, ...]
    """of each block; 0 where its attention cannot be shown"""

    @property
    def arrow(self) -> pa.Schema:
        """The schema of a file of rows."""
        return pa.schema([pa.field(column.key, column.type) for column in (*FILE_COLUMNS, *self.columns)])

    def captures(self, model: LoadedModel, inputs: Sequence[ModelInput]) -> list[Capture]:
        """Captures of prepared images of one size, as the questions need them: see `watched_pass.py`."""
        keys = {question.key for question in self.questions}
        if not keys & {"heads", "rollout"}:
            return capture_inputs(model, inputs)
        return watched_captures(model, inputs, rollout="rollout" in keys)

    def answers(self, captures: Sequence[Capture], targets: Sequence[int | None]) -> list[Values | ExplainedError]:
        """What is put into a row for each capture, or why it cannot be.

        Args:
            captures: of the schema's model, all of one input size.
            targets: the class that each image's label names, see `class_of`.
        """
        if not captures:
            return []
        try:
            return list(self._together(captures, targets))
        except ExplainedError as error:
            if len(captures) == 1:
                return [error]
        return [self.answers([one], [target])[0] for one, target in zip(captures, targets, strict=True)]

    def _together(self, captures: Sequence[Capture], targets: Sequence[int | None]) -> list[Values]:
        rows: list[dict] = [{} for _ in captures]
        with plain_numbers(captures[0].input.tensor.device):
            for question in self.questions:
                for row, values in zip(rows, question.answers(captures, targets), strict=True):
                    row.update(values)
        return rows


def schema_of(
    model: LoadedModel,
    ask: Sequence[str] | None = None,
    fit: Fit = "crop",
    size: int | tuple[int, int] | str | None = None,
) -> Schema:
    """What a survey of `model` will ask.

    Args:
        model: from `load_model`.
        ask: names of questions and keys of views, each once; None for every question there is.
        fit: as for `capture`.
        size: as for `capture`.

    Raises UnknownNameError for a question there is not, SettingError for a setting that a view cannot take.
    """
    questions = [question_of(key) for key in dict.fromkeys(QUESTIONS if ask is None else ask)]
    tried = capture(model, _noise(model.preprocessing.input_size), fit, size)
    kept, columns, left_out = [], [], {}
    for question in questions:
        reason = question.refuses(tried)
        found = () if reason is not None else question.columns(tried)
        if reason is None and fit == "native" and any(column.axes and "cols" in column.axes for column in found):
            reason = NO_GRID.format(question=question.title)
        if reason is not None:
            left_out[question.key] = reason
            continue
        kept.append(question)
        columns += found
    heads = tuple(calls[0].num_heads if len(calls) == 1 else 0 for calls in tried.calls)
    return Schema(tuple(kept), tuple(columns), left_out, tried.provenance.input_size, heads)


def _noise(size: Size) -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, (*size, 3), dtype=np.uint8)
