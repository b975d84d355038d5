"""Selection of the rows that an expensive analysis reads: all, or a simple random sample.

The sample is the rows whose numbers have the smallest hashes (bottom-k sampling, Cohen & Kaplan 2007): the same query
always gives the same sample, and a row in one sample is in the sample of every narrower query that selects it.
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
    "Read from {read:image} that {read:~was/were} drawn at random out of {total}.",
    "从 {total} 幅图像中随机抽取 {read} 幅后得出。",
)


@dataclass(frozen=True)
class Chosen:
    """Rows that are read."""

    rows: Int[np.ndarray, " images"]
    """Row numbers, ascending"""
    total: int
    """Number of rows that match the conditions"""

    @property
    def notes(self) -> tuple[Text, ...]:
        """Note on the sample, if it is one."""
        return sample_notes(self.total, len(self.rows))


def sample_notes(total: int, most: int) -> tuple[Text, ...]:
    """Return the note on a sample, if `total` images are more than `most`."""
    return (SAMPLED.format(read=f"{most:,}", total=f"{total:,}"),) if total > most else ()


def by_file(survey: Survey, rows: Int[np.ndarray, " images"]) -> Iterator[Int[np.ndarray, " images"]]:
    """Split ascending rows by file, so that no file is read twice."""
    ends = np.flatnonzero(np.diff(rows // survey.card.rows_per_shard)) + 1
    return (piece for piece in np.split(rows, ends) if len(piece))


def chosen(survey: Survey, where: Where, most: int) -> Chosen:
    """Select at most `most` rows whose image could be read."""
    read = "" if "reason" not in survey.columns else " AND reason IS NULL"
    (total,) = survey.sql("SELECT count(*) FROM {rows}" + read, where).fetchall()[0]
    if total <= most:
        return Chosen(_rows(survey, read, where), total)
    for bound in hash_bounds(most, total):
        rows = _rows(survey, read + SMALLEST, where, bound=bound, most=most)
        if len(rows) == most:
            break
    return Chosen(rows, total)


def _rows(survey: Survey, end: str, where: Where, **parameters: object) -> Int[np.ndarray, " images"]:
    rows = survey.sql("SELECT row FROM {rows}" + end, where, **parameters).fetchnumpy()["row"]
    return np.sort(np.asarray(rows, np.int64))


SMALLEST = " AND hash(row) <= $bound::UBIGINT ORDER BY hash(row), row LIMIT $most"
"""End of a query over `{rows}` that selects the rows of a sample"""
LARGEST_HASH = 2**64 - 1


def hash_bounds(most: int, total: int) -> tuple[int, int]:
    """Return two bounds on the hashes to sort for a sample of `most` of `total` rows; the second excludes none.

    The first includes six standard deviations more rows than needed, so the second is almost never used.
    """
    return min(LARGEST_HASH, int((most + 6 * most**0.5) / max(1, total) * LARGEST_HASH)), LARGEST_HASH
