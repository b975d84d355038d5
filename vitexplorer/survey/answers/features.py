"""Features of images as unit vectors, so that the cosine of two images is their dot product."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from jaxtyping import Float, Int

from vitexplorer.core.text import Text
from vitexplorer.survey.answers.chosen import Chosen, by_file
from vitexplorer.survey.columns import column_among
from vitexplorer.survey.opened import Survey

JOINT = "feature_joint"
FEATURES = ("feature_cls", "feature_mean", JOINT)


def feature_named(survey: Survey, feature: str | None) -> str:
    """Look up a feature, None for the first. Raises UnsupportedError or UnknownNameError."""
    known = [survey.columns[name] for name in FEATURES if name in survey.columns]
    none = Text("This survey has no features: images cannot be compared.", "本次普查没有特征，无法比较图像。")
    return column_among(known, feature, none).key


def directions(
    survey: Survey, feature: str, chosen: Chosen
) -> Iterator[tuple[Int[np.ndarray, " images"], Float[np.ndarray, "images dim"]]]:
    """Yield row numbers and unit features, file by file, float32; images without a feature are left out."""
    for rows in by_file(survey, chosen.rows):
        values = survey.lists_at(feature, rows).astype(np.float32)
        length = np.linalg.norm(values, axis=1)
        known = np.isfinite(length) & (length > 0)
        yield rows[known], values[known] / length[known, None]


def all_directions(
    survey: Survey, feature: str, chosen: Chosen
) -> tuple[Int[np.ndarray, " images"], Float[np.ndarray, "images dim"]]:
    """Return all row numbers and unit features at once; they must fit into memory."""
    parts = [(rows, values) for rows, values in directions(survey, feature, chosen) if len(rows)]
    if not parts:
        return np.zeros(0, np.int64), np.zeros((0, 1), np.float32)
    rows, values = zip(*parts, strict=True)
    return np.concatenate(rows), np.concatenate(values)
