"""Surveys that somebody looks at are kept open, each with the shards that it had when it was asked last."""

from __future__ import annotations

import threading
from collections import OrderedDict
from pathlib import Path
from typing import TYPE_CHECKING

from vitexplorer.ui.surveying.kept import KeptSurvey

if TYPE_CHECKING:
    from vitexplorer.survey.opened import Survey

MOST = 8
"""surveys that are kept open"""

_open: OrderedDict[tuple[str, int], Survey] = OrderedDict()
_lock = threading.Lock()


def shard_files(survey: KeptSurvey) -> list[Path]:
    """Of the rows, those that are finished."""
    return list((survey.answers / "rows").glob("shard-*.parquet"))


def opened(kept: KeptSurvey) -> Survey:
    """A survey with the shards that are finished now. Raises ExplainedError where it cannot be read."""
    from vitexplorer.survey.opened import open_survey

    key = str(kept.answers), len(shard_files(kept))
    with _lock:
        survey = _open.pop(key, None)
        if survey is None:
            for old in [one for one in _open if one[0] == key[0]]:
                del _open[old]
            survey = open_survey(kept.answers)
        _open[key] = survey
        while len(_open) > MOST:
            _open.popitem(last=False)
        return survey
