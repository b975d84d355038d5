"""Start page of a survey: images, questions and progress."""

from __future__ import annotations

import shutil
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vitexplorer.core.settings import settings
from vitexplorer.core.text import ExplainedError, in_language
from vitexplorer.models.catalog import title_of
from vitexplorer.service.amounts import duration
from vitexplorer.service.storage_limits import check_room
from vitexplorer.service.surveys.listing import done, listed
from vitexplorer.service.surveys.open_surveys import latest, shard_files
from vitexplorer.service.surveys.process import begin, check_turn, last_line, model_of
from vitexplorer.service.surveys.request import SurveyRequest
from vitexplorer.service.surveys.sources import (
    SCENES,
    Source,
    drawn,
    is_survey,
    of_this_machine,
    sent,
    sent_as,
    sent_before,
)
from vitexplorer.service.surveys.store import Asked, StoredSurvey, linked, new_survey
from vitexplorer.service.surveys.words import SURVEY_WORDS
from vitexplorer.storage.claims import begun_at, standing_still
from vitexplorer.ui.shell.address import Address
from vitexplorer.ui.shell.frame import frame_words

if TYPE_CHECKING:
    from vitexplorer.survey.card import Card
    from vitexplorer.survey.question import Question
    from vitexplorer.views.record import View

CLASSIFIER = "scenes_vit_patch16_192"
"""Model for a survey of the drawn scenes where the current model has no classifier"""


def opening(request: SurveyRequest) -> dict[str, Any]:
    """Return the texts, the questions and the existing surveys."""
    from vitexplorer.scenes.shapes import LABEL_NAMES
    from vitexplorer.survey.questions import QUESTIONS, small_views
    from vitexplorer.views import VIEWS

    def item(key: str, record: Question | View, cost: str = "") -> dict[str, str]:
        title = record.title.in_(request.language)
        return {"key": key, "title": title, "question": record.question.in_(request.language), "cost": cost}

    return {
        "words": in_language(SURVEY_WORDS, request.language),
        "closed": "" if settings().surveys else request.say("survey_closed"),
        "local": not (settings().hosted or request.places.hosted),
        "scenes": SCENES * len(LABEL_NAMES),
        "classifier": title_of(CLASSIFIER).in_(request.language),
        "questions": [item(key, QUESTIONS[key]) for key in QUESTIONS],
        "views": [item(key, VIEWS[key], request.say(f"ask_{VIEWS[key].runs}")) for key in small_views()],
        "surveys": listed(request),
        "frame": frame_words(request.language),
        "close": request.say("survey_close"),
    }


# -------------------------------------------------------------------------------------- choosing and beginning


def chosen(request: SurveyRequest, source: Source, **more: str) -> dict[str, Any]:
    """Return a sentence on the chosen images, with the fields `more`."""
    if source.images is None:
        sentence = request.say("survey_chosen_table", title=source.title)
    else:
        key = "survey_chosen" if source.folders else "survey_chosen_flat"
        sentence = request.say(key, title=source.title, images=f"{source.images:,}", folders=source.folders)
    return {"says": sentence, **more}


def look(request: SurveyRequest) -> dict[str, Any]:
    """Choose a folder or table of this machine, or open a survey of this machine."""
    source = of_this_machine(request.places, request.text("path"))
    if is_survey(source.path):
        return {"survey": linked(request.places, request.visitor, source.path).name}
    return chosen(request, source, path=str(source.path))


def unpacked(request: SurveyRequest, zipped: Path) -> dict[str, Any]:
    """Choose the images of an uploaded zip."""
    name = Path(request.text("name")).stem[:60] or "images"
    source = sent(request.places, request.visitor, zipped, name)
    return chosen(request, source, data=sent_as(source.path))


def check_open(request: SurveyRequest) -> None:
    """Check that a survey may start.

    Raises:
        ExplainedError: where surveys are closed, or the visitor's storage is full.
    """
    if not settings().surveys:
        raise ExplainedError(SURVEY_WORDS["survey_closed"])
    check_room(request.places, request.visitor)


def start(request: SurveyRequest) -> dict[str, Any]:
    """Start a survey.

    Raises:
        ExplainedError: where it cannot start.
    """
    from vitexplorer.survey.questions import QUESTIONS, small_views

    check_open(request)
    check_turn(request.places)
    questions = tuple(key for key in request.text("ask").split(",") if key in {*QUESTIONS, *small_views()})
    if not questions:
        raise ExplainedError(SURVEY_WORDS["survey_none_asked"])
    address = Address.exactly(**{name: request.text(name) for name in ("model", "weights", "fit", "size")})
    if request.text("data") == "scenes" and request.text("classifies") != "true":
        address = replace(address, model=CLASSIFIER, weights="trained", size="", fit="crop")
    request.engine.check_allowed(address.picture)
    picture = address.picture
    settled = Asked("", "", picture.model, picture.weights, picture.fit, picture.size, questions, time.time())
    model_of(request.places, settled)
    source = _source(request)  # last: images may have to be drawn
    settled = replace(settled, title=source.title, source=str(source.path))
    survey = new_survey(request.places, request.visitor, settled)
    try:
        begin(request.places, survey)
    except BaseException:  # another server was quicker, or the disk is full
        shutil.rmtree(survey.folder, ignore_errors=True)
        raise
    return {"survey": survey.name}


def _source(request: SurveyRequest) -> Source:
    if request.text("data") == "scenes":
        return drawn(request.places, request.visitor)
    if data := request.text("data"):
        return sent_before(request.places, request.visitor, data)
    if path := request.text("path"):
        return of_this_machine(request.places, path)
    raise ExplainedError(SURVEY_WORDS["survey_no_data"])


# -------------------------------------------------------------------------------------- progress


def state(request: SurveyRequest) -> dict[str, Any]:
    """Return the progress of a survey in words and numbers."""
    from vitexplorer.survey.card import read_card

    survey = request.survey
    running = survey.is_running
    base = {
        "name": survey.name,
        "title": survey.title.in_(request.language),
        "running": running,
        "picture_key": survey.picture_key,
    }
    try:
        card = read_card(survey.answers)
    except ExplainedError as error:
        if running:
            return {**base, "state": "starting", "says": request.say("survey_starting")}
        reason = last_line(survey) or error.text.in_(request.language)
        return {**base, "state": "failed", "says": request.say("survey_ended", why=reason), "resumes": survey.resumes}
    count = done(survey, card)
    total = card.rows_planned
    model = {"model": card.model, "model_title": title_of(card.model).in_(request.language)}
    progress = {**base, **model, "done": count, "total": total, "resumes": survey.resumes}
    if count >= total and not running and (damages := latest(survey).broken):
        sentence = " ".join(damage.in_(request.language) for damage in damages)
        return {**progress, "state": "stopped", "says": sentence}
    if count >= total:  # also while its process is still ending
        sentence = request.say("survey_done", total=f"{total:,}")
        return {**progress, "running": False, "state": "finished", "says": sentence}
    if not running:
        kind = "standing" if standing_still(survey.answers) else "stopped"
        key = {"standing": "survey_stands", "stopped": "survey_stopped"}[kind]
        return {**progress, "state": kind, "says": request.say(key, done=f"{count:,}", total=f"{total:,}")}
    return {**progress, "state": "running", "says": _pace(request, survey, card, count)}


def _pace(request: SurveyRequest, survey: StoredSurvey, card: Card, count: int) -> str:
    """Describe the number of finished images, the rate since the process started, and the time left."""
    total = card.rows_planned
    parts = [request.say("survey_going", done=f"{count:,}", total=f"{total:,}")]
    times = sorted(path.stat().st_mtime for path in shard_files(survey))
    if begun := begun_at(survey.answers):
        times = [time for time in times if time >= begun]
    if len(times) > 1 and times[-1] > times[0]:
        rate = card.rows_per_shard * (len(times) - 1) / (times[-1] - times[0])
        parts.append(request.say("survey_rate", rate=f"{rate:.3g}"))
        parts.append(request.say("survey_left", left=duration((total - count) / rate, request.language)))
    return " · ".join(parts)
