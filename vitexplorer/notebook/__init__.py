"""Notebook display of records: results as figures; captures, models and fine-tuning runs as cards.

The language is `VIT_LANGUAGE`. The package's root loads this module when a notebook first displays a record.
"""

from __future__ import annotations

from typing import Any

from vitexplorer.capturing.capture import Capture
from vitexplorer.core.settings import settings
from vitexplorer.core.text import Text
from vitexplorer.core.types import Result
from vitexplorer.figures.caption import facts
from vitexplorer.figures.inline import KIND, draws_plotly, figure_data, figure_html
from vitexplorer.figures.page import RANDOM
from vitexplorer.figures.rendering import Figure, NoRendererError, render
from vitexplorer.finetune.results.records import FinetuneResult
from vitexplorer.notebook.capture_card import capture_card
from vitexplorer.notebook.card import Card
from vitexplorer.notebook.model_card import model_card
from vitexplorer.notebook.run_card import run_card
from vitexplorer.views import VIEWS, reading

READING = Text("Reading", "解读")


def html_of(thing: Any) -> str:
    """Return an HTML fragment: a result's figure, or the card of a capture, model, run or result without a figure."""
    figure = _figure_of(thing)
    return figure_html(figure) if figure is not None else card_of(thing).html(settings().language)


def bundle_of(thing: Any) -> dict[str, Any]:
    """Return the display by MIME type: plotly data where the notebook draws it, with a card as fallback; else HTML."""
    card, language = card_of(thing), settings().language
    bundle = {"text/plain": card.plain(language), "text/html": card.html(language)}
    figure = _figure_of(thing)
    if figure is None:
        return bundle
    return {**bundle, KIND: figure_data(figure)} if draws_plotly() else {**bundle, "text/html": figure_html(figure)}


def _figure_of(thing: Any) -> Figure | None:
    """Draw a result; None if there is no renderer for it, and for other records."""
    try:
        return render(thing, language=settings().language) if isinstance(thing, Result) else None
    except NoRendererError:
        return None


def card_of(thing: Any) -> Card:
    """Return the card of a record."""
    if isinstance(thing, Result):
        return _result_card(thing)
    if isinstance(thing, FinetuneResult):
        return run_card(thing)
    return capture_card(thing) if isinstance(thing, Capture) else model_card(thing)


def _result_card(result: Result) -> Card:
    """Make the card of a result: its reading and the rows of its caption."""
    rows = facts(result)
    if result.view in VIEWS:
        rows = ((READING, Text(reading(result), reading(result, "zh"))), *rows)
    return Card(result.title, rows, RANDOM if result.provenance.is_random else None)
