"""Registry of the questions, keyed by file name; a view is a question, too, by its key."""

from __future__ import annotations

from typing import get_type_hints

from vitexplorer.core.registry import Registry, unknown_name
from vitexplorer.core.types import MapResult, MatrixResult
from vitexplorer.evaluation.methods import view_of
from vitexplorer.survey.question import Question
from vitexplorer.survey.view_question import view_question
from vitexplorer.views import VIEWS

QUESTIONS: Registry[Question] = Registry("question", __name__, "QUESTION")


def small_views() -> tuple[str, ...]:
    """Return the views whose result is one map or table, small enough for a survey unless the grid is large."""
    return tuple(key for key in VIEWS if get_type_hints(VIEWS[key].compute).get("return") in (MapResult, MatrixResult))


def question_of(key: str) -> Question:
    """Look up a question by name or by a view's key, with settings as in `attention_map:block=3;head=mean`.

    Raises UnknownNameError, which suggests the nearest name.
    """
    if key in set(QUESTIONS):
        return QUESTIONS[key]
    if view_of(key) in set(VIEWS):
        return view_question(key)
    raise unknown_name("question", key, [*QUESTIONS, *VIEWS])
