"""Status line: progress and errors, then the model's answer to the image.

It also writes the page's state into the URL.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

from vitexplorer.ui.kit.widget import Widget


class StatusData(BaseModel):
    """One line and, where it is known, the share of the work that is done."""

    text: str = ""
    kind: Literal["busy", "ready", "error"] = "busy"
    share: float | None = None
    answer: str = ""
    """Likeliest class with its probability; replaces the text, which then is the line's tooltip"""
    asks: bool = False
    """True where the component asks for the answer of a companion, which is not in memory yet"""
    warning: str = ""
    """Warning over the page as long as it applies: random weights"""
    hint: str = ""
    """Hint over the page: this model was made for other images, or another size or model is offered"""
    hint_button: str = ""
    hint_model: str = ""
    """Model that the hint's button leads to; empty for no button"""
    about: str = ""
    """Model and weights, shown when the page is embedded in another"""
    whole: str = ""
    """Label of the link from an embedded page to the whole page"""
    address: dict[str, str] = {}
    """Parameters to write into the URL; empty to leave the URL as it is"""


class StatusLine(Widget):
    """Line with a progress bar under it. The hint's button fires `choose` with `model`; `ask` has no fields."""

    data_model = StatusData
    sends = ("choose", "ask")
