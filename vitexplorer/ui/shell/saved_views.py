"""Saved views: a lecture as a list of links, which the browser stores and presenter keys step through."""

from __future__ import annotations

from pydantic import BaseModel

from vitexplorer.core.text import Language
from vitexplorer.ui.kit.language import word
from vitexplorer.ui.kit.widget import Widget

_WORDS = (
    "kept",
    "kept_none",
    "kept_count",
    "kept_keep",
    "kept_export",
    "kept_import",
    "kept_page",
    "kept_note",
    "kept_up",
    "kept_drop",
    "kept_unread",
)


class SavedViewsData(BaseModel):
    """Words of the list; the list itself never leaves the browser."""

    words: dict[str, str] = {}


class SavedViews(Widget):
    """Component that fires `go` with `query`, the parameters of the selected link."""

    data_model = SavedViewsData
    stem = "saved_views"
    sends = ("go",)


def saved_views_data(language: Language) -> SavedViewsData:
    """Return the words in one language."""
    return SavedViewsData(words={key: word(key, language) for key in _WORDS})
