"""Surveys that somebody looks at are kept open, each with the shards that it had when it was asked last."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from vitexplorer.service.surveys.single_flight import SingleFlight
from vitexplorer.service.surveys.store import StoredSurvey

if TYPE_CHECKING:
    from vitexplorer.survey.opened import Survey

MOST = 8
"""surveys that are kept open"""

_open: SingleFlight[str, Survey] = SingleFlight(MOST)


def shard_files(survey: StoredSurvey) -> list[Path]:
    """Of the rows, those that are finished."""
    return list((survey.answers / "rows").glob("shard-*.parquet"))


def latest(kept: StoredSurvey) -> Survey:
    """A survey with the shards that are finished now. Raises ExplainedError where it cannot be read."""
    from vitexplorer.survey.index import shards_in
    from vitexplorer.survey.opened import open_survey

    return _open.of(str(kept.answers), tuple(shards_in(kept.answers)), partial(open_survey, kept.answers))
