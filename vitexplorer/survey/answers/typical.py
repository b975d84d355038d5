"""Most and least typical images of each class.

The mean direction of a class is the mean of its images' unit features (Mardia & Jupp 2000, section 9.2.1); an image's
typicality is its cosine with the mean direction of its class. Classes are labels; images without a label form one
class. The means are over the images that match the conditions. Of more than `MOST_READ` a random sample is read.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vitexplorer.core.text import SettingError, Text
from vitexplorer.survey.answers.bounds import is_count
from vitexplorer.survey.answers.chosen import chosen
from vitexplorer.survey.answers.features import directions, feature_named
from vitexplorer.survey.conditions import Where
from vitexplorer.survey.opened import Survey

MOST_READ, MOST = 200_000, 500
"""Limits for images that are read, and for images of an answer"""


@dataclass(frozen=True)
class Similar:
    """Image with its cosine to its class."""

    row: int
    label: str | None
    cosine: float


@dataclass(frozen=True)
class Typical:
    """Images in order, with notes."""

    images: tuple[Similar, ...]
    notes: tuple[Text, ...]
    """Note on the sample, if there is one"""


def most_typical(survey: Survey, feature: str | None = None, where: Where = (), limit: int = 60) -> Typical:
    """Return the images nearest to the mean direction of their class."""
    return _by_cosine(survey, feature, where, limit, -1)


def most_unusual(survey: Survey, feature: str | None = None, where: Where = (), limit: int = 60) -> Typical:
    """Return the images farthest from the mean direction of their class."""
    return _by_cosine(survey, feature, where, limit, 1)


def _by_cosine(survey: Survey, feature: str | None, where: Where, limit: int, sign: int) -> Typical:
    if not is_count(limit, 0, MOST):
        raise SettingError(Text("Ask for at most {most} images.", "最多可取 {most} 幅图像。").format(most=MOST))
    name = feature_named(survey, feature)
    rows = chosen(survey, where, MOST_READ)
    labels = labels_of(survey, rows.rows)
    names = list(dict.fromkeys(labels.tolist()))
    at = {label: number for number, label in enumerate(names)}
    classes = np.array([at[label] for label in labels.tolist()], np.int64)
    sums: np.ndarray | None = None
    for numbers, values in directions(survey, name, rows):
        sums = np.zeros((len(names), values.shape[1])) if sums is None else sums
        of_class = classes[np.searchsorted(rows.rows, numbers)]
        for number in np.unique(of_class).tolist():
            sums[number] += values[of_class == number].sum(0, dtype=np.float64)
    if sums is None:
        return Typical((), rows.notes)
    means = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), np.finfo(float).tiny)
    ranked = [(np.zeros(0), np.zeros(0, np.int64))]
    for numbers, values in directions(survey, name, rows):
        of_class = means[classes[np.searchsorted(rows.rows, numbers)]]
        ranked.append((np.einsum("id,id->i", values.astype(np.float64), of_class), numbers))
        cosines, images = (np.concatenate(part) for part in zip(*ranked, strict=True))
        best = np.lexsort((images, sign * cosines))[:limit]
        ranked = [(cosines[best], images[best])]
    ((cosines, images),) = ranked
    return Typical(
        tuple(
            Similar(int(row), labels[np.searchsorted(rows.rows, row)], float(cosine))
            for row, cosine in zip(images, cosines, strict=True)
        ),
        rows.notes,
    )


def labels_of(survey: Survey, rows: np.ndarray) -> np.ndarray:
    """Return the labels of ascending rows; None for a row without one."""
    labels = np.full(len(rows), None, object)
    for first in range(0, len(rows), 50_000):
        some = rows[first : first + 50_000]
        labelled = survey.sql(
            "SELECT row, label FROM {rows} AND row IN (SELECT unnest($wanted)) AND label IS NOT NULL",
            wanted=some.tolist(),
        ).fetchall()
        if labelled:
            labels[np.searchsorted(rows, [row for row, _ in labelled])] = [label for _, label in labelled]
    return labels
