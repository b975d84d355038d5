"""The map of a survey's images by a feature: laid out once for all images, so that every choice is a part of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from vitexplorer.service.surveys.single_flight import SingleFlight
from vitexplorer.survey.conditions import OneOf

if TYPE_CHECKING:
    from vitexplorer.survey.answers.map_2d import Box, Map2d
    from vitexplorer.survey.opened import Survey

MOST, MOST_KEPT = 5000, 8
"""images that a map shows, and maps that are kept"""


@dataclass(frozen=True)
class Laid:
    """A map."""

    shown: Map2d
    rows: np.ndarray
    places: np.ndarray
    """of all images, which are more than are shown"""


@dataclass(frozen=True, repr=False)
class InMap(OneOf):
    """The images in a part of a map; a script finds them by the part."""

    feature: str = ""
    box: Box = (0.0, 0.0, 0.0, 0.0)

    def __repr__(self) -> str:
        return f"within_map(survey, {self.feature!r}, {self.box})"


_kept: SingleFlight[tuple[str, str], Laid] = SingleFlight(MOST_KEPT)


def map_of(survey: Survey, feature: str) -> Laid:
    """By principal components. Raises ExplainedError without that feature."""
    from vitexplorer.survey.answers.map_2d import all_places, map_2d

    def laid() -> Laid:
        shown = map_2d(survey, feature, most=MOST)
        return Laid(shown, *all_places(survey, feature, shown))

    return _kept.of((str(survey.folder), feature), survey.count, laid)


def within_map(survey: Survey, feature: str, box: Box) -> InMap:
    """All images of the survey in a part of the map, also those that are not shown."""
    from vitexplorer.survey.answers.map_2d import rows_within

    laid = map_of(survey, feature)
    return InMap("row", rows_within(laid.rows, laid.places, box), feature, box)
