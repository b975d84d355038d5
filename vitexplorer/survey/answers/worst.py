"""Where is the model most wrong? Images whose labelled class it gives least; without labels, where it wavers most."""

from __future__ import annotations

from vitexplorer.core.text import Text, UnsupportedError
from vitexplorer.survey.answers.gallery import Row, gallery
from vitexplorer.survey.conditions import Where, Within
from vitexplorer.survey.opened import Survey
from vitexplorer.survey.questions.prediction import ONE_NUMBER


def worst_column(survey: Survey, where: Where = ()) -> str:
    """The column that says it, the smallest first: `label_probability`, or `margin` where no image has a label.

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
    """A page of rows, the worst first; images without the number are left out."""
    column = worst_column(survey, where)
    return gallery(survey, (*where, Within(column)), column, False, offset, limit)
