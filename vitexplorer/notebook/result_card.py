"""Figure and card of a result."""

from __future__ import annotations

from vitexplorer.core.settings import settings
from vitexplorer.core.text import Text
from vitexplorer.core.types import Result
from vitexplorer.figures.caption import facts
from vitexplorer.figures.page import RANDOM
from vitexplorer.figures.rendering import Figure, NoRendererError, render
from vitexplorer.notebook.card import Card
from vitexplorer.views import VIEWS, reading

READING = Text("Reading", "解读")


def drawing_of(result: Result) -> Figure | None:
    """Draw the figure of a result; None if there is no renderer for it."""
    try:
        return render(result, language=settings().language)
    except NoRendererError:
        return None


def result_card(result: Result) -> Card:
    """Make the card of a result: its reading and the rows of its caption."""
    rows = tuple((fact.label, fact.value) for fact in facts(result))
    if result.view in VIEWS:
        rows = ((READING, Text(reading(result), reading(result, "zh"))), *rows)
    return Card(result.title, rows, RANDOM if result.provenance.is_random else None)
