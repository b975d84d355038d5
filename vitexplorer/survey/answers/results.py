"""What the figures of a survey have in common: whose numbers they are, and over which images."""

from __future__ import annotations

from vitexplorer.core.text import Text, same
from vitexplorer.core.types import Provenance
from vitexplorer.survey.conditions import Condition, OneOf, Where, Within
from vitexplorer.survey.opened import Survey


def provenance_of(survey: Survey, beside: Survey | None = None) -> Provenance:
    """The model of the survey, and of the one on the right where two are compared; there is no one image."""
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


def said_of(survey: Survey, where: Where) -> tuple[Text, ...]:
    """Over which images a number is."""
    folder = same(survey.card.source.rstrip("/").rpartition("/")[2]) if survey.card.source else LIST
    said = OVER.format(count=survey.count - survey.failed, source=folder)
    return (said, *([ONLY.format(what=_together([condition_text(survey, one) for one in where]))] if where else []))


LIST = Text("a list", "列表")
OVER = Text("Over {count} images of {source}.", "统计范围：{source} 的 {count} 张图像。")
ONLY = Text("Only those with {what}.", "仅限：{what}。")
MORE = Text(" and {count} more", " 等另外 {count} 个")
FEW = 3
"""values that a sentence names"""


def condition_text(survey: Survey, condition: Condition) -> Text:
    """A condition in words."""
    one = survey.asked(condition.column)
    place = "" if one.at is None else f" {one.name}"
    name = Text(one.column.title.en + place, one.column.title.zh + place)
    if isinstance(condition, Within):
        low = "−∞" if condition.low is None else f"{condition.low:.4g}"
        high = "∞" if condition.high is None else f"{condition.high:.4g}"
        return Text("{name} from {low} to {high}", "{name} 从 {low} 到 {high}").format(name=name, low=low, high=high)
    values = condition.values if isinstance(condition, OneOf) else (condition.value,)
    shown = ", ".join("–" if value is None else str(value) for value in values[:FEW])
    more = MORE.format(count=len(values) - FEW) if len(values) > FEW else same("")
    return Text("{name} {values}{more}", "{name} {values}{more}").format(name=name, values=shown, more=more)


def _together(texts: list[Text]) -> Text:
    return Text(", ".join(text.en for text in texts), "，".join(text.zh for text in texts))
