"""Notebook display of records: results as figures; captures, models and fine-tuning runs as cards.

The language is `VIT_LANGUAGE`. The package's root loads this module when a notebook first displays a record.
"""

from __future__ import annotations

from typing import Any

from vitexplorer.capturing.capture import Capture
from vitexplorer.core.settings import settings
from vitexplorer.core.types import Result
from vitexplorer.finetune.results.records import FinetuneResult
from vitexplorer.notebook.capture_card import capture_card
from vitexplorer.notebook.card import Card
from vitexplorer.notebook.model_card import model_card
from vitexplorer.notebook.result_card import drawing_of, result_card
from vitexplorer.notebook.run_card import run_card


def html_of(thing: Any) -> str:
    """Return an HTML fragment: a result's figure, or the card of a capture, model, run or result without a figure."""
    figure = drawing_of(thing) if isinstance(thing, Result) else None
    if figure is not None:
        from vitexplorer.figures.inline import figure_html

        return figure_html(figure)
    return card_of(thing).html(settings().language)


def bundle_of(thing: Any) -> dict[str, Any]:
    """Return the display by MIME type: plotly data where the notebook draws it, with a card as fallback; else HTML."""
    from vitexplorer.figures.inline import KIND, draws_plotly, figure_data, figure_html

    card = card_of(thing)
    language = settings().language
    bundle = {"text/plain": card.plain(language), "text/html": card.html(language)}
    figure = drawing_of(thing) if isinstance(thing, Result) else None
    if figure is None:
        return bundle
    return {**bundle, KIND: figure_data(figure)} if draws_plotly() else {**bundle, "text/html": figure_html(figure)}


def card_of(thing: Any) -> Card:
    """Return the card of a record."""
    if isinstance(thing, Result):
        return result_card(thing)
    if isinstance(thing, FinetuneResult):
        return run_card(thing)
    return capture_card(thing) if isinstance(thing, Capture) else model_card(thing)
