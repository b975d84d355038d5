"""Subject of a fuzz test, an entry point for hostile or damaged input, and the outcome of a case."""

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
    """Entry point with its cases."""

    name: str
    cases: SearchStrategy[Any]
    use: Callable[[Any], None]
    """Called with a drawn case; it may raise only ExplainedError"""


def outcome(subject: Subject, case: Any) -> Outcome:
    """Return "right", "sentence", or a description of the fault."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            subject.use(case)
    except ExplainedError as error:
        text = error.text
        is_sentence = text.en.strip().endswith((".", "?", "!")) and text.zh.strip() and "\n" not in text.en
        return "sentence" if is_sentence else f"no sentence: {text.en[:100]!r}"
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:100]}"
    return "right"
