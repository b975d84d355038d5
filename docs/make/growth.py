"""Drawing of how time and memory grow, `docs/growth.svg`, from the points of the benchmark's section `growth`.

    python -m docs.make.growth

One panel for each of what grows; lines join what was measured, and dotted ones show the growth of the arithmetic.
"""

from __future__ import annotations

import math
from pathlib import Path

import plotly.graph_objects as go
from plotly.colors import qualitative
from plotly.subplots import make_subplots

from benchmarks.field.tables import Table, read
from vitexplorer.figures.browser import picture

ROOT = Path(__file__).resolve().parents[2]
DRAWING = ROOT / "docs" / "growth.svg"
WIDTH, HEIGHT = 1200, 720
COLUMNS = 3


def points() -> Table:
    """Return the measured points."""
    (table,) = (table for table in read(ROOT / "benchmarks" / "field.json")["growth"] if table.key == "growth_points")
    return table


def drawing(table: Table) -> go.Figure:
    """Draw one panel for each value of the table's first column."""
    panels = list(dict.fromkeys(row[0] for row in table.rows))
    works = list(dict.fromkeys(row[1] for row in table.rows))
    figure = make_subplots(-(-len(panels) // COLUMNS), COLUMNS, subplot_titles=[panel.capitalize() for panel in panels])
    in_legend = set()
    for at, panel in enumerate(panels):
        place = {"row": at // COLUMNS + 1, "col": at % COLUMNS + 1}
        for work in dict.fromkeys(row[1] for row in table.rows if row[0] == panel):
            sizes, measured, expected = zip(*(row[2:] for row in table.rows if row[:2] == (panel, work)), strict=True)
            line = {"color": qualitative.Vivid[works.index(work)]}
            named = {"name": work.replace("_", " "), "legendgroup": work, "showlegend": work not in in_legend}
            figure.add_scatter(x=sizes, y=measured, mode="lines+markers", line=line, **named, **place)
            figure.add_scatter(
                x=sizes, y=expected, mode="lines", line={**line, "dash": "dot"}, showlegend=False, **place
            )
            in_legend.add(work)
        most = max(max(row[3:]) for row in table.rows if row[0] == panel)
        figure.update_yaxes(range=[-0.1, max(1, math.log10(most)) + 0.1], **place)  # a decade at least
    figure.update_xaxes(type="log", dtick=1)
    figure.update_yaxes(type="log", dtick=1)
    figure.update_yaxes(title="times the smallest", col=1)
    margins = {"l": 70, "r": 20, "t": 50, "b": 40}
    return figure.update_layout(template="plotly_white", width=WIDTH, height=HEIGHT, margin=margins, font_size=13)


if __name__ == "__main__":
    DRAWING.write_bytes(picture(drawing(points()), "svg"))
