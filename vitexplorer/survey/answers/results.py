"""Common parts of a survey's figures: provenance, and notes on the images included."""

from __future__ import annotations

from vitexplorer.core.text import COMMA, Text, same
from vitexplorer.core.types import Provenance
from vitexplorer.survey.conditions import Condition, OneOf, Where, Within
from vitexplorer.survey.opened import Survey


def provenance_of(survey: Survey, beside: Survey | None = None) -> Provenance:
    """Return the provenance of a figure: the survey's model, and the right survey's if two are compared."""
    card = survey.card
    return Provenance(
        model=card.model,
        weights=card.weights,
        weights_source=card.weights_source,
        fit=card.fit,
        input_size=card.size,
        resized=card.resized,
        beside=None if beside is None else provenance_of(beside),
    )


def scope_notes(survey: Survey, where: Where) -> tuple[Text, ...]:
    """Return the notes on the images that a figure includes."""
    folder = same(survey.card.source.rstrip("/").rpartition("/")[2]) if survey.card.source else LIST
    scope = OVER.format(count=survey.count - survey.failed, source=folder)
    if not where:
        return (scope,)
    return scope, ONLY.format(what=COMMA.join(condition_text(survey, condition) for condition in where))


LIST = Text("a list", "列表")
OVER = Text("Over {count:image} of {source}.", "统计范围：{source} 的 {count} 幅图像。")
ONLY = Text("Only those with {what}.", "仅限：{what}。")
MORE = Text(" and {count} more", " 及另外 {count} 个")
FEW = 3
"""Number of values that a sentence lists"""


def condition_text(survey: Survey, condition: Condition) -> Text:
    """Describe a condition in words."""
    asked = survey.asked(condition.column)
    place = "" if asked.at is None else f" {asked.name}"
    name = Text(asked.column.title.en + place, asked.column.title.zh + place)
    if isinstance(condition, Within):
        low = "−∞" if condition.low is None else f"{condition.low:.4g}"
        high = "∞" if condition.high is None else f"{condition.high:.4g}"
        return Text("{name} from {low} to {high}", "{name} 从 {low} 到 {high}").format(name=name, low=low, high=high)
    values = condition.values if isinstance(condition, OneOf) else (condition.value,)
    listed = ", ".join("–" if value is None else str(value) for value in values[:FEW])
    more = MORE.format(count=len(values) - FEW) if len(values) > FEW else same("")
    return Text("{name} {values}{more}", "{name} {values}{more}").format(name=name, values=listed, more=more)
