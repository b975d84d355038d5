"""Kept views: a lecture as a list of links, which the browser keeps and presenter keys step through."""

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


class KeptData(BaseModel):
    """The list's words; the list itself never leaves the browser."""

    words: dict[str, str] = {}


class KeptViews(Widget):
    """Fires `go` with `query`, the parameters of the link that is to be shown."""

    data_model = KeptData
    stem = "kept_views"
    sends = ("go",)


def kept_data(language: Language) -> KeptData:
    """The words in one language."""
    return KeptData(words={key: word(key, language) for key in _WORDS})
