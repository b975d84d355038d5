"""Text on a figure: its notes, and all that a person can read on it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import plotly.graph_objects as go

CHINESE = re.compile("[\u4e00-\u9fff]")


def all_words(figure: go.Figure) -> str:
    return " ".join(note.text for note in figure.layout.annotations)


def every_word(figure: go.Figure) -> Iterator[str]:
    """Yield all that a person can read on a figure: notes, titles of scales, hover text."""

    def walk(part: object, name: str = "") -> Iterator[str]:
        if isinstance(part, dict):
            for key, value in part.items():
                yield from walk(value, key)
        elif isinstance(part, list | tuple | np.ndarray) and name in (
            "annotations",
            "data",
            "text",
            "hovertext",
            "labels",
            "",
        ):
            for value in part:
                yield from walk(value, name)
        elif isinstance(part, str) and name in ("text", "hovertext", "hovertemplate", "labels", "name"):
            yield re.sub(r"%\{.*?\}|<.*?>|&\w+;", " ", part)

    read = figure.to_dict()
    yield from walk({"data": read["data"], **read["layout"]})
