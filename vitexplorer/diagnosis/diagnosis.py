"""Records of a check-up: findings with their evidence, and what cannot be told."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic_core import to_jsonable_python

from vitexplorer.core.format import counted
from vitexplorer.core.summaries import Summarised, Summary
from vitexplorer.core.text import Language, Text
from vitexplorer.core.types import Result
from vitexplorer.diagnosis.causes import CAUSES
from vitexplorer.diagnosis.sentences import NO_TIME

_HEALTHY = Text("Healthy: nothing that can be checked here is wrong.", "健康：此处能检查的项目均无异常。")
_NOT_ALL = Text(
    "Nothing that was checked is wrong, but the time ran out before {count:check was/checks were} made.",
    "已检查的项目均无异常，但时间用完，另有 {count} 项未检查。",
)
_NOTHING = Text("Nothing could be checked.", "没有可以检查的项目。")


@dataclass(frozen=True)
class Finding:
    """One cause of a model's failure, with its evidence."""

    cause: str
    """A key of `causes.CAUSES`"""
    text: Text
    certainty: float
    """0-1; the findings of a check-up are sorted by it"""
    measure: str = ""
    """"accuracy" where labels are given, otherwise the name of what was compared"""
    before: float | None = None
    """The measure as things are"""
    after: float | None = None
    """The measure with the repair; None where there is none"""
    repaired: Any = None
    """Replacement of what is wrong: a callable, a list of labels, a state dict or a model; None where there is none"""
    evidence: Mapping[str, Any] = field(default_factory=dict)
    """Numbers behind the sentence; `pictures` says how many were used"""
    proof: Result | None = None
    """Figure data of the finding; None where there is nothing to draw"""

    @property
    def sentence(self) -> str:
        """The finding in English; `text` has both languages."""
        return self.text.en


@dataclass(frozen=True)
class Diagnosis(Summarised):
    """Result of `vx.diagnose`."""

    model: str
    """Name of the model; empty where pictures alone were judged"""
    findings: tuple[Finding, ...]
    """Surest first"""
    undecided: Mapping[str, Text]
    """Causes that cannot be told here, each with the reason"""
    checked: tuple[str, ...]
    """Causes that were checked"""
    pictures: int
    """Number of pictures that were used"""
    seconds: float
    proof: Result | None = None
    """Figure data of a check-up without findings: some pictures with the answers to them; None without pictures"""

    @property
    def healthy(self) -> bool:
        """True if something could be checked and nothing is wrong."""
        return bool(self.checked) and not self.findings

    @property
    def verdict(self) -> Text:
        """The surest finding in one sentence, or that there is none."""
        if self.findings:
            return self.findings[0].text
        if not self.checked:
            return _NOTHING
        late = sum(why == NO_TIME for why in self.undecided.values())
        return _NOT_ALL.format(count=late) if late else _HEALTHY

    def figure(self, number: int = 0, *, language: Language = "en", theme: str = "light") -> Any:
        """Draw the proof of a finding, 0 for the surest; without findings, answers to some of the pictures.

        Returns a plotly figure, None where there is nothing to draw. Raises IndexError for a finding that there is not.
        """
        from vitexplorer.figures import render  # imported late: it takes a second

        proof = self.findings[number].proof if self.findings else self.proof
        return None if proof is None else render(proof, language=language, theme=theme)

    def to_json(self) -> str:
        """Return the report as JSON; repairs, which are code or weights, are only said to exist."""
        return json.dumps(self.record("en"), ensure_ascii=False, indent=2)

    def record(self, language: Language) -> dict[str, Any]:
        """Return the report as plain numbers and sentences."""
        return {
            "model": self.model,
            "healthy": self.healthy,
            "verdict": self.verdict.in_(language),
            "findings": [
                {
                    "cause": found.cause,
                    "title": CAUSES[found.cause].title.in_(language),
                    "sentence": found.text.in_(language),
                    "certainty": round(found.certainty, 3),
                    "measure": found.measure,
                    "before": found.before,
                    "after": found.after,
                    "has_repair": found.repaired is not None,
                    "evidence": to_jsonable_python(found.evidence),
                }
                for found in self.findings
            ],
            "undecided": {cause: reason.in_(language) for cause, reason in self.undecided.items()},
            "checked": list(self.checked),
            "pictures": self.pictures,
            "seconds": round(self.seconds, 2),
        }

    def to_markdown(self) -> str:
        """Return the report as Markdown, for a bug report."""
        rows = [f"# Check-up of {self._of}", "", self.verdict.en, ""]
        if self.findings:
            rows += ["| cause | certainty | measure | before | after |", "|---|---|---|---|---|"]
            rows += [
                f"| {CAUSES[found.cause].title.en} (`{found.cause}`) | {found.certainty:.2f} | {found.measure} "
                f"| {_number(found.before)} | {_number(found.after)} |"
                for found in self.findings
            ]
            rows += ["", *(f"- {found.sentence}" for found in self.findings), ""]
        rows.append(f"Checked: {', '.join(self.checked) or 'nothing'}.")
        if self.undecided:
            rows += ["", "Not decided:", ""]
            rows += [f"- `{cause}`: {reason.en}" for cause, reason in self.undecided.items()]
        return "\n".join(rows) + "\n"

    @property
    def _of(self) -> str:
        return self.model or "the pictures"

    def _summary(self) -> Summary:
        return Summary(
            f"Check-up of {self._of}: {self.verdict.en}",
            [(found.cause, _row(found)) for found in self.findings[:4]]
            + [
                ("checked", f"{len(self.checked)} causes, on {counted(self.pictures)} pictures"),
                ("undecided", f"{len(self.undecided)} causes"),
            ],
            ".findings, .undecided, .figure(), .to_markdown(), .to_json()",
        )


def _row(found: Finding) -> str:
    change = f"{found.measure} {_number(found.before)} -> {_number(found.after)}" if found.measure else "no repair"
    return f"certainty {found.certainty:.2f}, {change}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"
