"""Which rows a question reads whose cost grows with each of them: all, or of very many a simple random sample.

The sample is the rows whose numbers have the smallest hashes (bottom-k sampling, Cohen & Kaplan 2007), so that the same
question always has the same answer and a row stays in the sample of every question that means it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from vitexplorer.core.text import Text
from vitexplorer.survey.conditions import Where
from vitexplorer.survey.opened import Survey

SAMPLED = Text(
    "Read from {read} images that were drawn at random out of {total}.",
    "从 {total} 张图像中随机抽取 {read} 张后得出。",
)


@dataclass(frozen=True)
class Chosen:
    """The rows that are read."""

    rows: Int[np.ndarray, " images"]
    """their numbers, ascending"""
    total: int
    """how many the conditions leave"""

    @property
    def is_sample(self) -> bool:
        """Whether there are more than are read."""
        return self.total > len(self.rows)

    @property
    def notes(self) -> tuple[Text, ...]:
        """What must be said of it."""
        return sample_notes(self.total, len(self.rows))


def sample_notes(total: int, most: int) -> tuple[Text, ...]:
    """What must be said where of `total` images at most `most` are read."""
    return (SAMPLED.format(read=f"{most:,}", total=f"{total:,}"),) if total > most else ()


def by_file(survey: Survey, rows: Int[np.ndarray, " images"]) -> Iterator[Int[np.ndarray, " images"]]:
    """Rows that ascend, in pieces of one file each, so that no file is read twice."""
    ends = np.flatnonzero(np.diff(rows // survey.card.rows_per_shard)) + 1
    return (piece for piece in np.split(rows, ends) if len(piece))


def chosen(survey: Survey, where: Where, most: int) -> Chosen:
    """Rows of images that could be read, `most` at most."""
    read = "" if "reason" not in survey.columns else " AND reason IS NULL"
    (total,) = survey.sql("SELECT count(*) FROM {rows}" + read, where).fetchall()[0]
    found = np.empty(0, np.int64)
    if total <= most:
        found = survey.sql("SELECT row FROM {rows}" + read, where).fetchnumpy()["row"]
    for bound in hash_bounds(most, total) if total > most else ():
        found = survey.sql("SELECT row FROM {rows}" + read + SMALLEST, where, bound=bound, most=most).fetchnumpy()[
            "row"
        ]
        if len(found) == most:
            break
    return Chosen(np.sort(np.asarray(found, np.int64)), total)


SMALLEST = " AND hash(row) <= $bound::UBIGINT ORDER BY hash(row), row LIMIT $most"
"""of a query over `{rows}`: the rows of a sample"""
LARGEST_HASH = 2**64 - 1


def hash_bounds(most: int, total: int) -> tuple[int, int]:
    """Bounds of the hashes that are sorted for a sample of `most` of `total` rows; the second leaves none out.

    Under the first lie six standard deviations more than are wanted, so that next to never the second is needed.
    """
    return min(LARGEST_HASH, int((most + 6 * most**0.5) / max(1, total) * LARGEST_HASH)), LARGEST_HASH
