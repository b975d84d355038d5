"""One way in for what a stranger sends or a torn disk holds, and what came of a case of it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from hypothesis.strategies import SearchStrategy

from vitexplorer.core.text import ExplainedError

Outcome = Literal["right", "sentence"] | str


@dataclass(frozen=True)
class Subject:
    """One way in."""

    name: str
    cases: SearchStrategy[Any]
    use: Callable[[Any], None]
    """with a drawn case; raises an ExplainedError or nothing"""


def outcome(subject: Subject, case: Any) -> Outcome:
    """right, sentence, or what went wrong."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            subject.use(case)
    except ExplainedError as error:
        said = error.text
        whole = said.en.strip().endswith((".", "?", "!")) and said.zh.strip() and "\n" not in said.en
        return "sentence" if whole else f"no sentence: {said.en[:100]!r}"
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:100]}"
    return "right"
