"""The status line: what is going on, how far it is, what went wrong. It also writes the page's state into the URL."""

from __future__ import annotations

from typing import Literal

from gradio.data_classes import GradioModel

from vitexplorer.ui.parts.widget import Widget


class StatusData(GradioModel):
    """One line and, where it is known, the share done."""

    text: str = ""
    kind: Literal["busy", "ready", "error"] = "busy"
    share: float | None = None
    warning: str = ""
    """stands above everything until it no longer holds: random weights"""
    address: dict[str, str] = {}
    """parameters for the URL; none are changed while this is empty"""


class StatusLine(Widget):
    """A line with a progress bar under it and a warning band above it."""

    data_model = StatusData
    stem = "status"
    sends = ()
