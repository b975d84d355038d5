"""Confusion matrix as a table of a card, in HTML for light and dark pages, and as text."""

from __future__ import annotations

import html
from dataclasses import dataclass

import numpy as np

from vitexplorer.core.text import Language, Text

_TABLE = "margin: 8px 0 0; border-collapse: collapse; color: inherit; font-size: 13px"
_CELL = "padding: 1px 6px; text-align: right; border: 1px solid rgba(128, 128, 128, 0.3); background: {ground}"
_RIGHT, _WRONG = "45, 104, 196", "198, 40, 40"


@dataclass(frozen=True)
class Table:
    """Confusion matrix: rows are true classes, columns predicted classes."""

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
