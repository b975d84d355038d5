"""Images on which the model is most wrong: lowest probability of the label, or without labels the lowest margin."""

from __future__ import annotations

from vitexplorer.core.text import Text, UnsupportedError
from vitexplorer.survey.answers.gallery import Row, gallery
from vitexplorer.survey.conditions import Where, Within
from vitexplorer.survey.opened import Survey
from vitexplorer.survey.questions.prediction import ONE_NUMBER


def worst_column(survey: Survey, where: Where = ()) -> str:
    """Return the column to sort by, ascending: `label_probability`, or `margin` if no image has a label.

    Raises UnsupportedError for a model without a classifier, or with one output.
    """
    if "output" in survey.columns:
        raise UnsupportedError(ONE_NUMBER.format(model=survey.card.model))
    if "label_probability" not in survey.columns:
        raise UnsupportedError(
            Text("{model} has no classifier, so it is never wrong.", "{model} 没有分类头，因此无所谓对错。").format(
                model=survey.card.model
            )
        )
    (labelled,) = survey.sql("SELECT count(label_probability) FROM {rows}", where).fetchall()[0]
    return "label_probability" if labelled else "margin"


def worst(survey: Survey, where: Where = (), limit: int = 60, offset: int = 0) -> tuple[Row, ...]:
    """Return a page of rows, worst first; images without the number are left out."""
    column = worst_column(survey, where)
    return gallery(survey, (*where, Within(column)), column, False, offset, limit)
