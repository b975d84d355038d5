"""The head of the page: its name and the switches for language, light or dark, and lecture mode."""

from __future__ import annotations

from gradio.data_classes import GradioModel

from vitexplorer.ui.language import locale_of, word
from vitexplorer.ui.parts.widget import Widget
from vitexplorer.words import Language


class HeaderData(GradioModel):
    """The header's words."""

    title: str = ""
    subtitle: str = ""
    other_language: str = ""
    other_code: str = ""
    """what `?lang=` becomes when the language is switched"""
    dark: str = ""
    lecture: str = ""


class Header(Widget):
    """Title and switches; the switches act in the browser alone."""

    data_model = HeaderData
    stem = "header"
    sends = ()


def header_data(language: Language) -> HeaderData:
    """The header in one language, offering the other."""
    return HeaderData(
        title=word("app_title", language),
        subtitle=word("app_subtitle", language),
        other_language=word("other_language", language),
        other_code=locale_of("en" if language == "zh" else "zh"),
        dark=word("dark_mode", language),
        lecture=word("lecture_mode", language),
    )
