"""Cases with known parts: paper creatures of the stream "test", unseen in training."""

from __future__ import annotations

from vitexplorer.evaluation.case import Case
from vitexplorer.evaluation.data import STREAM, parted_cases
from vitexplorer.scenes.creatures import Creature


def creature_cases(count: int, size: int) -> list[Case]:
    """Make the first cases at size x size pixels; the target is the creature's class."""
    return parted_cases(Creature(STREAM, index, size) for index in range(count))
