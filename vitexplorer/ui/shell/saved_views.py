"""Saved views: a lecture as a list of links, which the browser stores and presenter keys step through."""

from __future__ import annotations

from pydantic import BaseModel

from vitexplorer.core.text import Language, in_language
from vitexplorer.ui.kit.widget import Widget
from vitexplorer.ui.kit.words import UI_WORDS


class SavedViewsData(BaseModel):
    """Words of the list; the list itself never leaves the browser."""

    words: dict[str, str] = {}


class SavedViews(Widget):
    """Component that fires `go` with `query`, the parameters of the selected link."""

    data_model = SavedViewsData
    sends = ("go",)


def saved_views_data(language: Language) -> SavedViewsData:
    """Return the words in one language."""
    return SavedViewsData(words=in_language(UI_WORDS, language, "kept"))
