"""Open surveys: those in use stay open, each with the shards that were finished at the last request."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from vitexplorer.core.cache import SingleFlight
from vitexplorer.service.surveys.store import StoredSurvey

if TYPE_CHECKING:
    from vitexplorer.survey.opened import Survey

MOST = 8
"""Most surveys that stay open"""

_open: SingleFlight[str, Survey] = SingleFlight(MOST)


def shard_files(survey: StoredSurvey) -> list[Path]:
    """List the finished shards of the rows."""
    return list((survey.answers / "rows").glob("shard-*.parquet"))


def latest(stored: StoredSurvey) -> Survey:
    """Open a survey with all shards finished by now; ExplainedError where it cannot be read."""
    from vitexplorer.survey.index import shards_in
    from vitexplorer.survey.opened import open_survey

    return _open.of(str(stored.answers), tuple(shards_in(stored.answers)), partial(open_survey, stored.answers))
