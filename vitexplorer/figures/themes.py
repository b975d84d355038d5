"""Light and dark theme: the colours of the page around the picture, and the fonts of both."""

from __future__ import annotations

from dataclasses import dataclass

from vitexplorer.core.registry import unknown_name

FONTS = (
    "Noto Sans, Noto Sans CJK SC, Noto Sans SC, Source Han Sans SC, PingFang SC, Microsoft YaHei, "
    "Segoe UI, Helvetica Neue, Arial, sans-serif"
)

TITLE_SIZE = 26
TEXT_SIZE = 15
SMALL_SIZE = 13  # nothing on a figure is smaller: it has to be read from the last row


@dataclass(frozen=True)
class Theme:
    """Colours by their role."""

    name: str
    paper: str
    text: str
    muted: str
    line: str
    bar: str
    warning: str = "#b3261e"
    on_warning: str = "#ffffff"


THEMES = {
    "light": Theme("light", paper="#ffffff", text="#16191d", muted="#5a626b", line="#cfd5dc", bar="#31688e"),
    "dark": Theme("dark", paper="#14171b", text="#f2f4f6", muted="#a9b3bd", line="#3d454e", bar="#6aaed6"),
}

ON_PAGE = {
    "light": Theme("light", paper="#ffffff", text="#1e293b", muted="#52607a", line="#dde3ec", bar="#31688e"),
    "dark": Theme("dark", paper="#0f172a", text="#f1f5f9", muted="#b4c0d0", line="#334155", bar="#6aaed6"),
}
"""Themes of figures on the page itself, in its own greys"""


def theme_named(name: str, is_slide: bool = True) -> Theme:
    """Return the theme of a slide, or of the page. Raises UnknownNameError."""
    if name not in THEMES:
        raise unknown_name("theme", name, THEMES)
    return (THEMES if is_slide else ON_PAGE)[name]
