"""Display names of a survey's columns, classes and values, and captions of its images."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from vitexplorer.core.format import measured
from vitexplorer.service.amounts import percentage
from vitexplorer.service.surveys.choosing import InGroup, InMap
from vitexplorer.service.surveys.request import SurveyRequest
from vitexplorer.service.surveys.store import StoredSurvey

if TYPE_CHECKING:
    from vitexplorer.survey.conditions import Where
    from vitexplorer.survey.opened import Survey

COLOURS = 8
"""Most names with a colour of their own"""


def title_of(request: SurveyRequest, name: str) -> str:
    """Return the title of a column, or of one head in it."""
    one = request.opened.asked(name)
    title = one.column.title.in_(request.language)
    if one.at is None or one.column.shape is None:
        return title
    block, head = divmod(one.at, one.column.shape[1])
    return f"{title} · {request.say('chart_head', block=block, head=head)}"


def axis_of(request: SurveyRequest, name: str) -> str:
    """Return the title of a column with its unit."""
    title, unit = title_of(request, name), request.opened.asked(name).column.unit.in_(request.language)
    return f"{title}{('（{}）' if request.language == 'zh' else ' ({})').format(unit)}" if unit else title


def values_of(request: SurveyRequest, survey: Survey) -> dict[str, dict[str, str]]:
    """Return the names of values that a column stores as numbers, booleans or English labels."""
    none = request.say("chart_unlabelled")
    correct = {"true": request.say("chart_yes"), "false": request.say("chart_no"), "": none}
    classes = [name.in_(request.language) for name in survey.card.class_names]
    labels = {name.en: name.in_(request.language) for name in survey.card.class_names}
    return {
        "correct": correct,
        "label": {**labels, "": none},
        "predicted": {str(at): name for at, name in enumerate(classes)},
    }


def key_of(value: object) -> str:
    """Write a value as the page's address does."""
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def groups_of(request: SurveyRequest, by: str, groups: Sequence[object]) -> list[dict[str, str]]:
    """Name the values of a column that colour the points."""
    called = values_of(request, request.opened).get(by, {})
    return [{"key": key_of(group), "name": called.get(key_of(group), key_of(group))} for group in groups]


def coloured(request: SurveyRequest, by: str, groups: Sequence[object]) -> tuple[list[dict[str, str]], list[int]]:
    """Return the names of the points' colours, the most frequent first, and the index of each point's colour."""
    if not by or not groups:
        return [], [0] * len(groups)
    most = [group for group, _ in Counter(groups).most_common()]
    if by == "correct":
        most.sort(key=lambda group: (group is None, not group))
    coloured_groups = most[:COLOURS]
    names = groups_of(request, by, coloured_groups)
    if len(most) > len(coloured_groups):
        names.append({"key": "", "name": request.say("chart_other")})
    at = {group: number for number, group in enumerate(coloured_groups)}
    return names, [at.get(group, len(coloured_groups)) for group in groups]


def gallery_row(request: SurveyRequest, row: Mapping[str, Any], note: str = "") -> dict[str, Any]:
    """Make the gallery's row of an image."""
    values = values_of(request, request.opened)
    label, predicted, correct = row.get("label"), row.get("predicted"), row.get("correct")
    name = values["label"].get(label, label) if label is not None else ""
    answer = values["predicted"].get(str(predicted), str(predicted)) if predicted is not None else ""
    if row.get("reason"):
        caption = request.say("gallery_unread")
    elif row.get("output") is not None:
        caption = request.say("gallery_output", label=name or row["path"], value=measured(row["output"]))
    elif not answer:
        caption = name or str(row["path"])
    else:
        key = "gallery_taken" if correct is False else "gallery_said"
        caption = request.say(key, label=name, said=answer, share=percentage(float(row["probability"])))
    reason = row.get("reason_zh" if request.language == "zh" else "reason") or row.get("reason") or ""
    return {
        "row": row["row"],
        "path": row["path"],
        "caption": f"{caption} · {note}" if note else caption,
        "correct": correct,
        "reason": reason,
    }


def python_of(request: SurveyRequest, call: str, where: Where = (), other: StoredSurvey | None = None) -> str:
    """Write the Python lines that give the same result; `call` is a function of `survey`, and of `other` if given."""
    module = "compared" if other else "answers"
    opened = ""
    for name, stored in (("survey", request.survey), ("other", other)):
        if stored:
            folder = stored.folder.name if request.places.hosted else stored.answers
            opened += f'{name} = vx.open_survey("{folder}")\n'
    kinds = sorted({type(condition).__name__ for condition in where} - {InMap.__name__, InGroup.__name__})
    more = f"from vitexplorer.survey.conditions import {', '.join(kinds)}\n" if kinds else ""
    for kind, function in ((InGroup, "in_group"), (InMap, "within_map")):
        if any(isinstance(condition, kind) for condition in where):
            more += f"from vitexplorer.survey.answers import {function}\n"
    line = f"{call.removesuffix(')')}, where={where!r})" if where else call
    return (
        "import vitexplorer as vx\n"
        f"from vitexplorer.survey.{module} import {call.partition('(')[0]}\n{more}\n"
        f"{opened}{line}"
    )
