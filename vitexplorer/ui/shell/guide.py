"""The guided path beside the real rooms: what a step says, asks and wants done; the rooms show its picture themselves.

How far a person is stays in their browser; the step that is looked at stands in the address.
"""

from __future__ import annotations

from gradio.data_classes import GradioModel

from vitexplorer.core.text import ExplainedError, Language
from vitexplorer.learn import STEPS, Numbers, Step
from vitexplorer.learn.telling import OnScreen, sayer
from vitexplorer.ui.kit.language import word
from vitexplorer.ui.kit.served_files import ServedFile
from vitexplorer.ui.kit.widget import Widget

_WORDS = (
    "learn",
    "learn_close",
    "learn_before",
    "learn_next",
    "learn_of",
    "learn_question",
    "learn_right",
    "learn_wrong",
    "learn_to_do",
    "learn_done",
    "learn_lead",
    "learn_wait",
    "learn_handout",
    "learn_handout_title",
    "learn_handout_wait",
)


class StepItem(GradioModel):
    """Facts of a step before there are numbers."""

    key: str
    title: str
    state: dict[str, str]
    light: str


class StepText(GradioModel):
    """A step with the numbers of what is on the screen."""

    key: str
    says: str = ""
    formula: str = ""
    asks: str = ""
    choices: list[str] = []
    right: int = 0
    reveal: str = ""
    action: str = ""
    becomes: dict[str, str] = {}
    leads: dict[str, str] = {}
    refused: str = ""
    """why there are no numbers"""


class GuideData(GradioModel):
    """The path."""

    steps: list[StepItem] = []
    shown: StepText | None = None
    """None until a step asks for its numbers"""
    handout: ServedFile | None = None
    """the path on paper, where that was asked for"""
    words: dict[str, str] = {}


class Guide(Widget):
    """Fires `go` with `query`, the parameters of a step's state, `tell` with `step` when its numbers are wanted,
    and `handout` with `paper` when the whole path is, on paper.
    """

    data_model = GuideData
    stem = "guide"
    sends = ("go", "tell", "handout")


def guide_data(language: Language, shown: StepText | None = None, handout: ServedFile | None = None) -> GuideData:
    """The path in one language."""
    steps = [
        StepItem(key=step.key, title=step.title.in_(language), state=dict(step.state), light=step.light)
        for step in STEPS
    ]
    return GuideData(steps=steps, shown=shown, handout=handout, words={key: word(key, language) for key in _WORDS})


def step_named(key: object) -> Step | None:
    """A step by its key, or None."""
    return next((step for step in STEPS if step.key == key), None)


def step_text(step: Step, seen: OnScreen, language: Language) -> StepText:
    """A step with its numbers filled in; a sentence where the model on the screen has none."""
    try:
        numbers = step.numbers(seen)
    except ExplainedError as error:
        return StepText(key=step.key, refused=error.text.in_(language))
    return filled(step, numbers, language)


def filled(step: Step, numbers: Numbers, language: Language) -> StepText:
    """A step's sentences with these numbers."""
    say = sayer(numbers, language)
    return StepText(
        key=step.key,
        says=say(step.says),
        formula=say(step.formula),
        asks=say(step.question.asks),
        choices=[say(choice) for choice in step.question.choices],
        right=step.question.right(numbers),
        reveal=say(step.question.reveal),
        action=say(step.action.asks),
        becomes={name: _pattern(pattern, numbers) for name, pattern in step.action.becomes.items()},
        leads=dict(step.action.leads or {}),
    )


def _pattern(pattern: str, numbers: Numbers) -> str:
    """A pattern with its numbers; its own braces are none of a name's."""
    for name, value in numbers.items():
        pattern = pattern.replace(f"{{{name}}}", str(value))
    return pattern
