"""The start page of a survey: its images, its questions, its progress."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vitexplorer.core.settings import settings
from vitexplorer.core.text import ExplainedError
from vitexplorer.service.amounts import duration
from vitexplorer.service.storage_limits import check_room
from vitexplorer.service.surveys.listing import done, listed
from vitexplorer.service.surveys.open_surveys import latest, shard_files
from vitexplorer.service.surveys.process import begin, check_turn, last_words, model_of
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
from vitexplorer.service.surveys.store import Asked, StoredSurvey, linked, new_survey, now
from vitexplorer.service.surveys.words import SURVEY_WORDS, words_of
from vitexplorer.storage.claims import begun_at, standing_still
from vitexplorer.ui.shell.address import Address
from vitexplorer.ui.shell.frame import frame_words

if TYPE_CHECKING:
    from vitexplorer.survey.card import Card
    from vitexplorer.survey.question import Question
    from vitexplorer.views.record import View

CLASSIFIER = "scenes_vit_patch16_192"
"""of the drawn scenes, for a model on the screen that says nothing of an image"""


def opening(asking: SurveyRequest) -> dict[str, Any]:
    """The words, the questions, and the surveys that there are."""
    from vitexplorer.scenes.shapes import LABEL_NAMES
    from vitexplorer.survey.questions import QUESTIONS, small_views
    from vitexplorer.views import VIEWS

    def asked(key: str, record: Question | View, cost: str = "") -> dict[str, str]:
        title, question = record.title.in_(asking.language), record.question.in_(asking.language)
        return {"key": key, "title": title, "question": question, "cost": cost}

    return {
        "words": words_of(asking.language),
        "closed": "" if settings().surveys else asking.say("survey_closed"),
        "local": not (settings().hosted or asking.places.hosted),
        "scenes": SCENES * len(LABEL_NAMES),
        "classifier": CLASSIFIER,
        "questions": [asked(key, QUESTIONS[key]) for key in QUESTIONS],
        "views": [asked(key, VIEWS[key], asking.say(f"ask_{VIEWS[key].runs}")) for key in small_views()],
        "surveys": listed(asking),
        "frame": frame_words(asking.language),
        "close": asking.say("survey_close"),
    }


# -------------------------------------------------------------------------------------- choosing and beginning


def chosen(asking: SurveyRequest, source: Source, **more: str) -> dict[str, Any]:
    """What was found of images that were named, for whoever begins with them."""
    if source.images is None:
        says = asking.say("survey_chosen_table", title=source.title)
    else:
        key = "survey_chosen" if source.folders else "survey_chosen_flat"
        says = asking.say(key, title=source.title, images=f"{source.images:,}", folders=source.folders)
    return {"says": says, **more}


def look(asking: SurveyRequest) -> dict[str, Any]:
    """A folder, a table or a survey of this machine."""
    source = of_this_machine(asking.places, asking.text("path"))
    if is_survey(source.path):
        return {"survey": linked(asking.places, asking.visitor, source.path).name}
    return chosen(asking, source, path=str(source.path))


def unpacked(asking: SurveyRequest, zipped: Path) -> dict[str, Any]:
    """The images of a zip that was sent."""
    name = Path(asking.text("name")).stem[:60] or "images"
    source = sent(asking.places, asking.visitor, zipped, name)
    return chosen(asking, source, data=sent_as(source.path))


def check_open(asking: SurveyRequest) -> None:
    """Raises ExplainedError where no survey can be begun here, or its visitor keeps as much as one may."""
    if not settings().surveys:
        raise ExplainedError(SURVEY_WORDS["survey_closed"])
    check_room(asking.places, asking.visitor)


def start(asking: SurveyRequest) -> dict[str, Any]:
    """Begin a survey. Raises ExplainedError where it cannot be."""
    from vitexplorer.survey.questions import QUESTIONS, small_views

    check_open(asking)
    check_turn(asking.places)
    questions = tuple(key for key in asking.text("ask").split(",") if key in {*QUESTIONS, *small_views()})
    if not questions:
        raise ExplainedError(SURVEY_WORDS["survey_none_asked"])
    address = Address.exactly(**{name: asking.text(name) for name in ("model", "weights", "fit", "size")})
    if asking.text("data") == "scenes" and asking.text("classifies") != "true":
        address = replace(address, model=CLASSIFIER, weights="trained", size="", fit="crop")
    asking.engine.check_allowed(address.picture)
    picture = address.picture
    asked = Asked("", "", picture.model, picture.weights, picture.fit, picture.size, questions, now())
    model_of(asking.places, asked)
    source = _source(asking)  # last: images may have to be drawn
    asked = replace(asked, title=source.title, source=str(source.path))
    survey = new_survey(asking.places, asking.visitor, asked)
    try:
        begin(asking.places, survey)
    except BaseException:  # another server was quicker, or the disk is full now
        shutil.rmtree(survey.folder, ignore_errors=True)
        raise
    return {"survey": survey.name}


def _source(asking: SurveyRequest) -> Source:
    if asking.text("data") == "scenes":
        return drawn(asking.places, asking.visitor)
    if data := asking.text("data"):
        return sent_before(asking.places, asking.visitor, data)
    if path := asking.text("path"):
        return of_this_machine(asking.places, path)
    raise ExplainedError(SURVEY_WORDS["survey_no_data"])


# -------------------------------------------------------------------------------------- how far it is


def state(asking: SurveyRequest) -> dict[str, Any]:
    """How far a survey is, in words and numbers."""
    from vitexplorer.survey.card import read_card

    survey = asking.survey
    running = survey.is_running
    base = {
        "name": survey.name,
        "title": survey.title.in_(asking.language),
        "running": running,
        "door": survey.picture_key,
    }
    try:
        card = read_card(survey.answers)
    except ExplainedError as error:
        if running:
            return {**base, "state": "starting", "says": asking.say("survey_starting")}
        why = last_words(survey) or error.text.in_(asking.language)
        return {**base, "state": "failed", "says": asking.say("survey_ended", why=why), "resumes": survey.resumes}
    count, total = done(survey, card), card.rows_planned
    found = {**base, "model": card.model, "done": count, "total": total, "resumes": survey.resumes}
    if count >= total and not running and (damaged := latest(survey).broken):
        said = " ".join(why.in_(asking.language) for why in damaged)
        return {**found, "state": "stopped", "says": said}
    if count >= total:
        said = asking.say("survey_done", total=f"{total:,}")
        return {**found, "running": False, "state": "finished", "says": said}  # its process may still be ending
    if not running:
        kind = "standing" if standing_still(survey.answers) else "stopped"
        key = {"standing": "survey_stands", "stopped": "survey_stopped"}[kind]
        return {**found, "state": kind, "says": asking.say(key, done=f"{count:,}", total=f"{total:,}")}
    return {**found, "state": "running", "says": _pace(asking, survey, card, count)}


def _pace(asking: SurveyRequest, survey: StoredSurvey, card: Card, count: int) -> str:
    """How many images there are, how fast they come since its process began, and how long the rest will take."""
    total = card.rows_planned
    parts = [asking.say("survey_going", done=f"{count:,}", total=f"{total:,}")]
    times = sorted(path.stat().st_mtime for path in shard_files(survey))
    if begun := begun_at(survey.answers):
        times = [time for time in times if time >= begun]
    if len(times) > 1 and times[-1] > times[0]:
        rate = card.rows_per_shard * (len(times) - 1) / (times[-1] - times[0])
        parts.append(asking.say("survey_rate", rate=f"{rate:.3g}"))
        parts.append(asking.say("survey_left", left=duration((total - count) / rate, asking.language)))
    return " · ".join(parts)
