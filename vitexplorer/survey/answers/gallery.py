"""Rows of a survey: their number, a page of them in a given order, and the worst first."""

from __future__ import annotations

from collections.abc import Mapping

from vitexplorer.core.text import SettingError, Text, UnsupportedError
from vitexplorer.survey.answers.bounds import is_count
from vitexplorer.survey.conditions import Where, Within
from vitexplorer.survey.filtering import MOST as MOST_ROW
from vitexplorer.survey.opened import Survey
from vitexplorer.survey.questions.prediction import ONE_NUMBER

MOST, FARTHEST = 500, 1_000_000
"""Limit for the rows of a page, and for its first row"""

Row = Mapping[str, object]
"""Scalar columns of an image by name, with `row`, its number in the survey"""


def count(survey: Survey, where: Where = ()) -> int:
    """Count the rows that match every condition, unreadable images included."""
    return int(survey.sql("SELECT count(*) FROM {rows}", where).fetchall()[0][0])


def gallery(
    survey: Survey,
    where: Where = (),
    order: str | None = None,
    descending: bool = False,
    offset: int = 0,
    limit: int = 60,
) -> tuple[Row, ...]:
    """Return a page of rows; ties, and all rows without an order, are in the order of the survey.

    Args:
        survey: the survey.
        where: conditions on the rows.
        order: a column, or None. Rows without a value come last in either direction.
        descending: True for the largest first.
        offset: rows to skip, at most `FARTHEST`.
        limit: rows of the page, at most `MOST`.

    Raises:
        SettingError: a number is out of range, or `order` is a list.
        UnknownNameError: there is no such column.
    """
    if not is_count(offset, 0, FARTHEST) or not is_count(limit, 0, MOST):
        raise SettingError(
            Text(
                "A page has at most {most} rows and begins with row {farthest} at the latest: narrow the conditions.",
                "一页最多 {most} 行，起始行不超过 {farthest}：请收紧筛选条件。",
            ).format(most=MOST, farthest=FARTHEST)
        )
    by, columns = "", []
    if order is not None:
        column = survey.asked(order)
        if column.kind == "list":
            raise SettingError(
                Text(
                    "Rows cannot be sorted by a list: name one place of {name}, as in {name}[0,0].",
                    "不能按列表排序：请指定 {name} 中的一个位置，例如 {name}[0,0]。",
                ).format(name=column.name)
            )
        value = "nullif({0}, 'NaN'::FLOAT)" if column.kind == "number" else "{0}"
        by, columns = f"{value} {'DESC' if descending else 'ASC'} NULLS LAST, ", [column]
    query = f"SELECT row FROM {{rows}} ORDER BY {by}row LIMIT $most OFFSET $skipped"
    rows = survey.sql(query, where, more=columns, most=limit, skipped=offset).fetchall()
    return rows_at(survey, [row for (row,) in rows])


def rows_at(survey: Survey, numbers: list[int]) -> tuple[Row, ...]:
    """Return rows by their numbers, in this order; missing ones are left out."""
    numbers = [number for number in numbers if is_count(number, 0, MOST_ROW)]
    if not numbers:
        return ()
    result = survey.sql("SELECT rows.* FROM {rows} AND row IN (SELECT unnest($wanted))", wanted=numbers)
    names = [column[0] for column in result.description]
    rows = {row["row"]: row for row in (dict(zip(names, values, strict=True)) for values in result.fetchall())}
    return tuple(rows[number] for number in numbers if number in rows)


def worst_column(survey: Survey, where: Where = ()) -> str:
    """Return the column that tells how wrong the model is: `label_probability`, or `margin` if no image has a label.

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
    """Return a page of rows, lowest `worst_column` first; images without the number are left out."""
    column = worst_column(survey, where)
    return gallery(survey, (*where, Within(column)), column, False, offset, limit)
