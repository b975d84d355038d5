"""Switches of the top bar: language, light or dark, lecture mode, and a link to this picture or code to embed it."""

from __future__ import annotations

from pydantic import BaseModel

from vitexplorer.core.text import Language
from vitexplorer.service.cache_folder import AGE
from vitexplorer.ui.kit.language import LOCALES, word
from vitexplorer.ui.kit.widget import Widget

_WORDS = (
    "other_language",
    "dark_mode",
    "light_mode",
    "lecture_mode",
    "lecture_keys",
    "link",
    "skip",
    "link_copied",
    "link_not_copied",
    "embed",
    "embed_help",
    "embed_copy",
)


class HeaderData(BaseModel):
    """Words of the switches."""

    other_code: str = ""
    """New value of `?lang=` when the language is switched"""
    words: dict[str, str] = {}


class Header(Widget):
    """Switches that act in the browser alone."""

    data_model = HeaderData


def header_data(language: Language, frames: str) -> HeaderData:
    """Return the header in one language, offering the other; `frames` are the sites that may embed the page."""
    sites = " ".join(site for site in frames.split() if site != "'self'") or word("embed_own_alone", language)
    filled = {
        "embed_allowed": word("embed_allowed", language, frames=sites),
        "link_own": word("link_own", language, hours=round(AGE / 3600)),
    }
    return HeaderData(
        other_code=LOCALES["en" if language == "zh" else "zh"],
        words={**{key: word(key, language) for key in _WORDS}, **filled},
    )
