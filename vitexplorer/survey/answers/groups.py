"""Groups of images that lie close together in the features, and the images that fit nowhere.

HDBSCAN (Campello, Moulavi & Sander 2013, section 4; scikit-learn's) on unit features finds dense regions of any number
and leaves out what lies between them. A group has at least `LEAST` images, or one in `SHARE` of a large survey. The
middle image of a group is the one nearest to its mean direction. It misleads where all images are alike: a single
dense region is no group. Of more than `MOST_READ` images a random sample is read.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from sklearn.cluster import HDBSCAN  # pyrefly: ignore

from vitexplorer.core.text import SettingError, Text
from vitexplorer.survey.answers.chosen import chosen
from vitexplorer.survey.answers.features import all_directions, feature_named
from vitexplorer.survey.answers.gallery import Row, rows_at
from vitexplorer.survey.conditions import OneOf, Where
from vitexplorer.survey.opened import Survey

MOST_READ = 3000
"""Limit for images that are read: all pairs are compared"""
LEAST, SHARE = 5, 100


@dataclass(frozen=True)
class Group:
    """Images that are alike to the model."""

    rows: tuple[int, ...]
    middle: int
    """Row of the image nearest to the mean direction of the group"""
    predicted: int | None
    """Class that at least half of the images are predicted as"""
    label: str | None
    """Label of at least half of the images"""


@dataclass(frozen=True)
class Groups:
    """Groups of a survey, the largest first."""

    groups: tuple[Group, ...]
    alone: tuple[int, ...]
    """Rows of the images that fit nowhere; empty where there are no groups"""
    compared: int
    """Number of images compared"""
    notes: tuple[Text, ...]
    """Note on the sample, if there is one"""


def image_groups(survey: Survey, feature: str | None = None, where: Where = ()) -> Groups:
    """Find the groups.

    Args:
        survey: the survey.
        feature: feature_cls, feature_mean or feature_joint; None for the first that exists.
        where: conditions on the images.

    Raises:
        UnsupportedError: there are no features.
        UnknownNameError: there is no such feature.
    """
    rows = chosen(survey, where, MOST_READ)
    numbers, values = all_directions(survey, feature_named(survey, feature), rows)
    found = _labels(values)
    facts = {row["row"]: row for row in rows_at(survey, numbers.tolist())} if found.max(initial=-1) >= 0 else {}
    groups = [_group(numbers[found == at], values[found == at], facts) for at in range(found.max(initial=-1) + 1)]
    groups.sort(key=lambda group: (-len(group.rows), group.rows))
    alone = tuple(numbers[found < 0].tolist()) if groups else ()
    return Groups(tuple(groups), alone, len(numbers), rows.notes)


def in_group(survey: Survey, number: int | None, feature: str | None = None) -> OneOf:
    """Select the images of a group, counted from 0; with None those that fit nowhere. SettingError beyond the last."""
    return OneOf("row", rows_of(image_groups(survey, feature), number))


def rows_of(found: Groups, number: int | None) -> tuple[int, ...]:
    """Return the rows of a group; SettingError beyond the last."""
    if number is None:
        return found.alone
    if not 0 <= number < len(found.groups):
        raise SettingError(
            Text(
                "Group {number} does not exist; the number of groups is {count}.",
                "没有编号为 {number} 的组；共 {count} 组。",
            ).format(number=number, count=len(found.groups))
        )
    return found.groups[number].rows


def _labels(values: Float[np.ndarray, "images dim"]) -> Int[np.ndarray, " images"]:
    """Return the number of each image's group; -1 for images that fit nowhere."""
    least = max(LEAST, len(values) // SHARE)
    if len(values) < 2 * least:
        return np.full(len(values), -1)
    return HDBSCAN(min_cluster_size=least, algorithm="brute", copy=True).fit_predict(values.astype(np.float64))


def _group(rows: Int[np.ndarray, " images"], values: Float[np.ndarray, "images dim"], facts: dict[Any, Row]) -> Group:
    middle = int(rows[np.argmax(values @ values.mean(0))])
    columns = [[facts[row].get(key) for row in rows.tolist()] for key in ("predicted", "label")]
    predicted, label = (_most(column) for column in columns)
    return Group(tuple(rows.tolist()), middle, predicted, label)


def _most(column: list[Any]) -> Any:
    """Return the value of at least half of the images; None where there is none."""
    value, count = Counter(column).most_common(1)[0]
    return value if 2 * count >= len(column) else None
