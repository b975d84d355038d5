"""Saved views: a lecture as a list of links, which the browser stores and presenter keys step through."""

from __future__ import annotations

from pydantic import BaseModel

from vitexplorer.core.text import Language
from vitexplorer.ui.kit.language import words_with
from vitexplorer.ui.kit.widget import Widget


class SavedViewsData(BaseModel):
    """Words of the list; the list itself never leaves the browser."""

    words: dict[str, str] = {}


class SavedViews(Widget):
    """Component that fires `go` with `query`, the parameters of the selected link."""

    data_model = SavedViewsData
    sends = ("go",)


def saved_views_data(language: Language) -> SavedViewsData:
    """Return the words in one language."""
    return SavedViewsData(words=words_with("kept", language))
