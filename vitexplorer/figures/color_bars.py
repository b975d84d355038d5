"""Colour bar of a scale as plotly draws it, with real numbers and the unit."""

from __future__ import annotations

from typing import Any

from vitexplorer.figures.boxes import Box
from vitexplorer.figures.colors import Scale
from vitexplorer.figures.themes import SMALL_SIZE, Theme
from vitexplorer.figures.typesetting import escape, wrap


def color_bar(scale: Scale, at: Box, title: str, theme: Theme) -> dict[str, Any]:
    """Return the bar of a scale; `at` has its corner in shares of the figure, from below, and its size in pixels."""
    small = {"size": SMALL_SIZE, "color": theme.text}
    lines = map(escape, wrap(title, at.height, SMALL_SIZE))
    return {
        "x": at.x,
        "y": at.y,
        "xanchor": "left",
        "yanchor": "top",
        "xpad": 0,
        "ypad": 0,
        "lenmode": "pixels",
        "len": at.height,
        "thickness": at.width,
        "outlinewidth": 0,
        "ticks": "outside",
        "ticklen": 4,
        "tickcolor": theme.muted,
        "tickfont": small,
        "exponentformat": "power",
        "ticklabeloverflow": "allow",
        **scale.ticks,
        "title": {"text": "<br>".join(lines), "side": "right", "font": small},
    }
