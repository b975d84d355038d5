"""The process that a survey of the page is: it goes on when the page is closed, and when the server ends.

It is the command `python -m vitexplorer survey`, which goes on where an earlier one of the same folder ended.
"""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import psutil

from vitexplorer.core.settings import settings
from vitexplorer.core.text import ExplainedError
from vitexplorer.service.surveys.store import Asked, StoredSurvey, running
from vitexplorer.service.surveys.words import SURVEY_WORDS
from vitexplorer.service.user_storage import MODEL, UserStorage
from vitexplorer.storage.atomic_writes import explain_full_disk
from vitexplorer.storage.claims import alone, give, process_of, revoke, standing_still

LOG = "worker.log"
ROWS = 32
"""images of a shard: so often there is something new to look at, and no more is lost where it is stopped"""
_PATIENCE = 5.0
"""seconds in which a process may end by itself"""
_LAST_WORDS = 4000
"""bytes"""

_children: set[subprocess.Popen] = set()


def begin(places: UserStorage, survey: StoredSurvey) -> None:
    """Start the process of a survey, or one that goes on with it.

    One whose process stands still is taken from it. Raises ExplainedError where it runs, where as many run as may, or
    where the disk is full.
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
            child = subprocess.Popen(
                command(places, survey),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=Path(__file__).resolve().parents[3],
                start_new_session=True,
            )
            _clear_ended()
            _children.add(child)
            give(survey.answers, child.pid)


def check_turn(places: UserStorage) -> None:
    """Raises ExplainedError where as many surveys run as may."""
    if len(running(places)) >= settings().surveys:
        raise ExplainedError(SURVEY_WORDS["survey_many"].format(most=settings().surveys))


def command(places: UserStorage, survey: StoredSurvey) -> list[str]:
    """What a survey of the page is started with."""
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
    """How the command names the model. Raises ExplainedError for a file that it cannot load by itself, or no name."""
    if not asked.model.startswith(MODEL):
        from vitexplorer.models.loading import check_known

        check_known(asked.model)  # the command takes paths too, and a visitor names none of this machine
        return ["--model", asked.model, *(["--weights", "random"] if asked.weights == "random" else [])]
    from vitexplorer.models.about import about

    file = places.file_of(asked.model)
    said = about(file) if file else None
    if file is None or said is None or not said.merged:
        raise ExplainedError(SURVEY_WORDS["survey_own_file"])
    return ["--model", said.base.model, "--weights", str(file)]


def stop(survey: StoredSurvey) -> None:
    """End a survey; what is written stays.

    Nobody has it any more at once: a process that stands still, is somebody's own or is on another machine ends as soon
    as it notices. One of the page is ended here, with those that it began.
    """
    process, waits = process_of(survey.answers), 0.0 if standing_still(survey.answers) else _PATIENCE
    revoke(survey.answers)
    with suppress(psutil.Error):
        if process is None or not survey.asked or not os.getpgid(process.pid) == process.pid == os.getsid(process.pid):
            return
        family = [process, *process.children(recursive=True)]
        for one in family:
            one.terminate()
        _, left = psutil.wait_procs(family, waits)
        for one in left:
            one.kill()
        psutil.wait_procs(left, _PATIENCE)
    _clear_ended()


def _clear_ended() -> None:
    """Asking a child that has ended how it did is what makes the system forget it."""
    _children.difference_update([child for child in list(_children) if child.poll() is not None])


def last_words(survey: StoredSurvey) -> str:
    """The last line that its process said; empty for none."""
    try:
        with open(survey.folder / LOG, "rb") as log:
            log.seek(max(0, log.seek(0, os.SEEK_END) - _LAST_WORDS))
            said = log.read().decode("utf-8", "replace")
    except OSError:
        return ""
    return next((line.strip() for line in reversed(said.replace("\r", "\n").splitlines()) if line.strip()), "")
