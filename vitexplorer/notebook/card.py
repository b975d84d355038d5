"""Card for notebooks: a picture, a title, a few rows, a warning, a table, and lines of Python to continue.

Styles are inline, as a notebook lacks our style sheet; they work on light and dark pages.
"""

from __future__ import annotations

import html
from dataclasses import dataclass

import numpy as np

from vitexplorer.core.text import Language, Text
from vitexplorer.figures.caption import labelled
from vitexplorer.figures.page import png_address

SIDE = 160
"""Displayed width of the picture in pixels"""
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
_TABLE = "margin: 8px 0 0; border-collapse: collapse; color: inherit; font-size: 13px"
_CELL = "padding: 1px 6px; text-align: right; border: 1px solid rgba(128, 128, 128, 0.3); background: {ground}"
_RIGHT, _WRONG = "45, 104, 196", "198, 40, 40"


@dataclass(frozen=True)
class Table:
    """Confusion matrix on a card: rows are true classes, columns predicted classes."""

    caption: Text
    names: tuple[str, ...]
    counts: np.ndarray
    """Counts, int (classes, classes)"""

    def plain(self, language: Language) -> str:
        """Return the table as text, one line for each class."""
        rows = [
            " ".join(f"{count:>4}" for count in row) + f"  {name}"
            for name, row in zip(self.names, self.counts, strict=True)
        ]
        return "\n".join([self.caption.in_(language), *rows])

    def html(self, language: Language) -> str:
        """Return the table as HTML; the colour of a cell shows its share of the row."""
        caption = (
            f'<caption style="text-align: left; opacity: 0.75">{html.escape(self.caption.in_(language))}</caption>'
        )
        names = "".join(_heading("col", name) for name in self.names)
        head = f'<thead><tr><td style="{_style()}"></td>{names}</tr></thead>'
        body = "".join(self._row(true) for true in range(len(self.names)))
        return (
            f'<div style="overflow-x: auto"><table style="{_TABLE}">{caption}{head}<tbody>{body}</tbody></table></div>'
        )

    def _row(self, true: int) -> str:
        counts = self.counts[true]
        whole = max(1, counts.sum())
        cells = "".join(
            f'<td style="{_style(count / whole, taken == true)}">{count}</td>' for taken, count in enumerate(counts)
        )
        return f"<tr>{_heading('row', self.names[true])}{cells}</tr>"


def _heading(scope: str, name: str) -> str:
    return f'<th scope="{scope}" style="{_style()}">{html.escape(name)}</th>'


def _style(share: float = 0.0, is_right: bool = True) -> str:
    return _CELL.format(ground=f"rgba({_RIGHT if is_right else _WRONG}, {0.6 * share:.2f})")


@dataclass(frozen=True)
class Card:
    """Card of one record."""

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
        rows = [labelled(label, value).in_(language) for label, value in self.rows]
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
