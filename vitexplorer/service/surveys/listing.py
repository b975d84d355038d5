"""List of a visitor's surveys: title, model and number of finished images."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from vitexplorer.core.text import ExplainedError, Language
from vitexplorer.models.catalog import title_of
from vitexplorer.service.surveys.open_surveys import shard_files
from vitexplorer.service.surveys.request import SurveyRequest
from vitexplorer.service.surveys.store import StoredSurvey, surveys_of

if TYPE_CHECKING:
    from vitexplorer.survey.card import Card

MOST = 100
"""Most surveys listed"""


def listed(request: SurveyRequest) -> list[dict[str, Any]]:
    """List the visitor's surveys, newest first."""
    return [_line(survey, request.language) for survey in surveys_of(request.places, request.visitor)[:MOST]]


def _line(survey: StoredSurvey, language: Language) -> dict[str, Any]:
    from vitexplorer.survey.card import read_card

    model, count, total = (survey.asked.model if survey.asked else ""), 0, 0
    with suppress(ExplainedError):  # not begun, or damaged: it can still be deleted
        card = read_card(survey.answers)
        model, count, total = card.model, done(survey, card), card.rows_planned
    return {
        "name": survey.name,
        "title": survey.title.in_(language),
        "model": model,
        "model_title": title_of(model).in_(language),
        "done": count,
        "total": total,
        "begun": survey.begun,
        "running": survey.is_running,
    }


def done(survey: StoredSurvey, card: Card) -> int:
    """Count the finished images, with the last shard, which may have fewer, as a full one."""
    return min(card.rows_planned, len(shard_files(survey)) * card.rows_per_shard)
