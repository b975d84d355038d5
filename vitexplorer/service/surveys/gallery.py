"""Gallery: a page of a survey's images in one of its orders."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from vitexplorer.core.text import ExplainedError
from vitexplorer.service.amounts import percentage
from vitexplorer.service.answer_threads import in_thread
from vitexplorer.service.surveys.facts import opens
from vitexplorer.service.surveys.naming import gallery_row, values_of
from vitexplorer.service.surveys.open_surveys import PAIRS
from vitexplorer.service.surveys.request import SENTENCE, SurveyRequest
from vitexplorer.service.surveys.words import SURVEY_WORDS
from vitexplorer.survey.conditions import Equals, Where

PAGE = 120
"""Images of one answer"""
FARTHEST = 100_000
"""Largest offset of an answer"""
_COLUMNS = {
    "path": (None, False),
    "worst": ("probability", True),
    "low_label": ("label_probability", False),
    "unsure": ("margin", False),
    "sure": ("probability", True),
}
"""Column of each order, and True where the largest comes first"""
Noted = list[tuple[int, str]]
"""Numbers of rows, each with the value that it is sorted by"""


def gallery(request: SurveyRequest) -> dict[str, Any]:
    """Return a page of images; `whole` is set where there are no more."""
    from vitexplorer.survey import answers

    survey, where, order = request.opened, request.where, request.text("order")
    if order in _WHOLE:
        noted = [] if request.number("offset", FARTHEST) else _WHOLE[order](request, where, order)
        rows = {row["row"]: row for row in answers.rows_at(survey, [number for number, _ in noted])}
        page = [gallery_row(request, rows[number], note) for number, note in noted if number in rows]
        return {"rows": page, "whole": True}
    if order == "worst":
        where = (*where, Equals("correct", False))
    way, _, column = order.partition(".")
    if order in _COLUMNS:
        by, descending = _COLUMNS[order]
    elif way in ("low", "high") and column:
        by, descending = column, way == "high"
    else:
        raise ExplainedError(SURVEY_WORDS["survey_wrong"])
    offset, limit = request.number("offset", FARTHEST), request.number("limit", PAGE)
    rows = answers.gallery(survey, where, by, descending, offset, limit)
    return {"rows": [gallery_row(request, row) for row in rows]}


async def read_sentence(request: SurveyRequest) -> None:
    """Compute the vector of the request's sentence, if it has one, by the survey's own model.

    Raises:
        ExplainedError: the model is not here any more, reads no texts, or refuses the sentence.
    """
    sentence = request.text(SENTENCE)
    if not sentence:
        return
    from vitexplorer.models.texts.text_tower import embed_text

    state = opens(request.survey, request.opened)
    model = await request.engine.model(state["model"], "random" if state["weights"] == "random" else "trained")
    request.vector = (await in_thread(embed_text, model, [sentence]))[0]


def _by_typicality(request: SurveyRequest, where: Where, order: str) -> Noted:
    from vitexplorer.survey.answers import most_typical, most_unusual

    find = most_typical if order == "typical" else most_unusual
    return [(one.row, f"{one.cosine:.2f}") for one in find(request.opened, where=where, limit=PAGE).images]


def _by_sentence(request: SurveyRequest, where: Where, order: str) -> Noted:
    from vitexplorer.survey.answers import nearest_to_text

    if request.vector is None:
        raise ExplainedError(SURVEY_WORDS["gallery_sentence_none"])
    found = nearest_to_text(request.opened, request.vector, where=where, limit=PAGE)
    return [(one.row, f"{one.cosine:.2f}") for one in found.images]


def _alike(request: SurveyRequest, where: Where, order: str) -> Noted:
    """List near duplicates, pair after pair."""
    from vitexplorer.survey.answers import near_duplicates

    found = near_duplicates(request.opened, where=where, threshold=PAIRS, limit=PAGE // 2)
    return [
        (row, request.say("gallery_pair", share=f"{pair.cosine:.3f}"))
        for pair in found.pairs
        for row in (pair.row, pair.other)
    ]


def _changed(request: SurveyRequest, where: Where, order: str) -> Noted:
    """List images that only one of two surveys is right about."""
    from vitexplorer.survey.compared import compare_surveys

    other = request.opened_beside
    compared = compare_surveys(request.opened, other, where=where, limit=PAGE)
    found = compared.lost_rows if order == "lost" else compared.won_rows
    names = values_of(request, other)["predicted"]
    noted = []
    for one in found:
        answer, share = str(one.other_predicted), percentage(one.other_probability or 0.0)
        noted.append((one.row, request.say("gallery_other", said=names.get(answer, answer), share=share)))
    return noted


_WHOLE: dict[str, Callable[[SurveyRequest, Where, str], Noted]] = {
    "typical": _by_typicality,
    "odd": _by_typicality,
    "alike": _alike,
    SENTENCE: _by_sentence,
    "lost": _changed,
    "won": _changed,
}
"""Orders that fit on one page"""
