"""What the columns, classes and truths of a survey are called, and what is said of one of its images."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from vitexplorer.core.format import measured
from vitexplorer.service.amounts import percentage
from vitexplorer.service.surveys.map_layouts import InMap
from vitexplorer.service.surveys.request import SurveyRequest

if TYPE_CHECKING:
    from vitexplorer.survey.conditions import Where
    from vitexplorer.survey.opened import Survey

COLOURS = 8
"""names that have a colour each"""


def title_of(request: SurveyRequest, survey: Survey, name: str) -> str:
    """What a column is called, also that of one head."""
    one = survey.asked(name)
    title = one.column.title.in_(request.language)
    if one.at is None or one.column.shape is None:
        return title
    block, head = divmod(one.at, one.column.shape[1])
    return f"{title} · {request.say('chart_head', block=block, head=head)}"


def axis_of(request: SurveyRequest, survey: Survey, name: str) -> str:
    """The same with its unit."""
    title, unit = title_of(request, survey, name), survey.asked(name).column.unit.in_(request.language)
    return f"{title}{('（{}）' if request.language == 'zh' else ' ({})').format(unit)}" if unit else title


def values_of(request: SurveyRequest, survey: Survey) -> dict[str, dict[str, str]]:
    """What a value is called where its column says a number or a truth; labels that name classes in both languages."""
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
    """A value as an address has it."""
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def groups_of(request: SurveyRequest, survey: Survey, by: str, groups: Sequence[object]) -> list[dict[str, str]]:
    """What the values of a column are called, which are the names of colours."""
    called = values_of(request, survey).get(by, {})
    return [{"key": key_of(group), "name": called.get(key_of(group), key_of(group))} for group in groups]


def coloured(
    request: SurveyRequest, survey: Survey, by: str, groups: Sequence[object]
) -> tuple[list[dict[str, str]], list[int]]:
    """The names of the colours of points, the most frequent first, and which of them each point has."""
    if not by or not groups:
        return [], [0] * len(groups)
    most = [group for group, _ in Counter(groups).most_common()]
    if by == "correct":
        most.sort(key=lambda group: (group is None, not group))
    shown = most[:COLOURS]
    names = groups_of(request, survey, by, shown)
    if len(most) > len(shown):
        names.append({"key": "", "name": request.say("chart_other")})
    at = {group: number for number, group in enumerate(shown)}
    return names, [at.get(group, len(shown)) for group in groups]


def shown_row(request: SurveyRequest, survey: Survey, row: Mapping[str, Any], note: str = "") -> dict[str, Any]:
    """An image as the gallery shows it."""
    values = values_of(request, survey)
    label, predicted, correct = row.get("label"), row.get("predicted"), row.get("correct")
    name = values["label"].get(label, label) if label is not None else ""
    said = values["predicted"].get(str(predicted), str(predicted)) if predicted is not None else ""
    if row.get("reason"):
        caption = request.say("gallery_unread")
    elif row.get("output") is not None:
        caption = request.say("gallery_output", label=name or row["path"], value=measured(row["output"]))
    elif not said:
        caption = name or str(row["path"])
    else:
        key = "gallery_taken" if correct is False else "gallery_said"
        caption = request.say(key, label=name, said=said, share=percentage(float(row["probability"])))
    reason = row.get("reason_zh" if request.language == "zh" else "reason") or row.get("reason") or ""
    return {
        "row": row["row"],
        "path": row["path"],
        "caption": f"{caption} · {note}" if note else caption,
        "correct": correct,
        "reason": reason,
    }


def python_of(request: SurveyRequest, call: str, where: Where = (), module: str = "answers") -> str:
    """The lines that give the same in a script: `call` has the name of a function and its arguments."""
    kept = request.survey
    folder = kept.answers if not request.places.hosted else kept.folder.name
    kinds = sorted({type(one).__name__ for one in where} - {InMap.__name__})
    more = f"from vitexplorer.survey.conditions import {', '.join(kinds)}\n" if kinds else ""
    if any(isinstance(one, InMap) for one in where):
        more += "from vitexplorer.survey.answers import within_map\n"
    line = f"{call.removesuffix(')')}, where={where!r})" if where else call
    return (
        "import vitexplorer as vx\n"
        f"from vitexplorer.survey.{module} import {call.partition('(')[0]}\n{more}\n"
        f'survey = vx.open_survey("{folder}")\n{line}'
    )
