"""Buttons of the room Words that open a bundled model for what the present one does not do."""

from __future__ import annotations

from pydantic import BaseModel

from vitexplorer.core.text import Language
from vitexplorer.models.catalog import CatalogEntry, catalog
from vitexplorer.ui.panel.figure_panel import of_model
from vitexplorer.ui.rooms.words.words import TEXT_WORDS


class Offer(BaseModel):
    """Button that opens a model."""

    title: str
    address: dict[str, str]
    """Parameters of an address that choose it"""


def texts_offer(language: Language) -> list[Offer]:
    """Offer a bundled model that reads texts, if there is one."""
    return _offer("open_for_texts", next((entry for entry in catalog() if entry.reads_texts), None), language)


def caption_offer(language: Language) -> list[Offer]:
    """Offer a bundled model that writes captions, if there is one."""
    return _offer("open_for_caption", next((entry for entry in catalog() if entry.writes_captions), None), language)


def _offer(word: str, entry: CatalogEntry | None, language: Language) -> list[Offer]:
    if entry is None:
        return []
    title = TEXT_WORDS[word].format(model=entry.title).in_(language)
    return [Offer(title=title, address=of_model(entry.name))]
