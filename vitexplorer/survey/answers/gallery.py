"""Page of rows in a given order."""

from __future__ import annotations

from collections.abc import Mapping

from vitexplorer.core.text import SettingError, Text
from vitexplorer.survey.answers.bounds import is_count
from vitexplorer.survey.conditions import Where
from vitexplorer.survey.filtering import MOST as MOST_ROW
from vitexplorer.survey.opened import Survey

MOST, FARTHEST = 500, 1_000_000
"""Limit for the rows of a page, and for its first row"""

Row = Mapping[str, object]
"""Scalar columns of an image by name, with `row`, its number in the survey"""


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
                "一页最多 {most} 行，起始行不超过 {farthest}：请缩小筛选条件。",
            ).format(most=MOST, farthest=FARTHEST)
        )
    one = None if order is None else survey.asked(order)
    if one is not None and one.kind == "list":
        raise SettingError(
            Text(
                "Lists have no order: name one place of {name}, as in {name}[0,0].",
                "列表没有顺序：请指定 {name} 的一个位置，例如 {name}[0,0]。",
            ).format(name=one.name)
        )
    by = "" if one is None else ("nullif({0}, 'NaN'::FLOAT)" if one.kind == "number" else "{0}")
    by += "" if one is None else f" {'DESC' if descending else 'ASC'} NULLS LAST, "
    found = survey.sql(
        f"SELECT row FROM {{rows}} ORDER BY {by}row LIMIT $most OFFSET $skipped",
        where,
        more=[] if one is None else [one],
        most=limit,
        skipped=offset,
    )
    return rows_at(survey, [row for (row,) in found.fetchall()])


def rows_at(survey: Survey, numbers: list[int]) -> tuple[Row, ...]:
    """Return rows by their numbers, in this order; missing ones are left out."""
    numbers = [number for number in numbers if is_count(number, 0, MOST_ROW)]
    if not numbers:
        return ()
    found = survey.sql("SELECT rows.* FROM {rows} AND row IN (SELECT unnest($wanted))", wanted=numbers)
    names = [column[0] for column in found.description]
    rows = {row["row"]: row for row in (dict(zip(names, values, strict=True)) for values in found.fetchall())}
    return tuple(rows[number] for number in numbers if number in rows)
