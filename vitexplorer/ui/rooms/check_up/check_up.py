"""Component of a check-up: ways to begin, checks that are ticked off, and the verdict with its proof."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from vitexplorer.core.text import Language, Text
from vitexplorer.service.jobs import Step
from vitexplorer.ui.kit.served_files import ServedFile, cached_file, png
from vitexplorer.ui.kit.widget import Widget
from vitexplorer.ui.panel.figure_panel import figure_file
from vitexplorer.ui.rooms.check_up.words import say, words
from vitexplorer.ui.shell.frame import FrameData

if TYPE_CHECKING:
    from vitexplorer.core.types import Result
    from vitexplorer.diagnosis import Diagnosis, Finding
    from vitexplorer.diagnosis.examples import Example

THEMES = ("light", "dark")


class Check(BaseModel):
    """One part of a check-up."""

    title: str
    state: str = "waiting"
    """waiting, working or done"""


class FindingData(BaseModel):
    """One finding, or a healthy verdict."""

    cause: str = ""
    title: str = ""
    sentence: str = ""
    sure: str = ""
    change: str = ""
    """Measure before and after; empty where no repair was tried"""
    before: float | None = None
    """Accuracy before, 0-1; None for another measure"""
    after: float | None = None
    mend: str = ""
    """Advice in one sentence"""
    python: str = ""
    """Line that gets the repair; empty where there is none"""
    figures: dict[str, ServedFile] = {}
    """Layouts of the proof by theme, see `panel.documents`; empty without one"""
    facts: list[dict[str, str]] = []


class ExampleData(BaseModel):
    """One example."""

    key: str
    title: str
    story: str
    picture: ServedFile
    """First picture as the model takes it"""
    label: str
    """Name of that picture's label, in a sentence"""


class CheckUpData(FrameData):
    """State of the room.

    With `state` working the data hold `checks` or `waits` alone, and with refused also the reason.
    """

    state: str = "begin"
    """begin, working, done or refused"""
    language: str = ""
    model: str = ""
    """Sentence that names the current model"""
    examples: list[ExampleData] = []
    local: bool = True
    """True where folders of this machine may be named"""
    checks: list[Check] = []
    waits: str = ""
    refused: str = ""
    verdict: str = ""
    """healthy, found or nothing"""
    findings: list[FindingData] = []
    """Findings, the surest first; of a healthy model one entry with its answers"""
    undecided: list[dict[str, str]] = []
    """Causes that cannot be told: `title` and `why`"""
    checked: str = ""


class CheckUp(Widget):
    """Component of the check-up.

    Events: `check` with the `key` of an example, with `files`, a zip, with `text`, a folder of this machine, or with
    `what`, "weights" for the weights without pictures; `stop`.
    """

    data_model = CheckUpData
    sends = ("check", "stop")


def begin_data(model: str, local: bool, language: Language, next_room: dict[str, str]) -> CheckUpData:
    """Return the data before a check-up; `next_room` are the fields of the button to the next room."""
    from vitexplorer.diagnosis.examples import EXAMPLES

    return CheckUpData(
        **next_room,
        language=language,
        question=say("question", language),
        reading=say("lead", language),
        misleads=say("pitfall", language),
        model=say("model", language, model=model),
        local=local,
        examples=[_example(key, example, language) for key, example in EXAMPLES.items()],
        words=words(language),
    )


def _example(key: str, example: Example, language: Language) -> ExampleData:
    content, label = _drawn(example)
    return ExampleData(
        key=key,
        title=example.title.in_(language),
        story=example.story.in_(language),
        picture=cached_file(content, "image.png"),
        label=say("labelled", language, label=label),
    )


@lru_cache
def _drawn(example: Example) -> tuple[bytes, Text]:
    """Draw the picture of an example once for all visitors; return it as a PNG with the name of its label."""
    pixels, label = example.first()
    return png(pixels), label


def working_data(step: Step, language: Language) -> CheckUpData:
    """Return the progress of a check-up, or of what comes before it."""
    from vitexplorer.diagnosis import PARTS

    if step.place:
        return CheckUpData(state="working", waits=say("waiting", language, place=step.place))
    if step.doing not in PARTS:
        waits = step.doing.in_(language) if step.doing else say("getting", language)
        return CheckUpData(state="working", waits=waits)
    states = ("done",) * step.done + ("working",) + ("waiting",) * len(PARTS)
    return CheckUpData(
        state="working",
        checks=[
            Check(title=part.in_(language), state=state)
            for part, state in zip(PARTS, states[: len(PARTS)], strict=True)
        ],
    )


def refused_data(reason: str) -> CheckUpData:
    """Return the reason why there is no verdict."""
    return CheckUpData(state="refused", refused=reason)


def done_data(report: Diagnosis, python: str, language: Language) -> CheckUpData:
    """Return the verdict with its proofs; `python` are the lines that make the same report."""
    from vitexplorer.diagnosis import CAUSES

    findings = [_finding(number, finding, language) for number, finding in enumerate(report.findings)]
    if not findings and report.proof is not None:
        findings = [FindingData(**_figures(report.proof, language))]
    counts = {"count": len(report.checked), "pictures": report.pictures, "seconds": f"{report.seconds:.0f}"}
    return CheckUpData(
        state="done",
        reading=report.verdict.in_(language),
        verdict="found" if report.findings else "healthy" if report.healthy else "nothing",
        findings=findings,
        undecided=[
            {"title": CAUSES[cause].title.in_(language), "why": why.in_(language)}
            for cause, why in report.undecided.items()
        ],
        checked=say("checked", language, **counts),
        python=python,
    )


def _finding(number: int, finding: Finding, language: Language) -> FindingData:
    from vitexplorer.diagnosis import CAUSES
    from vitexplorer.diagnosis.answers import ACCURACY
    from vitexplorer.diagnosis.sentences import amount, measure_text, share_text

    data = FindingData(
        cause=finding.cause,
        title=CAUSES[finding.cause].title.in_(language),
        sentence=finding.text.in_(language),
        sure=say("sure", language, share=share_text(finding.certainty)),
        mend=CAUSES[finding.cause].mend.in_(language),
        python=_repair(number, finding, language),
        **(_figures(finding.proof, language) if finding.proof is not None else {}),
    )
    if finding.before is not None and finding.after is not None:
        numbers = (finding.before, finding.after)
        is_share = finding.measure == ACCURACY
        before, after = (amount(finding.measure, value) for value in numbers)
        data.change = say("change", language, measure=measure_text(finding.measure), before=before, after=after)
        data.before, data.after = numbers if is_share else (None, None)
    return data


def _figures(proof: Result, language: Language) -> dict[str, Any]:
    """Draw a proof in both themes, so that a change of theme asks nothing."""
    drawn = {theme: figure_file(proof, language, theme) for theme in THEMES}
    return {"figures": {theme: file for theme, (file, _) in drawn.items()}, "facts": drawn["light"][1]}


def _repair(number: int, finding: Finding, language: Language) -> str:
    """Write the line that gets the repair, with what it is."""
    repaired = finding.repaired
    if repaired is None:
        return ""
    kinds = {list: "repair_labels", dict: "repair_weights"}
    kind = "repair_model" if hasattr(repaired, "module") else kinds.get(type(repaired), "repair_pictures")
    return f"report.findings[{number}].repaired  # {say(kind, language)}"
