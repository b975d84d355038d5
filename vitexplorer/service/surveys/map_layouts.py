"""Map layouts: a survey's images placed by a feature, once for all images, so that every selection is a part of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from vitexplorer.core.cache import SingleFlight
from vitexplorer.survey.conditions import OneOf

if TYPE_CHECKING:
    from vitexplorer.survey.answers.map_2d import Box, Map2d
    from vitexplorer.survey.opened import Survey

MOST_POINTS = 5000
"""Images that a map shows"""
MOST_MAPS = 8
"""Maps that are cached"""


@dataclass(frozen=True)
class MapLayout:
    """A map of a survey's images."""

    points: Map2d
    rows: np.ndarray
    places: np.ndarray
    """Places of all images, also of those that `points` leaves out"""


@dataclass(frozen=True, repr=False)
class InMap(OneOf):
    """Condition for the images in a part of a map; a script names the part."""

    feature: str = ""
    box: Box = (0.0, 0.0, 0.0, 0.0)

    def __repr__(self) -> str:
        return f"within_map(survey, {self.feature!r}, {self.box})"


_maps: SingleFlight[tuple[str, str], MapLayout] = SingleFlight(MOST_MAPS)


def map_of(survey: Survey, feature: str) -> MapLayout:
    """Lay out a map by principal components, or return the cached one; ExplainedError without that feature."""
    from vitexplorer.survey.answers.map_2d import all_places, map_2d

    def laid() -> MapLayout:
        points = map_2d(survey, feature, most=MOST_POINTS)
        return MapLayout(points, *all_places(survey, feature, points))

    return _maps.of((str(survey.folder), feature), survey.count, laid)


def within_map(survey: Survey, feature: str, box: Box) -> InMap:
    """Select all images of the survey in a part of the map, also those without a point."""
    from vitexplorer.survey.answers.map_2d import rows_within

    laid = map_of(survey, feature)
    return InMap("row", rows_within(laid.rows, laid.places, box), feature, box)
