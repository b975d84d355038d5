"""Cases with known parts: paper creatures of the stream "test", which no model was trained on."""

from __future__ import annotations

from vitexplorer.evaluation.case import Case
from vitexplorer.evaluation.data import STREAM, parted_cases
from vitexplorer.scenes.creatures import Creature


def creature_cases(count: int, size: int) -> list[Case]:
    """The first creatures at size x size pixels; asked for is their class."""
    return parted_cases(Creature(STREAM, index, size) for index in range(count))
