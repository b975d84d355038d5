"""The status line: what is going on, how far it is, what went wrong; then what the model says of the picture.

It also writes the page's state into the URL.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

from vitexplorer.ui.kit.widget import Widget


class StatusData(BaseModel):
    """One line and, where it is known, the share done."""

    text: str = ""
    kind: Literal["busy", "ready", "error"] = "busy"
    share: float | None = None
    answer: str = ""
    """the likeliest class with its probability; stands in place of the text, which then is the line's title"""
    warning: str = ""
    """stands over the page until it no longer holds: random weights"""
    hint: str = ""
    """stands over the page: this model was made for other pictures"""
    hint_button: str = ""
    hint_model: str = ""
    """the model that the hint's button leads to; empty for none"""
    about: str = ""
    """model and weights, where the page is in a frame of another"""
    whole: str = ""
    """what the way from there to the whole page is called"""
    address: dict[str, str] = {}
    """parameters for the URL; none are changed while this is empty"""


class StatusLine(Widget):
    """A line with a progress bar under it. Fires `choose` with `model`, from the hint's button."""

    data_model = StatusData
    stem = "status"
    sends = ("choose",)
