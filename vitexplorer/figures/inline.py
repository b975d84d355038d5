"""Figures for a notebook: data for notebooks with plotly.js, otherwise HTML with plotly.js inside.

JupyterLab, Notebook 7, VS Code and nteract draw `application/vnd.plotly.v1+json` themselves; such an output is as large
as its numbers. Colab, Kaggle and notebooks that only show HTML get plotly.js with each figure, packed from 4.8 to 2 MB:
an output that needs another one is lost with it, and one that needs the network fails without it. Plotly knows the kind
of notebook (`plotly.io.renderers.default`, which the user may set).
"""

from __future__ import annotations

import base64
import gzip
import json
import secrets
from collections.abc import Mapping
from functools import cache
from html import escape
from typing import Any

import plotly.graph_objects as go
import plotly.io
import plotly.offline

from vitexplorer.core.text import Language, Text

KIND = "application/vnd.plotly.v1+json"
_CONFIG = {"displaylogo": False, "responsive": False}
_DRAW = """\
(async () => {
  const unpacked = (text) => {
    const packed = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'))).text();
  };
  if (!window.Plotly) {
    const library = await unpacked('%(library)s');
    const script = document.createElement('script');  // in a function of its own, for notebooks that have a `define`
    script.textContent = `(function (define, module, exports) {${library}\\n}).call(window);`;
    document.head.append(script);
  }
  for (const [place, {data, layout}] of Object.entries(JSON.parse(await unpacked('%(figures)s')))) {
    await window.Plotly.newPlot(document.getElementById(place), data, layout, %(config)s);
  }
})();
"""


def draws_plotly() -> bool:
    """Return True if the current notebook draws a figure from its data alone."""
    return "plotly_mimetype" in (plotly.io.renderers.default or "").split("+")


def figure_data(figure: go.Figure) -> dict[str, Any]:
    """Return the figure in the form of `KIND`."""
    return {**json.loads(figure.to_json()), "config": _CONFIG}


def figure_html(figure: go.Figure) -> str:
    """Return HTML that draws the figure with no server and no network; it scrolls if the space is too narrow."""
    place = f"vx-{secrets.token_hex(8)}"
    return f'<div style="overflow-x: auto"><div id="{place}"></div></div>\n{figures_html({place: figure})}'


def page_of(figure: go.Figure, title: Text, language: Language) -> str:
    """Return a whole page with the figure, which needs no server and no network."""
    head = f'<meta charset="utf-8">\n<title>{escape(title.in_(language))}</title>'
    ground = f'<body style="margin: 0; background: {figure.layout.paper_bgcolor}">'
    return f'<!doctype html>\n<html lang="{language}">\n{head}\n{ground}\n{figure_html(figure)}\n'


def figures_html(figures: Mapping[str, go.Figure]) -> str:
    """Return the script that draws several figures, with one plotly.js, into the elements of these ids."""
    drawn = ",".join(f"{json.dumps(place)}:{figure.to_json()}" for place, figure in figures.items())
    packed = _packed("{" + drawn + "}")
    script = _DRAW % {"library": _library(), "figures": packed, "config": json.dumps(_CONFIG)}
    return f"<script>{script}</script>"


@cache
def _library() -> str:
    return _packed(plotly.offline.get_plotlyjs())


def _packed(text: str) -> str:
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()
