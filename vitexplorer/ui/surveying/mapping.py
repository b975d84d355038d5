"""The map of a survey's images by a feature: laid out once for all images, so that every choice is a part of it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vitexplorer.survey.answers.map_2d import Map2d
    from vitexplorer.survey.opened import Survey

MOST, MOST_KEPT = 5000, 8
"""images of a map, and maps that are kept"""

_kept: OrderedDict[tuple[str, int, str], Map2d] = OrderedDict()
_lock = threading.Lock()


def map_of(survey: Survey, feature: str) -> Map2d:
    """By principal components. Raises ExplainedError without that feature."""
    from vitexplorer.survey.answers.map_2d import map_2d

    key = str(survey.folder), survey.count, feature
    with _lock:
        found = _kept.pop(key, None) or map_2d(survey, feature, most=MOST)
        _kept[key] = found
        while len(_kept) > MOST_KEPT:
            _kept.popitem(last=False)
        return found


def within_map(survey: Survey, feature: str, box: Sequence[float]) -> tuple[int, ...]:
    """Numbers of the rows in a part of the map: left, right, bottom, top."""
    found, (left, right, bottom, top) = map_of(survey, feature), box
    x, y = found.places.T
    inside = (left <= x) & (x <= right) & (bottom <= y) & (y <= top)
    return tuple(found.rows[inside].tolist())
