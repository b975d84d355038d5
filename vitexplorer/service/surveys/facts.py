"""Facts of a survey with rows: its columns, orders and names, and a summary line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vitexplorer.models.catalog import title_of
from vitexplorer.service.amounts import percentage
from vitexplorer.service.surveys.listing import listed
from vitexplorer.service.surveys.naming import values_of
from vitexplorer.service.surveys.request import SENTENCE, SurveyRequest
from vitexplorer.service.surveys.store import StoredSurvey
from vitexplorer.survey.conditions import Equals

if TYPE_CHECKING:
    from vitexplorer.survey.columns import Column
    from vitexplorer.survey.opened import Survey


def facts(request: SurveyRequest) -> dict[str, Any]:
    """Collect columns, orders, names and a summary line of a survey that has rows."""
    from vitexplorer.survey.answers import count, maps_of, numeric_columns

    stored, language = request.survey, request.language
    survey = request.opened
    columns = numeric_columns(survey)
    plain = [_column(request, one) for one in columns if one.shape is None]
    metrics = [_column(request, one) for one in columns if one.axes == ("blocks", "heads")]
    features = [_column(request, one) for key, one in survey.columns.items() if key.startswith("feature_")]
    predicted, labelled = "predicted" in survey.columns, _has_labels(survey)
    sentences = []
    if predicted and labelled:
        right, wrong = (count(survey, (Equals("correct", value),)) for value in (True, False))
        if right + wrong:
            sentences.append(request.say("survey_right", share=percentage(right / (right + wrong))))
    if survey.failed:
        sentences.append(request.say("survey_failed", failed=f"{survey.failed:,}"))
    sentences += [request.say("survey_left_out", why=why.in_(language)) for why in survey.card.left_out.values()]
    sentences += [why.in_(language) for why in (*survey.broken, *survey.made_again)]
    if stored.asked and stored.asked.is_made_again:
        sentences.append(request.say("survey_page_again"))
    return {
        "title": stored.title.in_(language),
        "says": request.joined(sentences),
        "columns": plain,
        "metrics": metrics,
        "features": features,
        "maps": [_column(request, one) for one in maps_of(survey)],
        "classes": predicted and labelled,
        "colours": _colours(request, predicted, labelled),
        "orders": _orders(request, plain, predicted, labelled, {one["key"] for one in features}),
        "values": values_of(request, survey),
        "others": _others(request, stored),
        "opens": opens(stored, survey),
        "captions": _captions(request, survey),
    }


def _has_labels(survey: Survey) -> bool:
    from vitexplorer.survey.answers import count

    return count(survey, (Equals("label", None),)) < survey.count


def _column(request: SurveyRequest, column: Column) -> dict[str, str]:
    return {"key": column.key, "title": column.title.in_(request.language)}


def _colours(request: SurveyRequest, predicted: bool, labelled: bool) -> list[dict[str, str]]:
    columns_present = {"correct": predicted and labelled, "label": labelled, "predicted": predicted}
    return [{"key": key, "title": request.say(f"chart_{key}")} for key, is_there in columns_present.items() if is_there]


def _orders(
    request: SurveyRequest, columns: list[dict[str, str]], predicted: bool, labelled: bool, features: set[str]
) -> list[dict[str, str]]:
    """List the orders of the gallery; the first is the default."""
    from vitexplorer.survey.answers.features import JOINT

    keys = []
    if predicted and labelled:
        keys += ["worst", "low_label"]
    keys += ["path"]
    if predicted:
        keys += ["unsure", "sure"]
    if features:
        keys += ["typical", "odd", "alike"]
    if JOINT in features:
        keys += [SENTENCE]
    orders = [{"key": key, "title": request.say(f"order_{key}")} for key in keys]
    for column in columns:
        for way in ("low", "high"):
            title = request.say(f"order_{way}", title=column["title"])
            orders.append({"key": f"{way}.{column['key']}", "title": title})
    return orders


def _others(request: SurveyRequest, stored: StoredSurvey) -> list[dict[str, str]]:
    """List the surveys to compare with."""
    return [
        {"key": line["name"], "title": f"{line['title']} · {line['model_title']}"}
        for line in listed(request)
        if line["name"] != stored.name and line["done"]
    ]


def opens(stored: StoredSurvey, survey: Survey) -> dict[str, str]:
    """Return the model's part of the address, for the other rooms."""
    if stored.asked:
        asked = stored.asked
        return {"model": asked.model, "weights": asked.weights, "fit": asked.fit, "size": asked.size}
    weights = "random" if survey.card.weights == "random" else "trained"
    return {"model": survey.card.model, "weights": weights, "fit": survey.card.fit, "size": ""}


def _captions(request: SurveyRequest, survey: Survey) -> list[dict[str, str]]:
    card = survey.card
    model = title_of(card.model).in_(request.language)
    count_text = request.say("where_count", count=f"{survey.count:,}", total=f"{card.rows_planned:,}")
    return [
        {"label": request.say("caption_model"), "value": f"{model} · {card.weights_source}"},
        {"label": request.say("gallery_title"), "value": count_text},
    ]


def counted(request: SurveyRequest) -> dict[str, Any]:
    """Count the selected images."""
    from vitexplorer.survey.answers import count

    return {"count": count(request.opened, request.where), "total": request.opened.count}
