"""What there is in a survey that has rows: its columns, orders and names, and what is said of it in a line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vitexplorer.service.amounts import percentage
from vitexplorer.service.surveys.choosing import conditions
from vitexplorer.service.surveys.listing import listed
from vitexplorer.service.surveys.naming import values_of
from vitexplorer.service.surveys.request import SurveyRequest
from vitexplorer.service.surveys.store import StoredSurvey

if TYPE_CHECKING:
    from vitexplorer.survey.columns import Column
    from vitexplorer.survey.opened import Survey


def facts(request: SurveyRequest) -> dict[str, Any]:
    """Of a survey that has rows: its columns and orders, and what is to be said of it in a line."""
    from vitexplorer.survey.answers import count, maps_of, numeric_columns
    from vitexplorer.survey.conditions import Equals

    kept, language = request.survey, request.language
    survey = request.opened
    columns = numeric_columns(survey)
    plain = [_named(request, one) for one in columns if one.shape is None]
    metrics = [_named(request, one) for one in columns if one.axes == ("blocks", "heads")]
    features = [_named(request, one) for key, one in survey.columns.items() if key.startswith("feature_")]
    predicted, labelled = "predicted" in survey.columns, _has_labels(survey)
    said = []
    if predicted and labelled:
        right, wrong = (count(survey, (Equals("correct", value),)) for value in (True, False))
        if right + wrong:
            said.append(request.say("survey_right", share=percentage(right / (right + wrong))))
    if survey.failed:
        said.append(request.say("survey_failed", failed=f"{survey.failed:,}"))
    said += [request.say("survey_left_out", why=why.in_(language)) for why in survey.card.left_out.values()]
    said += [why.in_(language) for why in (*survey.broken, *survey.made_again)]
    if kept.asked and kept.asked.is_made_again:
        said.append(request.say("survey_page_again"))
    return {
        "title": kept.title.in_(language),
        "says": ("" if language == "zh" else " ").join(said),
        "columns": plain,
        "metrics": metrics,
        "features": features,
        "maps": [_named(request, one) for one in maps_of(survey)],
        "classes": predicted and labelled,
        "colours": _colours(request, predicted, labelled),
        "orders": _orders(request, plain, predicted, labelled, bool(features)),
        "values": values_of(request, survey),
        "others": _others(request, kept),
        "opens": _opens(kept, survey),
        "captions": _captions(request, survey),
    }


def _has_labels(survey: Survey) -> bool:
    from vitexplorer.survey.answers import count
    from vitexplorer.survey.conditions import Equals

    return count(survey, (Equals("label", None),)) < survey.count


def _named(request: SurveyRequest, column: Column) -> dict[str, str]:
    return {"key": column.key, "title": column.title.in_(request.language)}


def _colours(request: SurveyRequest, predicted: bool, labelled: bool) -> list[dict[str, str]]:
    there = {"correct": predicted and labelled, "label": labelled, "predicted": predicted}
    return [{"key": key, "title": request.say(f"chart_{key}")} for key, is_there in there.items() if is_there]


def _orders(
    request: SurveyRequest, columns: list[dict[str, str]], predicted: bool, labelled: bool, features: bool
) -> list[dict[str, str]]:
    """What images can be sorted by; the first is what is shown first."""
    keys = []
    if predicted and labelled:
        keys += ["worst", "low_label"]
    keys += ["path"]
    if predicted:
        keys += ["unsure", "sure"]
    if features:
        keys += ["typical", "odd", "alike"]
    orders = [{"key": key, "title": request.say(f"order_{key}")} for key in keys]
    for column in columns:
        for way in ("low", "high"):
            title = request.say(f"order_{way}", title=column["title"])
            orders.append({"key": f"{way}.{column['key']}", "title": title})
    return orders


def _others(request: SurveyRequest, kept: StoredSurvey) -> list[dict[str, str]]:
    """Surveys that it can be held against."""
    return [
        {"key": one["name"], "title": f"{one['title']} · {one['model']}"}
        for one in listed(request)
        if one["name"] != kept.name and one["done"]
    ]


def _opens(kept: StoredSurvey, survey: Survey) -> dict[str, str]:
    """The model in the other rooms, as an address has it."""
    if kept.asked:
        asked = kept.asked
        return {"model": asked.model, "weights": asked.weights, "fit": asked.fit, "size": asked.size}
    weights = "random" if survey.card.weights == "random" else "trained"
    return {"model": survey.card.model, "weights": weights, "fit": survey.card.fit, "size": ""}


def _captions(request: SurveyRequest, survey: Survey) -> list[dict[str, str]]:
    card = survey.card
    said = request.say("where_count", count=f"{survey.count:,}", total=f"{card.rows_planned:,}")
    return [
        {"label": request.say("caption_model"), "value": f"{card.model} · {card.weights_source}"},
        {"label": request.say("gallery_title"), "value": said},
    ]


def counted(request: SurveyRequest) -> dict[str, Any]:
    """How many images are chosen."""
    from vitexplorer.survey.answers import count

    survey = request.opened
    return {"count": count(survey, conditions(survey, request.text("where"))), "total": survey.count}
