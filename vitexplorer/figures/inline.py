"""A figure for a notebook: its data, for those that have plotly.js; for others a piece of a page with plotly.js inside.

JupyterLab, Notebook 7, VS Code and nteract draw `application/vnd.plotly.v1+json` themselves: such an output is as large
as its numbers. Colab, Kaggle and whoever shows HTML alone get plotly.js with each figure, packed to 2 MB from 4.8: an
output that leans on another is lost with it, and one that leans on the network is lost without. Which of the two a
notebook is, plotly knows (`plotly.io.renderers.default`, which a person may set).
"""

from __future__ import annotations

import base64
import gzip
import json
import secrets
from functools import cache
from typing import Any

import plotly.graph_objects as go
import plotly.io
import plotly.offline

KIND = "application/vnd.plotly.v1+json"
_CONFIG = {"displaylogo": False, "responsive": False}
_DRAW = """\
(async () => {
  if (!window.Plotly) {
    const packed = Uint8Array.from(atob('%(library)s'), (letter) => letter.charCodeAt(0));
    const library = await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'))).text();
    const script = document.createElement('script');  // in a function of its own, for notebooks that have a `define`
    script.textContent = `(function (define, module, exports) {${library}\\n}).call(window);`;
    document.head.append(script);
  }
  const {data, layout} = %(figure)s;
  window.Plotly.newPlot(document.getElementById('%(place)s'), data, layout, %(config)s);
})();
"""


def draws_plotly() -> bool:
    """Whether the notebook that this runs in draws a figure from its data alone."""
    return "plotly_mimetype" in (plotly.io.renderers.default or "").split("+")


def figure_data(figure: go.Figure) -> dict[str, Any]:
    """The figure as `KIND` wants it."""
    return {**json.loads(figure.to_json()), "config": _CONFIG}


def figure_html(figure: go.Figure) -> str:
    """A piece of a page that draws the figure with no server and no network; it scrolls where it is too narrow."""
    place = f"vx-{secrets.token_hex(8)}"
    drawn = figure.to_json().replace("</", r"<\/")
    script = _DRAW % {"library": _library(), "figure": drawn, "place": place, "config": json.dumps(_CONFIG)}
    return f'<div style="overflow-x: auto"><div id="{place}"></div></div>\n<script>{script}</script>'


@cache
def _library() -> str:
    return base64.b64encode(gzip.compress(plotly.offline.get_plotlyjs().encode(), mtime=0)).decode()
