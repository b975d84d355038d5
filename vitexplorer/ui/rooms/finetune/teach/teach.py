"""Component of the teaching part: boxes of examples at the left, the probe's answer at the right.

The browser talks to `teach_routes` directly; only actions that leave the part are gradio events.
"""

from __future__ import annotations

from pydantic import BaseModel

from vitexplorer.core.text import in_language
from vitexplorer.models.catalog import title_of
from vitexplorer.service.teaching.words import TEACH_WORDS
from vitexplorer.ui.kit.language import word
from vitexplorer.ui.kit.widget import Widget
from vitexplorer.ui.rooms.finetune.words import say
from vitexplorer.ui.shell.address import Address

_WORDS = ("image_lost", "image_none", "webcam_none", "webcam_insecure", "webcam_refused")
_OF_RESULTS = ("board_back", "board_close")


class TeachData(BaseModel):
    """Model to teach, and all texts."""

    model: str = ""
    title: str = ""
    """Title of the model"""
    weights: str = ""
    words: dict[str, str] = {}


class Teach(Widget):
    """Component of the teaching part. Events: `open` with `image`, an id of `/picture`; `compare`."""

    data_model = TeachData
    sends = ("open", "compare")


def teach_data(address: Address) -> TeachData:
    """Return the data for the model of an address."""
    words = {
        **in_language(TEACH_WORDS, address.language),
        **{key: word(key, address.language) for key in _WORDS},
        **{key: say(key, address.language) for key in _OF_RESULTS},
    }
    title = title_of(address.model).in_(address.language)
    return TeachData(model=address.model, title=title, weights=address.weights, words=words)
