"""Images by the cosine of their features: most and least typical of their class, and nearest to a text.

The mean direction of a class is the mean of its images' unit features (Mardia & Jupp 2000, section 9.2.1); an image's
typicality is its cosine with the mean direction of its class. Classes are labels; images without a label form one
class. A text finds images by the cosine of its vector and theirs in the joint space of images and texts (Radford et al.
2021, arXiv 2103.00020, section 3.1.2). All are over the images that match the conditions. Of more than `MOST_READ` a
random sample is read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from vitexplorer.core.text import SettingError, Text, UnsupportedError
from vitexplorer.survey.answers.bounds import check_image_count
from vitexplorer.survey.answers.chosen import Chosen, chosen
from vitexplorer.survey.answers.features import JOINT, directions, feature_named
from vitexplorer.survey.conditions import Where
from vitexplorer.survey.opened import Survey

MOST_READ, MOST = 200_000, 500
"""Limits for images that are read, and for images of an answer"""

_NO_JOINT = Text(
    "No text finds images in this survey: its model reads no texts, or the question features was not asked.",
    "此普查不能用文字查找图像：模型不能读取文字，或没有询问特征。",
)
_WIDTH = Text(
    "A vector of {joint} numbers is needed, not of shape {width}.", "需要 {joint} 个数的向量，而不是形状 {width}。"
)


@dataclass(frozen=True)
class Similar:
    """Image with its cosine to its class, or to a text."""

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


def nearest_to_text(survey: Survey, vector: Float[np.ndarray, " joint"], where: Where = (), limit: int = 60) -> Typical:
    """Return the images with the largest cosines to a text; `vector` is a row of `vx.embed_text`.

    Raises:
        SettingError: a vector of another width than the survey's features, or too many images.
        UnsupportedError: the survey's model reads no texts, or its features were not asked for.
    """
    if JOINT not in survey.columns:
        raise UnsupportedError(_NO_JOINT)
    rows = _rows(survey, where, limit)
    unit = np.asarray(vector, np.float64) / max(float(np.linalg.norm(vector)), np.finfo(float).tiny)

    def cosines(numbers: Int[np.ndarray, " images"], values: Float[np.ndarray, "images dim"]) -> np.ndarray:
        if unit.shape != values.shape[1:]:
            raise SettingError(_WIDTH.format(width=unit.shape, joint=values.shape[1]))
        return values.astype(np.float64) @ unit

    return _ranked(survey, JOINT, rows, labels_of(survey, rows.rows), cosines, limit, -1)


def _rows(survey: Survey, where: Where, limit: int) -> Chosen:
    check_image_count(limit, MOST)
    return chosen(survey, where, MOST_READ)


def _by_cosine(survey: Survey, feature: str | None, where: Where, limit: int, sign: int) -> Typical:
    name = feature_named(survey, feature)
    rows = _rows(survey, where, limit)
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

    def cosines(numbers: Int[np.ndarray, " images"], values: Float[np.ndarray, "images dim"]) -> np.ndarray:
        of_class = means[classes[np.searchsorted(rows.rows, numbers)]]
        return np.einsum("id,id->i", values.astype(np.float64), of_class)

    return _ranked(survey, name, rows, labels, cosines, limit, sign)


def _ranked(
    survey: Survey,
    feature: str,
    rows: Chosen,
    labels: np.ndarray,
    cosines_of: Callable[[np.ndarray, np.ndarray], np.ndarray],
    limit: int,
    sign: int,
) -> Typical:
    """Return the rows with the smallest `sign` times cosine; the earlier row first among equals."""
    ranked = [(np.zeros(0), np.zeros(0, np.int64))]
    for numbers, values in directions(survey, feature, rows):
        ranked.append((cosines_of(numbers, values), numbers))
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
