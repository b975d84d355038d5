"""Page to draw on: one plane of pixels, its origin at the upper left, for pictures, cells and text.

All panels share one pair of hidden plotly axes in pixels. Cells are therefore exactly square, an outline fits its cell
at any size, and the file looks like the page. The caller lays out from top to bottom; `finish` closes the page below
the last drawing.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import plotly.graph_objects as go
from PIL import Image

from vitexplorer.core.text import SEMICOLON, Language, Text
from vitexplorer.core.types import Result
from vitexplorer.figures.boxes import Box
from vitexplorer.figures.caption import Fact
from vitexplorer.figures.color_bars import color_bar
from vitexplorer.figures.colors import Scale, grey_of
from vitexplorer.figures.sheets import SLIDE, Sheet
from vitexplorer.figures.themes import FONTS, SMALL_SIZE, TEXT_SIZE, TITLE_SIZE, theme_named
from vitexplorer.figures.typesetting import LINE_HEIGHT, escape, first_line, markup_of, width, wrap

BAR_ROOM = 114
"""Pixels right of a picture for a colour bar with its numbers and unit"""
RANDOM = Text(
    "Random weights: this model has learned nothing. Nothing here explains a trained model.",
    "随机权重：该模型未经训练，这里的任何图都不能解释训练好的模型。",
)
ROW_AND_COLUMN = Text("row %{customdata[0]}, column %{customdata[1]}", "第 %{customdata[0]} 行第 %{customdata[1]} 列")


@lru_cache(maxsize=4)  # a figure is laid out for several windows and as a slide, all with the same picture
def _png(content: bytes, shape: tuple[int, ...]) -> str:
    return png_address(np.frombuffer(content, np.uint8).reshape(shape))


def png_address(pixels: np.ndarray) -> str:
    """Encode uint8 (height, width, 3 or 4) as a PNG in a data URL."""
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG")
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()


class Page:
    """Figure under construction, in one language and one theme, for one size."""

    def __init__(self, language: Language, theme: str, sheet: Sheet = SLIDE):
        self.language, self.theme, self.sheet = language, theme_named(theme, sheet.is_slide), sheet
        self.margin, self.width = sheet.margin, sheet.width
        self.inner = sheet.width - 2 * sheet.margin
        self.facts: list[Fact] = []
        """Caption of a window, which the page shows as text of its own"""
        self._traces: list[dict[str, Any]] = []
        self._images: list[dict[str, Any]] = []
        self._shapes: list[dict[str, Any]] = []
        self._annotations: list[dict[str, Any]] = []
        self._layout: dict[str, Any] = {}
        self._scales: dict[str, Scale] = {}
        self._bars: list[tuple[str, Box, str]] = []
        self._trees: list[tuple[dict[str, Any], Box]] = []
        self._rightmost = 0.0
        self._meta: dict[str, Any] = {} if sheet.is_slide else {"sheet": sheet.width}

    # ------------------------------------------------------------------------------------------ room

    @property
    def right(self) -> float:
        """x of the right margin."""
        return self.margin + self.inner

    def high(self, slide: float, others: float, least: float = 160) -> float:
        """Return the height for a picture: `slide` on a slide, otherwise the rest of the window beside `others`."""
        return slide if self.sheet.height is None else max(least, self.sheet.height - others)

    def per_row(self, count: int, gap: float, least: float) -> int:
        """Return how many of `count` things of at least `least` pixels fit side by side; all of them on a slide."""
        return count if self.sheet.is_slide else min(count, max(1, int((self.inner + gap) // (least + gap))))

    def columns(self, count: int, gap: float, least: float) -> tuple[int, float]:
        """Return the same number, and the width of each thing if they fill the page."""
        per_row = self.per_row(count, gap, least)
        return per_row, (self.inner - gap * (per_row - 1)) / per_row

    def in_rows(self, widths: Sequence[float], left: float) -> list[tuple[float, int]]:
        """Return x and row of things of these widths, one after the other from `left`; on a slide in one row."""
        x, row, places = left, 0, []
        for wide in widths:
            if not self.sheet.is_slide and x > left and x + wide > self.right:
                x, row = left, row + 1
            places.append((x, row))
            x += wide
        return places

    # ------------------------------------------------------------------------------------------ text

    def text(
        self,
        x: float,
        y: float,
        words: Text | str,
        *,
        size: float = TEXT_SIZE,
        color: str | None = None,
        muted: bool = False,
        bold: bool = False,
        anchor: str = "left",
        vertical: str = "top",
        pixels: float | None = None,
    ) -> float:
        """Set words at (x, y), broken into lines of `pixels` if given. Returns y below them."""
        words = words.in_(self.language) if isinstance(words, Text) else words
        font = {"size": size, "color": color or (self.theme.muted if muted else self.theme.text)}
        place = {"xanchor": anchor, "yanchor": vertical, "align": anchor}
        lines = wrap(words, pixels, size) if pixels else [words]
        markup = f"<b>{markup_of(lines)}</b>" if bold else markup_of(lines)
        share_right_of_x = {"left": 1, "center": 0.5, "right": 0}[anchor]
        self._reach(x + share_right_of_x * max(width(line, size) for line in lines))
        self._annotations.append(
            {"x": x, "y": -y, "text": markup, "font": font, **place, "showarrow": False, "borderpad": 0}
        )
        return y + len(lines) * size * LINE_HEIGHT

    def small(self, x: float, y: float, words: Text | str, *, within: float | None = None, **options: Any) -> float:
        """Set words in the small size, cut to one line of `within` pixels if given. Other options as of `text`."""
        if within is not None:
            words = first_line(words.in_(self.language) if isinstance(words, Text) else words, within, SMALL_SIZE)
        return self.text(x, y, words, size=SMALL_SIZE, **options)

    def total(self, y: float, words: Text, pixels: float | None = None) -> float:
        """Set a sum in large letters under the header. Returns y below it."""
        return self.text(self.margin, y - 8 if self.sheet.is_slide else y, words, size=20, pixels=pixels)

    def header(self, result: Result) -> float:
        """Draw the title, the changes of the run and, for random weights, a prominent warning.

        A window has the warning alone. Returns y below them.
        """
        if not self.sheet.is_slide:
            return self._warning(self.margin) if result.provenance.is_random else float(self.margin)
        y = self.text(self.margin, 26, result.title, size=TITLE_SIZE, bold=True, pixels=self.inner) + 14
        beside = result.provenance.beside
        if changes := (*result.provenance.changes, *(beside.changes if beside else ())):
            words = Text("Changed run: {changes}", "更改后的运行：{changes}")
            words = words.format(changes=SEMICOLON.join(changes))
            y = self.text(self.margin, y - 4, words, color=self.theme.bar, bold=True, pixels=self.inner) + 12
        return self._warning(y) if result.provenance.is_random else y

    def _warning(self, y: float) -> float:
        pixels = 0.86 * self.inner  # bold letters are wider, and a window may be narrower than its sheet
        lines = wrap(RANDOM.in_(self.language), pixels, TEXT_SIZE)
        band = Box(self.margin, y, self.inner, 16 + 20 * len(lines))
        self.rectangle(band, fill=self.theme.warning)
        color = self.theme.on_warning
        self.text(*band.centre, RANDOM, color=color, bold=True, anchor="center", vertical="middle", pixels=pixels)
        return band.bottom + 18

    # ------------------------------------------------------------------------------------------ marks

    def rectangle(
        self, box: Box, *, fill: str | None = None, line: dict[str, Any] | None = None, round_: bool = False
    ) -> None:
        """Draw a filled or outlined rectangle, or the ellipse in it, above pictures and cells."""
        self._reach(box.right)
        sides = {"x0": box.x, "x1": box.right, "y0": -box.y, "y1": -box.bottom}
        fill, line = fill or "rgba(0,0,0,0)", line or {"width": 0}
        self._shapes.append({"type": "circle" if round_ else "rect", **sides, "fillcolor": fill, "line": line})

    def meter(self, box: Box, share: float) -> None:
        """Draw a bar that is filled by a share of its width."""
        self.rectangle(box, fill=self.theme.line)
        self.rectangle(box._replace(width=box.width * share), fill=self.theme.bar)

    def outline(self, box: Box) -> None:
        """Draw a frame that is visible on any ground: white with black dashes; thinner around a small box."""
        side = min(box.width, box.height)
        width, dash = min(3.0, max(1.5, side / 10)), min(5.0, side / 4)
        self.rectangle(box, line={"color": "#ffffff", "width": width})
        self.rectangle(box, line={"color": "#000000", "width": width, "dash": f"{dash:.2f}px,{dash:.2f}px"})

    def line(self, start: tuple[float, float], end: tuple[float, float], color: str | None = None) -> None:
        """Draw a thin straight line."""
        (x0, y0), (x1, y1) = start, end
        self._reach(x0, x1)
        line = {"color": color or self.theme.line, "width": 1}
        self._shapes.append({"type": "line", "x0": x0, "x1": x1, "y0": -y0, "y1": -y1, "line": line})

    def path(self, path: str, color: str, width: float) -> None:
        """Draw an SVG path; its y is upwards, as of all shapes here."""
        self._shapes.append({"type": "path", "path": path, "line": {"color": color, "width": round(width, 2)}})

    def rule(self, y: float) -> None:
        """Draw a line over the width of the page."""
        self.line((self.margin, y), (self.right, y))

    def fold(self, y: float, name: Text) -> None:
        """Let a window hide what lies below y until a person opens it by its name; a slide shows it.

        The window is as wide as what lies above y until then.
        """
        if not self.sheet.is_slide:
            above = min(self.width, round(self._rightmost + self.margin))
            self._meta |= {"fold": round(y), "above": above, "name": name.in_(self.language)}

    def fade(self, bar: Box, names: Sequence[Text]) -> None:
        """Let a window show another of the `layer`s of its cells or mix the last two, by controls in `bar`."""
        self._meta["fade"] = {"box": [*bar], "names": [name.in_(self.language) for name in names]}

    # ------------------------------------------------------------------------------------------ pictures

    def picture(self, box: Box, pixels: np.ndarray, *, grey: bool = False) -> None:
        """Stretch uint8 (height, width, 3 or 4) over the box; `grey` under a map, so that every colour is the map's."""
        self._reach(box.right)
        if grey:
            pixels = grey_of(pixels)
        source = _png(pixels.tobytes(), pixels.shape)
        place = {"x": box.x, "y": -box.y, "sizex": box.width, "sizey": box.height, "xref": "x", "yref": "y"}
        self._images.append({"source": source, **place, "sizing": "stretch", "layer": "below"})

    def cells(
        self,
        box: Box,
        values: np.ndarray,
        coloraxis: str,
        *,
        name: str = "",
        opacity: float = 1.0,
        where: Text = ROW_AND_COLUMN,
        places: np.ndarray | None = None,
        press: Mapping[str, Any] | None = None,
        layer: int | None = None,
    ) -> None:
        """Draw (rows, cols) as crisp cells without non-finite numbers. Hover shows the place and the value.

        With an `opacity` below 1 they lie over a picture, which stays visible where they are zero.
        `where` describes a place with `%{customdata[i]}` for `places[row, col, i]`, by default its row and column.
        `press` is the page's answer to a click: another `view`, or this one with other `settings`; its `name` is the
        button's label. The page gets it with the box, in pixels of the layout.
        `layer` numbers cells that lie on each other; all but number 0 are hidden until the page shows them.
        """
        self._reach(box.right)
        rows, cols = values.shape
        colors: dict[str, Any] = {"coloraxis": coloraxis}
        if opacity != 1:
            scale = self._scales[coloraxis]
            stops = scale.over_a_picture(opacity)
            colors = {"colorscale": stops, "zmin": scale.low, "zmax": scale.high, "showscale": False}
        if places is None:
            places = np.stack(np.indices((rows, cols)), axis=-1)
        self._traces.append(
            {
                "type": "heatmap",
                "x": np.linspace(box.x, box.right, cols + 1),
                "y": -np.linspace(box.y, box.bottom, rows + 1),
                "z": np.where(np.isfinite(values), values, np.nan),
                "customdata": places,
                **colors,
                "name": escape(name),
                "hovertemplate": where.in_(self.language) + "<br>%{z:.6g}<extra>%{fullData.name}</extra>",
                "hoverongaps": False,
                "zsmooth": False,
                "meta": {"layer": layer} if layer is not None else press and {**press, "box": [*box]},
                "visible": not layer,
            }
        )

    def bars(
        self, pieces: Sequence[tuple[Box, str, str]], gap: float = 1, press: Mapping[str, Any] | None = None
    ) -> None:
        """Draw filled boxes, each (box, colour, hover words), `gap` pixels apart.

        `press` as in `cells`.
        """
        boxes, colors = [box for box, _, _ in pieces], [color for _, color, _ in pieces]
        self._reach(*(box.right for box in boxes))
        self._traces.append(
            {
                "type": "bar",
                "orientation": "h",
                "base": [box.x for box in boxes],
                "x": [box.width for box in boxes],
                "y": [-box.centre[1] for box in boxes],
                "width": [box.height for box in boxes],
                "marker": {"color": colors, "line": {"color": self.theme.paper, "width": gap}},
                "customdata": [markup_of(words.split("\n")) for _, _, words in pieces],
                "hovertemplate": "%{customdata}<extra></extra>",
                "meta": press and {**press, "box": [*boxes[0]]},
            }
        )

    def curve(
        self,
        points: Sequence[tuple[float, float]],
        color: str,
        *,
        words: Sequence[str] = (),
        dash: str = "solid",
        symbol: str | None = None,
        width: float = 2.5,
    ) -> None:
        """Draw straight lines from point to point, broken at NaN, with a symbol on each and hover `words`."""
        self._traces.append(
            {
                "type": "scatter",
                "x": [x for x, _ in points],
                "y": [-y for _, y in points],
                "mode": "lines+markers" if symbol else "lines",
                "line": {"color": color, "width": width, "dash": dash},
                "marker": {"symbol": symbol, "size": 8, "color": color} if symbol else None,
                "customdata": [*map(escape, words)] or None,
                "hovertemplate": "%{customdata}<extra></extra>" if words else None,
                "hoverinfo": None if words else "skip",
            }
        )

    def letters(self, points: Sequence[tuple[float, float]], letters: Sequence[str], words: Sequence[str]) -> None:
        """Draw a white letter at each point, with hover `words`."""
        self._traces.append(
            {
                "type": "scatter",
                "x": [x for x, _ in points],
                "y": [-y for _, y in points],
                "mode": "text",
                "text": [*letters],
                "textfont": {"size": SMALL_SIZE, "color": "#ffffff"},
                "customdata": [*map(escape, words)],
                "hovertemplate": "%{customdata}<extra></extra>",
            }
        )

    def treemap(
        self,
        box: Box,
        labels: Sequence[str],
        parents: Sequence[int],
        counts: Sequence[int],
        colors: Sequence[str],
        words: Sequence[str],
    ) -> None:
        """Draw nested rectangles, each with its label and hover `words`; text that does not fit is left out.

        `parents` are indices, -1 at the top; a count includes those inside it.
        """
        tree = {
            "type": "treemap",
            "ids": [str(index) for index in range(len(labels))],
            "labels": [*map(escape, labels)],
            "parents": ["" if parent < 0 else str(parent) for parent in parents],
            "values": [*counts],
            "branchvalues": "total",
            "textinfo": "label",
            "textfont": {"size": SMALL_SIZE, "color": "#ffffff"},
            "hovertext": [markup_of(word.split("\n")) for word in words],
            "hoverinfo": "text",
            "marker": {"colors": [*colors], "line": {"color": self.theme.paper, "width": 1}},
            "root": {"color": self.theme.paper},
            "pathbar": {"visible": False},
            "tiling": {"pad": 2},
        }
        self._layout["uniformtext"] = {"minsize": SMALL_SIZE, "mode": "hide"}
        self._reach(box.right)
        self._trees.append((tree, box))

    def color_scale(self, scale: Scale, *, beside: Box, title: Text) -> str:
        """Name a scale for `cells` and draw its bar beside a box, with real numbers and the unit."""
        self._reach(beside.right + BAR_ROOM)
        bar = Box(beside.right + 14, beside.y, 16, max(beside.height, 160))
        coloraxis = f"coloraxis{len(self._bars) + 1}" if self._bars else "coloraxis"
        self._scales[coloraxis] = scale
        self._layout[coloraxis] = {"colorscale": scale.stops, "cmin": scale.low, "cmax": scale.high}
        self._bars.append((coloraxis, bar, title.in_(self.language)))
        return coloraxis

    # ------------------------------------------------------------------------------------------ the end

    def _reach(self, *rights: float) -> None:
        self._rightmost = max((self._rightmost, *rights))

    def document(self, bottom: float) -> dict[str, Any]:
        """Return the figure as plotly's traces and layout, closed a margin below `bottom`.

        A window is closed a margin right of the last drawing too, so that the room beside it can be used.
        """
        height = round(bottom + self.margin)
        if not self.sheet.is_slide:
            self.width = min(self.width, round(self._rightmost + self.margin))
        ground = {"type": "scatter", "x": [], "y": []}  # without a trace on them the axes vanish, and all on them
        for tree, box in self._trees:
            x = [box.x / self.width, box.right / self.width]
            tree["domain"] = {"x": x, "y": [1 - box.bottom / height, 1 - box.y / height]}
        used = {trace.get("coloraxis") for trace in self._traces}
        for coloraxis, box, title in self._bars:
            if coloraxis not in used:  # plotly draws no bar for an unused axis
                marker = {"color": [0], "coloraxis": coloraxis, "opacity": 0}
                self._traces.append({"type": "scatter", "x": [0], "y": [0], "marker": marker, "hoverinfo": "skip"})
            at = Box(box.x / self.width, 1 - box.y / height, box.width, box.height)
            self._layout[coloraxis]["colorbar"] = color_bar(self._scales[coloraxis], at, title, self.theme)
        layout = {
            "width": self.width,
            "height": height,
            "autosize": False,
            "margin": {"l": 0, "r": 0, "t": 0, "b": 0},
            "paper_bgcolor": self.theme.paper,
            "plot_bgcolor": self.theme.paper,
            "font": {"family": FONTS, "size": TEXT_SIZE, "color": self.theme.text},
            "showlegend": False,
            "barmode": "overlay",
            "xaxis": {"range": [0, self.width], "visible": False},
            "yaxis": {"range": [-height, 0], "scaleanchor": "x", "visible": False},
            "images": self._images,
            "shapes": self._shapes,
            "annotations": self._annotations,
            **({"meta": self._meta} if self._meta else {}),
            **self._layout,
        }
        return {"data": [ground, *self._traces, *(tree for tree, _ in self._trees)], "layout": layout}

    def finish(self, bottom: float) -> go.Figure:
        """Return the same as a plotly figure."""
        document = self.document(bottom)
        document["layout"]["template"] = "none"
        return go.Figure(document)
