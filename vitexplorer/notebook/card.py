"""Card for notebooks: a picture, a title, a few rows, a warning, a table, and lines of Python to continue."""

from __future__ import annotations

import base64
import html
import io
from dataclasses import dataclass

import numpy as np
from PIL import Image

from vitexplorer.core.text import Language, Text
from vitexplorer.notebook.confusion_table import Table

SIDE = 160
"""Displayed width of the picture in pixels"""
ROW = Text("{label}: {value}", "{label}：{value}")
_FRAME = (
    "display: flex; gap: 16px; width: fit-content; max-width: 720px; padding: 12px 16px; border-radius: 8px; "
    "border: 1px solid rgba(128, 128, 128, 0.5); font: 14px/1.5 system-ui, sans-serif"
)
_CODE = (
    "margin: 8px 0 0; padding: 6px 8px; border-radius: 4px; background: rgba(128, 128, 128, 0.15); color: inherit; "
    "white-space: pre-wrap; font: 13px/1.5 ui-monospace, monospace"
)
_WARNING = "margin: 6px 0; padding: 4px 8px; border-radius: 4px; background: #b3261e; color: #fff; font-weight: 600"
_GRID = "display: grid; grid-template-columns: max-content 1fr; gap: 0 12px; margin: 4px 0 0"


@dataclass(frozen=True)
class Card:
    """Card with inline styles, as a notebook lacks our style sheet; it works on light and dark pages."""

    title: Text
    rows: tuple[tuple[Text, Text], ...]
    """Rows of label and value"""
    warning: Text | None = None
    picture: np.ndarray | None = None
    """Picture, uint8 RGB (height, width, 3)"""
    alt: Text = Text("", "")
    """Alternative text of the picture"""
    table: Table | None = None
    python: str = ""
    """Lines of Python to continue with"""

    def plain(self, language: Language) -> str:
        """Return the card as lines of text."""
        rows = [ROW.format(label=label, value=value).in_(language) for label, value in self.rows]
        warning = [self.warning.in_(language)] if self.warning else []
        table = [self.table.plain(language)] if self.table else []
        return "\n".join([self.title.in_(language), *warning, *rows, *table])

    def html(self, language: Language) -> str:
        """Return the card as an HTML fragment."""
        escape = html.escape
        parts = [f'<div style="font-weight: 600">{escape(self.title.in_(language))}</div>']
        if self.warning:
            parts.append(f'<div role="alert" style="{_WARNING}">{escape(self.warning.in_(language))}</div>')
        rows = "".join(
            f'<dt style="opacity: 0.75; font-weight: 400">{escape(label.in_(language))}</dt>'
            f'<dd style="margin: 0">{escape(value.in_(language))}</dd>'
            for label, value in self.rows
        )
        parts.append(f'<dl style="{_GRID}">{rows}</dl>')
        if self.table:
            parts.append(self.table.html(language))
        if self.python:
            parts.append(f'<pre style="{_CODE}">{escape(self.python)}</pre>')
        body = f'<div style="min-width: 0">{"".join(parts)}</div>'
        return f'<div lang="{language}" style="{_FRAME}">{self._picture(language)}{body}</div>'

    def _picture(self, language: Language) -> str:
        if self.picture is None:
            return ""
        return (
            f'<img src="{png_address(self.picture)}" alt="{html.escape(self.alt.in_(language))}" '
            f'style="width: {SIDE}px; height: auto; align-self: flex-start; margin: 0; border-radius: 4px">'
        )


def png_address(pixels: np.ndarray) -> str:
    """Encode uint8 RGB (height, width, 3) as a PNG in a data URL."""
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG")
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()
