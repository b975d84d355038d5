"""Findings of a survey: its groups of images with names, near duplicates, and images that fit nowhere."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from vitexplorer.service.surveys.choosing import ALONE
from vitexplorer.service.surveys.naming import key_of, values_of
from vitexplorer.service.surveys.open_surveys import groups_in, pairs_in
from vitexplorer.service.surveys.request import SurveyRequest

if TYPE_CHECKING:
    from vitexplorer.survey.answers.groups import Group
    from vitexplorer.survey.opened import Survey


def findings(request: SurveyRequest) -> dict[str, Any]:
    """Return the groups, each with a name, a count and its middle image, and a sentence on what was found."""
    survey = request.opened
    if not any(key.startswith("feature_") for key in survey.columns):
        return {"says": "", "groups": []}
    found, pairs = groups_in(survey), pairs_in(survey)
    parts = [
        request.say("found_groups", groups=len(found.groups)) if found.groups else request.say("found_no_groups"),
        request.say("found_pairs", pairs=pairs) if pairs else request.say("found_no_pairs"),
        *([request.say("found_alone", alone=len(found.alone))] if found.alone else []),
    ]
    listed = ("、" if request.language == "zh" else ", ").join(parts)
    sentence = request.say("found_line", images=survey.count, found=listed)
    names = _names(request, survey, found.groups)
    groups = [
        {"key": str(number), "name": name, "count": len(group.rows), "row": group.middle}
        for number, (name, group) in enumerate(zip(names, found.groups, strict=True))
    ]
    if found.alone:
        groups.append(
            {"key": ALONE, "name": request.say("group_alone"), "count": len(found.alone), "row": found.alone[0]}
        )
    return {"says": request.joined([sentence, *(note.in_(request.language) for note in found.notes)]), "groups": groups}


def _names(request: SurveyRequest, survey: Survey, groups: tuple[Group, ...]) -> list[str]:
    """Name groups by their predicted class, else by their label, else by number; a second of one name by both."""
    values = values_of(request, survey)
    names: list[str] = []
    for number, group in enumerate(groups, 1):
        column, value = ("predicted", group.predicted) if group.predicted is not None else ("label", group.label)
        key = key_of(value)
        names.append(values[column].get(key, key) if key else request.say("group_number", number=number))
    counts = Counter(names)
    return [
        request.say("group_again", name=name, number=number) if counts[name] > 1 else name
        for number, name in enumerate(names, 1)
    ]
