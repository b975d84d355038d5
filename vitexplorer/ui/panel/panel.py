"""Views that need no canvas of their own: one panel a room, filled from the registry.

The page is built before torch is loaded, and the registry of views with it, so the panel learns its views and their
controls from its value. A control that moves sends `ask` with the view and its settings; the answer is a plotly figure,
which travels as a file, is drawn by the browser and is saved there.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import plotly
from gradio.data_classes import FileData, GradioModel

from vitexplorer.types import PREFIX_WORDS, Result
from vitexplorer.ui.files import cached_file
from vitexplorer.ui.language import word
from vitexplorer.ui.parts.widget import Widget
from vitexplorer.words import ExplainedError, Language

if TYPE_CHECKING:
    from vitexplorer.capture import Capture
    from vitexplorer.interfaces import Control

LIBRARY = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"

_WORDS = ("save", "misleads", "paper", "python_lines", "panel_working", "panel_views")


class PanelOption(GradioModel):
    """One choice of a control."""

    value: str
    label: str


class PanelControl(GradioModel):
    """One setting: a choice where it has options, a slider where it has bounds, a text field otherwise."""

    name: str
    label: str
    value: str
    options: list[PanelOption] = []
    low: float | None = None
    high: float | None = None
    step: float | None = None


class PanelView(GradioModel):
    """One view of the room."""

    key: str
    title: str


class PanelData(GradioModel):
    """One view on the screen, and the others of the room to choose from."""

    views: list[PanelView] = []
    chosen: str = ""
    question: str = ""
    misleads: str = ""
    paper: str = ""
    paper_url: str = ""
    controls: list[PanelControl] = []
    figure: FileData | None = None
    """plotly JSON"""
    csv: FileData | None = None
    library: FileData | None = None
    """plotly.js as the plotly package ships it"""
    refused: str = ""
    """why there is no figure"""
    python: str = ""
    words: dict[str, str] = {}


class ViewPanel(Widget):
    """The panel. Fires `ask` with `view`, `settings` (name -> text) and `theme`."""

    data_model = PanelData
    stem = "panel"
    folder = Path(__file__).parent


def panel_data(
    capture: Capture, views: tuple[str, ...], language: Language, view: str, given: dict[str, Any], theme: str
) -> tuple[PanelData, dict[str, Any]]:
    """The panel for one view under the given settings, and those settings checked.

    A view that has no meaning for the model, or a setting it cannot take, is answered with its sentence in place of
    the figure.
    """
    from vitexplorer.views import VIEWS, compute

    record = VIEWS[view]
    data = PanelData(
        views=[PanelView(key=key, title=VIEWS[key].title.in_(language)) for key in views],
        chosen=view,
        question=record.question.in_(language),
        misleads=record.misleads.in_(language),
        paper=record.paper.citation if record.paper else "",
        paper_url=record.paper.url if record.paper else "",
        words={key: word(key, language) for key in _WORDS},
    )
    settings: dict[str, Any] = {}
    try:
        result = compute(view, capture, **given)
        settings = dict(result.settings)
        data.library = FileData(path=str(LIBRARY))
        data.figure = figure_file(result, language, theme)
        data.csv = csv_file(result)
    except ExplainedError as error:
        data.refused = error.text.in_(language)
    data.controls = [describe(control, capture, {**given, **settings}, language) for control in record.controls]
    return data, settings


def figure_file(result: Result, language: Language, theme: str) -> FileData:
    """The figure of a result as plotly JSON."""
    from vitexplorer.figures import render

    figure = render(result, language=language, theme="dark" if theme == "dark" else "light")
    return cached_file(figure.to_json().encode(), "figure.json", "application/json")


def csv_file(result: Result) -> FileData:
    """The numbers of a result."""
    from vitexplorer.figures.tables import as_csv

    return cached_file(as_csv(result).encode("utf-8-sig"), f"{result.view}.csv", "text/csv")


def describe(control: Control, capture: Capture, settings: dict[str, Any], language: Language) -> PanelControl:
    """A control as the browser draws it."""
    from vitexplorer.interfaces import BlockControl, Choice, HeadControl, Number, QueryControl

    value = settings.get(control.name)
    value = control.default(capture) if value is None else value
    described = PanelControl(name=control.name, label=control.label.in_(language), value=text_of(value))
    if isinstance(control, BlockControl):
        described.low, described.high, described.step = 0, capture.depth - 1, 1
    elif isinstance(control, Number):
        described.low, described.step = control.low, 1 if control.whole else control.step
        described.high = control.high - control.step if control.open_above else control.high
    elif isinstance(control, Choice):
        described.options = [PanelOption(value=key, label=text.in_(language)) for key, text in control.options]
    elif isinstance(control, HeadControl):
        heads = capture.num_heads(int(settings.get("block", capture.depth - 1)))
        fused = [PanelOption(value=how, label=word(f"fusion_{how}", language)) for how in control.fusions]
        described.options = fused + [PanelOption(value=str(n), label=str(n)) for n in range(heads)]
    elif isinstance(control, QueryControl):
        tokens = [name for name in ("cls", "dist") if name in capture.prefix_tokens]
        described.options = [PanelOption(value=n, label=PREFIX_WORDS[n].in_(language)) for n in (*tokens, "mean")]
        if described.value not in (*tokens, "mean"):
            described.options.append(PanelOption(value=described.value, label=described.value))
    return described


def text_of(value: Any) -> str:
    """A setting as text, the way the command line and the URL write it."""
    if isinstance(value, tuple | list):
        return ",".join(str(part) for part in value)
    return "" if value is None else str(value)
