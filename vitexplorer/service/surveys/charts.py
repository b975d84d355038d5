"""Data of a survey's charts, which `charts.js`, `classes.js` and `beside.js` draw."""

from __future__ import annotations

from typing import Any

import numpy as np

from vitexplorer.core.text import ExplainedError
from vitexplorer.models import catalog
from vitexplorer.service.amounts import percentage
from vitexplorer.service.surveys.choosing import counting
from vitexplorer.service.surveys.naming import axis_of, coloured, groups_of, python_of, title_of, values_of
from vitexplorer.service.surveys.open_surveys import map_of
from vitexplorer.service.surveys.request import SurveyRequest
from vitexplorer.service.surveys.words import SURVEY_WORDS
from vitexplorer.survey.conditions import Equals, Where

BINS = 40
POINTS = 3000
_NOTHING = {"empty": True, "says": ""}


def _number(value: float) -> str:
    return f"{value:.3g}".replace("-", "\u2212")


def histogram(request: SurveyRequest) -> dict[str, Any]:
    """Count the bars of a column's histogram."""
    from vitexplorer.survey import answers

    survey, where, column, by = request.opened, request.where, request.text("x"), request.text("by")
    found = answers.histogram(survey, column, where, BINS, by or None)
    total = int(found.counts.sum()) + found.others
    if not total:
        return _NOTHING
    names = groups_of(request, by, found.groups) if by else [{"key": "", "name": ""}]
    order = sorted(range(len(names)), key=lambda at: by == "correct" and ("true", "false", "").index(names[at]["key"]))
    series = [{**names[at], "counts": found.counts[at].tolist()} for at in order if found.counts[at].any()]
    if found.others:
        rest = answers.histogram(survey, column, where, BINS).counts[0] - found.counts.sum(0)
        series.append({"key": "", "name": request.say("chart_other"), "counts": rest.tolist()})
    edges, title = found.edges.tolist(), title_of(request, column)
    low, high = _number(edges[0]), _number(edges[-1])
    return {
        "title": axis_of(request, column),
        "edges": edges,
        "series": series,
        "says": request.say("chart_histogram_of", title=title, count=f"{total:,}", low=low, high=high),
        "python": python_of(request, f'histogram(survey, "{column}")', where),
    }


def scatter(request: SurveyRequest) -> dict[str, Any]:
    """Collect the points of two columns, and a grid of counts where there are too many to show."""
    from vitexplorer.survey import answers

    survey, where, by = request.opened, request.where, request.text("by")
    x, y = request.text("x"), request.text("y")
    found = answers.scatter(survey, x, y, where, POINTS, by=by or None)
    if not found.total:
        return _NOTHING
    names, colours = coloured(request, by, found.groups or [None] * len(found.rows))
    grid = {"counts": found.density.tolist(), "x": found.x_edges.tolist(), "y": found.y_edges.tolist()}
    axes = {
        name: {"low": float(edges[0]), "high": float(edges[-1]), "title": axis_of(request, column)}
        for name, edges, column in (("x", found.x_edges, x), ("y", found.y_edges, y))
    }
    titles = {"x": title_of(request, x), "y": title_of(request, y)}
    return {
        **axes,
        "grid": grid if found.total > len(found.rows) else None,
        "points": _points(found.x, found.y, colours),
        "colours": names,
        "says": request.say("chart_scatter_of", **titles, count=f"{found.total:,}"),
        "python": python_of(request, f'scatter(survey, "{x}", "{y}")', where),
    }


def _points(x: np.ndarray, y: np.ndarray, colours: list[int]) -> list[list[float]]:
    return [
        [float(f"{one:.6g}"), float(f"{other:.6g}"), colour] for one, other, colour in zip(x, y, colours, strict=True)
    ]


def places(request: SurveyRequest) -> dict[str, Any]:
    """Place the selected images on the map of a feature."""
    from vitexplorer.survey.answers import rows_at

    survey, where, feature, by = request.opened, request.where, request.text("feature"), request.text("by")
    laid = map_of(survey, feature)
    found = laid.points
    query = "SELECT row FROM {rows} AND row IN (SELECT unnest($candidates))"
    matching = {row for (row,) in survey.sql(query, where, candidates=found.rows.tolist()).fetchall()}
    selected = np.array([row in matching for row in found.rows.tolist()], bool)
    if not selected.any():
        return _NOTHING
    rows = found.rows[selected].tolist()
    groups = [row.get(by) for row in rows_at(survey, rows)] if by else [None] * len(rows)
    names, colours = coloured(request, by, groups)
    shares = request.say("chart_explained", share=percentage(sum(found.shares))) if found.shares else ""
    ends = [(float(axis.min()), float(axis.max())) for axis in found.places.T]
    return {
        **{name: {"low": low, "high": high, "title": ""} for name, (low, high) in zip("xy", ends, strict=True)},
        "grid": None,
        "points": _points(*found.places[selected].T, colours),
        "colours": names,
        "says": " ".join(
            [
                request.say(
                    "chart_map_of",
                    count=f"{len(rows):,}",
                    feature=title_of(request, feature),
                    method=request.say("chart_pca"),
                    explained=shares,
                ),
                *(note.in_(request.language) for note in found.notes),
                *([request.say("chart_map_all", count=f"{len(laid.rows):,}")] if found.notes else []),
            ]
        ).strip(),
        "python": python_of(request, f'map_2d(survey, "{feature}")'),
    }


def heads(request: SurveyRequest) -> dict[str, Any]:
    """Average each head over the images, with its interval."""
    from vitexplorer.survey.answers import count, per_head

    survey, where, metric = request.opened, request.where, request.text("metric")
    found = per_head(survey, metric, where)
    if not np.isfinite(found.values).any():
        return _NOTHING
    says = request.say("chart_heads_of", title=title_of(request, metric), count=f"{int(np.max(found.counts)):,}")
    says = request.joined([says, *_sampled(request, count(survey, (*where, Equals("reason", None))))])
    return {
        "title": axis_of(request, metric),
        "mean": _table(found.values),
        "low": _table(found.low),
        "high": _table(found.high),
        "says": says,
        "python": python_of(request, f'per_head(survey, "{metric}")', where),
    }


def _sampled(request: SurveyRequest, total: int) -> list[str]:
    """Write the notes on numbers of heads that are read from a sample of `total` images."""
    from vitexplorer.survey.answers.chosen import sample_notes
    from vitexplorer.survey.answers.per_head import MOST_READ

    return [note.in_(request.language) for note in sample_notes(total, MOST_READ)]


def maps(request: SurveyRequest) -> dict[str, Any]:
    """Average a view's map over the images, beside the map of one of them."""
    from vitexplorer.survey.answers import map_of_image, mean_map, rows_at

    survey, where = request.opened, request.where
    name, row = request.text("map"), counting(request.text("row"), -1)
    found = mean_map(survey, name, where)
    if not found.counts.any():
        return _NOTHING
    own = map_of_image(survey, name, row)
    title, count = title_of(request, name), f"{int(found.counts.max()):,}"
    sentences = [request.say("chart_maps_of", title=title, count=count)]
    sentences += [request.say("chart_maps_own", path=rows_at(survey, [row])[0]["path"])] if own is not None else []
    known = {"rows", "cols", "blocks", "heads", "tokens"}
    axes = found.column.axes if set(found.column.axes or ()) <= known else None
    call = f'mean_map(survey, "{name}")'
    return {
        "title": axis_of(request, name),
        "mean": _table(found.values),
        "own": None if own is None else _table(own),
        "names": [request.say("chart_maps_mean"), request.say("chart_maps_image")],
        "axes": [request.say(f"chart_axis_{axis}") for axis in axes or ("rows", "cols")],
        "says": request.joined([*sentences, *(note.in_(request.language) for note in found.notes)]),
        "python": python_of(request, call, where),
    }


def _table(values: np.ndarray) -> list[list[float | None]]:
    return [[float(value) if np.isfinite(value) else None for value in row] for row in values]


def classes(request: SurveyRequest) -> dict[str, Any]:
    """Count the right images of each class, and the predictions for the others."""
    from vitexplorer.survey.answers.per_class import MOST_TAKEN, per_class

    survey, where = request.opened, request.where
    found, called = per_class(survey, where), values_of(request, survey)["label"]
    rows = []
    for one in found.classes:
        key = one.label or ""
        taken = [
            {"key": str(pair.predicted), "name": pair.name.in_(request.language), "count": pair.count}
            for pair in found.pairs
            if pair.label == one.label
        ]
        share = {"right": one.accuracy, "low": one.low, "high": one.high}
        rows.append(
            {"key": key, "name": called.get(key, key), "count": one.count, "taken": taken[:MOST_TAKEN], **share}
        )
    if not rows:
        return _NOTHING
    return {
        "rows": rows,
        "says": request.say("class_of", count=len(rows)),
        "python": python_of(request, "per_class(survey)", where),
    }


def beside(request: SurveyRequest) -> dict[str, Any]:
    """Compare with another survey of the same images: answers and heads that changed."""
    from vitexplorer.survey.compared import compare_surveys

    left, where, right = request.opened, request.where, request.opened_beside
    found = compare_surveys(left, right, where=where, limit=0)
    names = {side: catalog.title_of(one.card.model) for side, one in (("left", left), ("right", right))}
    if left.card.model == right.card.model:
        names = {side: SURVEY_WORDS[f"beside_{side}"] for side in ("left", "right")}
    says = request.say("beside_same", count=f"{found.matched:,}")
    sentences = [says]
    if found.difference is not None and found.low is not None and found.high is not None:
        a, b = (percentage((found.both_right + own) / found.judged) for own in (found.lost, found.won))
        ends = {"low": _percent(found.low), "high": _percent(found.high), "difference": _percent(found.difference)}
        sentences.append(request.say("beside_difference", a=a, b=b, **names, **ends))
    if found.other_answer is not None and found.matched:
        share = percentage(1 - found.other_answer / found.matched)
        sentences.append(request.say("beside_agree", share=share))
    sentences += [note.in_(request.language) for note in found.left_out]
    sides = [
        {"order": order, "title": request.say("beside_gained", model=model, count=f"{count:,}"), "count": count}
        for order, model, count in (("lost", names["left"], found.lost), ("won", names["right"], found.won))
    ]
    moved = _moved(request, where)
    sentences += _sampled(request, found.matched) if moved else []
    return {
        "says": says,
        "sentences": sentences,
        "sides": sides,
        "heads": moved,
        **_moved_numbers(request, moved),
        "python": python_of(request, "compare_surveys(survey, other)", where, request.beside),
    }


def _percent(share: float) -> str:
    return f"{100 * share:+.1f} %".replace("-", "\u2212")


def _moved(request: SurveyRequest, where: Where) -> dict[str, Any] | None:
    from vitexplorer.survey.compared import moved_heads

    metric = request.text("metric")
    if not metric:
        return None
    try:
        found = moved_heads(request.opened, request.opened_beside, metric, where)
    except ExplainedError:
        return None
    return {
        "title": axis_of(request, metric),
        "difference": _table(found.values),
        "low": _table(found.low),
        "high": _table(found.high),
    }


def _moved_numbers(request: SurveyRequest, moved: dict[str, Any] | None) -> dict[str, Any]:
    """Write the moved heads as a table."""
    if moved is None:
        return {"head": [], "rows": []}
    head = [request.say(key) for key in ("chart_block", "chart_heads_axis", "beside_more", "where_low", "where_high")]
    rows = [
        [block, at, value, moved["low"][block][at], moved["high"][block][at]]
        for block, line in enumerate(moved["difference"])
        for at, value in enumerate(line)
        if value is not None
    ]
    return {"head": head, "rows": rows}
