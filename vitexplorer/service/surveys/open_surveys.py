"""Open surveys, and what is computed of one once for all requests: groups, near duplicates and maps of its images."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from vitexplorer.core.cache import SingleFlight
from vitexplorer.service.surveys.store import StoredSurvey

if TYPE_CHECKING:
    from vitexplorer.survey.answers.groups import Groups
    from vitexplorer.survey.answers.map_2d import Map2d
    from vitexplorer.survey.opened import Survey

MOST = 8
"""Most surveys that stay open, and most values of each kind that are cached"""
PAIRS = 0.97
"""Cosine of features from which images count as near duplicates"""
MOST_POINTS = 5000
"""Images that a map shows"""


@dataclass(frozen=True)
class MapLayout:
    """A map of a survey's images."""

    points: Map2d
    rows: np.ndarray
    places: np.ndarray
    """Places of all images, also of those that `points` leaves out"""


_open: SingleFlight[str, Survey] = SingleFlight(MOST)
_groups: SingleFlight[str, Groups] = SingleFlight(MOST)
_pairs: SingleFlight[str, int] = SingleFlight(MOST)
_maps: SingleFlight[tuple[str, str], MapLayout] = SingleFlight(MOST)


def shard_files(survey: StoredSurvey) -> list[Path]:
    """List the finished shards of the rows."""
    return list((survey.answers / "rows").glob("shard-*.parquet"))


def latest(stored: StoredSurvey) -> Survey:
    """Open a survey with all shards finished by now; ExplainedError where it cannot be read."""
    from vitexplorer.survey.index import shards_in
    from vitexplorer.survey.opened import open_survey

    return _open.of(str(stored.answers), tuple(shards_in(stored.answers)), partial(open_survey, stored.answers))


def groups_in(survey: Survey) -> Groups:
    """Find the groups of a survey's images; ExplainedError without features."""
    from vitexplorer.survey.answers import image_groups

    return _groups.of(str(survey.folder), survey.count, lambda: image_groups(survey))


def pairs_in(survey: Survey) -> int:
    """Count the pairs of near duplicates; ExplainedError without features."""
    from vitexplorer.survey.answers import near_duplicates

    return _pairs.of(str(survey.folder), survey.count, lambda: near_duplicates(survey, threshold=PAIRS, limit=0).total)


def map_of(survey: Survey, feature: str) -> MapLayout:
    """Lay out a survey's images by the principal components of a feature; ExplainedError without that feature.

    All images are laid out once, so that every selection is a part of the same map.
    """
    from vitexplorer.survey.answers.map_2d import all_places, map_2d

    def laid() -> MapLayout:
        points = map_2d(survey, feature, most=MOST_POINTS)
        return MapLayout(points, *all_places(survey, feature, points))

    return _maps.of((str(survey.folder), feature), survey.count, laid)
