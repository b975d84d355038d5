"""Caption layouts of a slide: rows beside a picture, or lines below it. A window keeps the caption as text."""

from __future__ import annotations

from collections.abc import Sequence

from vitexplorer.core.text import Text
from vitexplorer.core.types import Result
from vitexplorer.figures.caption import Fact, facts
from vitexplorer.figures.page import Page
from vitexplorer.figures.themes import TEXT_SIZE
from vitexplorer.figures.typesetting import width

GAP = 7


def rows_of_facts(page: Page, x: float, y: float, pixels: float, rows: Sequence[Fact]) -> float:
    """Draw label and value in two columns. Returns y below them."""
    if not page.sheet.is_slide:
        page.facts.extend(rows)
        return y
    labels = 18 + max(width(fact.label.in_(page.language), TEXT_SIZE) for fact in rows)
    previous = None
    for fact in rows:
        if fact.label != previous:  # several notes share one label
            page.text(x, y, fact.label, color=page.theme.muted)
        y = GAP + page.text(x + labels, y, fact.value, pixels=pixels - labels)
        previous = fact.label
    return y


def caption_below(
    page: Page, y: float, result: Result, normalisation: Text | None = None, remarks: tuple[Text, ...] = ()
) -> float:
    """Draw the caption of a result under its picture, see `facts`. Returns y below it."""
    return facts_below(page, y, facts(result, normalisation, remarks))


def facts_below(page: Page, y: float, rows: Sequence[Fact]) -> float:
    """Draw the same rows in two columns of about equal length over the page's width. Returns y below them."""
    if not page.sheet.is_slide:
        return rows_of_facts(page, page.margin, y, page.inner, rows)
    page.rule(y)
    gutter = 48
    column = (page.inner - gutter) / 2
    half = _split(page, rows, column)
    left = rows_of_facts(page, page.margin, y + 18, column, rows[:half])
    right = rows_of_facts(page, page.margin + column + gutter, y + 18, column, rows[half:]) if rows[half:] else 0.0
    return max(left, right)


def _split(page: Page, rows: Sequence[Fact], pixels: float) -> int:
    """Return the number of rows on the left: the fewest that take half of the lines."""
    lines = [1 + width(fact.value.in_(page.language), TEXT_SIZE) // (0.7 * pixels) for fact in rows]
    return next(n for n in range(1, len(rows) + 1) if sum(lines[:n]) >= sum(lines) / 2)
