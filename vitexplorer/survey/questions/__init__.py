"""The questions there are, by their file's name; a view is one too, by its key."""

from __future__ import annotations

from vitexplorer.evaluation.methods import view_of
from vitexplorer.registry import Registry, unknown_name
from vitexplorer.survey.question import Question
from vitexplorer.survey.view_question import view_question
from vitexplorer.views import VIEWS

QUESTIONS: Registry[Question] = Registry("question", __name__, "QUESTION")


def question_of(key: str) -> Question:
    """A question by its name or a view's key, `attention_map:block=3;head=mean` with settings.

    Raises UnknownNameError, with the nearest name, where there is neither.
    """
    if key in set(QUESTIONS):
        return QUESTIONS[key]
    if view_of(key) in set(VIEWS):
        return view_question(key)
    raise unknown_name("question", key, [*QUESTIONS, *VIEWS])
