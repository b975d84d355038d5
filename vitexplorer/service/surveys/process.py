"""Process of a survey: it outlives the page and the server.

It runs `python -m vitexplorer survey`, which resumes an earlier run in the same folder.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from vitexplorer.core.settings import settings
from vitexplorer.core.text import ExplainedError
from vitexplorer.service.surveys.store import Asked, StoredSurvey, running
from vitexplorer.service.surveys.words import SURVEY_WORDS
from vitexplorer.service.user_storage import MODEL, UserStorage
from vitexplorer.storage.atomic_writes import explain_full_disk
from vitexplorer.storage.claims import alone, process_of, revoke, standing_still
from vitexplorer.storage.workers import LOG, end_worker, start_worker

ROWS = 32
"""Images of a shard: how often results appear, and the most that a stop loses"""
_PATIENCE = 5.0
"""Seconds that a process has to end by itself"""
_LOG_END = 4000
"""Bytes read from the end of the log"""


def begin(places: UserStorage, survey: StoredSurvey) -> None:
    """Start the process of a survey, or resume it; a suspended process loses it.

    Args:
        places: the storage.
        survey: the survey.

    Raises:
        ExplainedError: it runs already, too many run, or the disk is full.
    """
    with alone(places.root), explain_full_disk(survey.folder):
        if not survey.resumes:
            raise ExplainedError(SURVEY_WORDS["survey_wrong"])
        if survey.is_running:
            raise ExplainedError(SURVEY_WORDS["survey_runs"])
        check_turn(places)
        if standing_still(survey.answers):
            stop(survey)
        with alone(survey.answers), open(survey.folder / LOG, "wb") as log:
            start_worker(survey.answers, command(places, survey), log)


def check_turn(places: UserStorage) -> None:
    """Raise ExplainedError where as many surveys run as allowed."""
    if len(running(places)) >= settings().surveys:
        raise ExplainedError(SURVEY_WORDS["survey_many"].format(most=settings().surveys))


def command(places: UserStorage, survey: StoredSurvey) -> list[str]:
    """Make the command line of a survey's process."""
    asked = survey.asked
    assert asked is not None, "the page began it"
    return [
        *(sys.executable, "-m", "vitexplorer", "survey", asked.source, *model_of(places, asked)),
        *("--out", str(survey.answers), "--fit", asked.fit, "--workers", "1", "--rows-per-shard", str(ROWS)),
        *("--hours", str(settings().survey_hours)),
        *(["--size", asked.size] if asked.size else []),
        *(["--ask", ",".join(asked.questions)] if asked.questions else []),
    ]


def model_of(places: UserStorage, asked: Asked) -> list[str]:
    """Make the command's model options; ExplainedError for an unknown name or a file that cannot be loaded alone."""
    if not asked.model.startswith(MODEL):
        from vitexplorer.models.loading import check_known

        check_known(asked.model)  # the command takes paths too, and a visitor names none of this machine
        return ["--model", asked.model, *(["--weights", "random"] if asked.weights == "random" else [])]
    from vitexplorer.models.about import about

    file = places.file_of(asked.model)
    description = about(file) if file else None
    if file is None or description is None or not description.merged:
        raise ExplainedError(SURVEY_WORDS["survey_own_file"])
    return ["--model", description.base.model, "--weights", str(file)]


def stop(survey: StoredSurvey) -> None:
    """Stop a survey; finished shards stay.

    Its claim is revoked at once, so that a process which is suspended, on another machine or not the page's own ends as
    soon as it notices. A process of the page is ended here, with its children.
    """
    process, patience = process_of(survey.answers), 0.0 if standing_still(survey.answers) else _PATIENCE
    revoke(survey.answers)
    with suppress(ProcessLookupError):
        if process and survey.asked and os.getpgid(process.pid) == process.pid == os.getsid(process.pid):
            end_worker(process, patience)


def last_line(survey: StoredSurvey) -> str:
    """Return the last line of its process's output; empty for none."""
    try:
        with open(survey.folder / LOG, "rb") as log:
            log.seek(max(0, log.seek(0, os.SEEK_END) - _LOG_END))
            output = log.read().decode("utf-8", "replace")
    except OSError:
        return ""
    return next((line.strip() for line in reversed(output.replace("\r", "\n").splitlines()) if line.strip()), "")
