"""Views that need no canvas of their own: one panel a room, filled from the registry.

The page is built before torch is loaded, and the registry of views with it, so the panel learns its views and their
controls from its value. A control that moves sends `ask` with the view and its settings; the answer is a plotly figure,
which travels as a file, is drawn by the browser and is saved there. A view that runs the network many times is sent
with `work` instead: until its figure is there the answers say how far it is, and the earlier figure stays.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import plotly
from gradio.data_classes import FileData, GradioModel

from vitexplorer.controls import (
    BlockControl,
    Control,
    HeadControl,
    Number,
    QueryControl,
    Several,
    TargetControl,
    written_value,
)
from vitexplorer.painted import ALL_HIDDEN, PaintedControl
from vitexplorer.types import PatchGrid, Result
from vitexplorer.ui.background import Step, StoppedError
from vitexplorer.ui.files import cached_file, image_file
from vitexplorer.ui.language import word
from vitexplorer.ui.parts.field import Option
from vitexplorer.ui.parts.widget import Widget
from vitexplorer.words import ExplainedError, Language

if TYPE_CHECKING:
    from vitexplorer.capture import Capture

LIBRARY = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"

LIKELY_CLASSES = 12
"""classes offered to be explained, the model's first choices"""

_WORDS = (
    "save",
    "misleads",
    "paper",
    "python_lines",
    "panel_working",
    "panel_views",
    "panel_stop",
    "panel_patch",
    "panel_pick",
    "paint_all",
    "paint_bare",
    "paint_count",
    "paint_help",
    "paint_hidden",
    "paint_visible",
)

_log = logging.getLogger(__name__)

Compute = Callable[[str, Mapping[str, Any]], Result]
"""(view, settings given) -> result"""


class PanelPaint(GradioModel):
    """What a control needs that is painted on the picture: which patches are hidden."""

    hidden: list[int] | None = None
    """their numbers row by row in the figure, whoever chose them; None without a figure: what was painted stays"""
    instead_of: list[str] = []
    """controls that have no say while patches are painted"""
    release: str = ""
    """the button that lets them choose again"""
    full: str = ""
    """said where the last visible patch would be painted"""


class PanelControl(GradioModel):
    """One setting: a choice where it has options, a slider where it has bounds, a text field otherwise."""

    name: str
    label: str
    value: str
    options: list[Option] = []
    several: bool = False
    """whether any number of the options may be chosen"""
    rows: int = 0
    """of the patches that may be picked or painted on the picture; 0 where none may"""
    cols: int = 0
    covered: tuple[float, float] = (1.0, 1.0)
    """shares of the picture's height and width that the patches cover"""
    paint: PanelPaint | None = None
    """where patches are painted"""
    low: float | None = None
    high: float | None = None
    step: float | None = None


class PanelView(GradioModel):
    """One view of the room."""

    key: str
    title: str
    slow: bool = False
    """whether it is asked for with `work`"""


class PanelWork(GradioModel):
    """How far a view is that takes a while."""

    text: str
    share: float | None = None
    """0-1; None where it is not known yet"""


class PanelData(GradioModel):
    """One view on the screen and the others of the room to choose from; or, while `work` is set, that alone."""

    asked: int = 0
    """number of the question that this answers, as the browser counts them; 0 where nobody asked"""
    work: PanelWork | None = None
    theme: str = ""
    """of the figure: light or dark"""
    views: list[PanelView] = []
    chosen: str = ""
    question: str = ""
    misleads: str = ""
    paper: str = ""
    paper_url: str = ""
    controls: list[PanelControl] = []
    image: FileData | None = None
    """the pixels the model saw; only where patches may be picked or painted on them"""
    figure: FileData | None = None
    """plotly JSON"""
    csv: FileData | None = None
    library: FileData | None = None
    """plotly.js as the plotly package ships it"""
    opens: bool = False
    """whether a cell of the figure is a head of a block, whose map can be opened"""
    refused: str = ""
    """why there is no figure"""
    python: str = ""
    words: dict[str, str] = {}


class FigurePanel(Widget):
    """The panel. Fires `ask` and `work` with `view`, `settings` (name -> text), `theme` and `asked`.

    Also `stop`, `open` with `block` and `head`, and `begin` where it was shown and nothing came.
    """

    data_model = PanelData
    stem = "figure_panel"
    scripts = ("patches.js", "picker.js", "painter.js", "controls.js", "figure_panel.js")
    folder = Path(__file__).parent


def panel_words(language: Language) -> dict[str, str]:
    """What stands around every figure."""
    return {key: word(key, language) for key in _WORDS}


def work_data(step: Step, view: str, language: Language) -> PanelData:
    """The line over the earlier figure while a view is computed."""
    from vitexplorer.views import VIEWS

    if not step.total:
        return PanelData(work=PanelWork(text=word("panel_waiting", language, view=VIEWS[view].title)))
    text = word("panel_progress", language, view=VIEWS[view].title, done=step.done, total=step.total)
    if step.seconds_left is not None:
        text += word("panel_left", language, seconds=max(1, round(step.seconds_left)))
    return PanelData(work=PanelWork(text=text, share=step.done / step.total))


def panel_data(
    capture: Capture,
    views: tuple[str, ...],
    language: Language,
    view: str,
    given: Mapping[str, Any],
    theme: str,
    compute: Compute,
) -> tuple[PanelData, dict[str, Any]]:
    """The panel for one view under the given settings, and those settings checked.

    A view that has no meaning for the model, or a setting it cannot take, is answered with its sentence in place of
    the figure. Raises StoppedError alone.
    """
    from vitexplorer.views import VIEWS, refusal

    record = VIEWS[view]
    data = PanelData(
        theme="dark" if theme == "dark" else "light",
        views=[
            PanelView(key=key, title=VIEWS[key].title.in_(language), slow=VIEWS[key].runs == "many") for key in views
        ],
        chosen=view,
        question=record.question.in_(language),
        misleads=record.misleads.in_(language),
        paper=record.paper.citation if record.paper else "",
        paper_url=record.paper.url if record.paper else "",
        words=panel_words(language),
    )
    settings: dict[str, Any] = {}
    result: Result | None = None
    reason = refusal(view, capture)
    if reason is not None:
        data.refused = reason.in_(language)
        return data, settings
    try:
        result = compute(view, given)
        settings = dict(result.settings)
        data.library = FileData(path=str(LIBRARY))
        data.figure = figure_file(result, language, data.theme)
        data.csv = csv_file(result)
        data.opens = result.axes == ("blocks", "heads")
    except StoppedError:
        raise
    except ExplainedError as error:
        data.refused = error.text.in_(language)
    except Exception:
        _log.exception("Could not show %s with %s", view, given)
        data.refused = word("unexpected", language)
    settled = {**given, **settings}
    data.controls = [describe(control, capture, settled, language, result) for control in record.controls]
    if any(control.rows for control in data.controls):
        data.image = image_file(capture.input.pixels)
    return data, settings


def figure_file(result: Result, language: Language, theme: str) -> FileData:
    """The figure of a result as plotly JSON."""
    from vitexplorer.figures import render

    figure = render(result, language=language, theme=theme)
    return cached_file(figure.to_json().encode(), "figure.json", "application/json")


def csv_file(result: Result) -> FileData:
    """The numbers of a result."""
    from vitexplorer.figures.tables import as_csv

    return cached_file(as_csv(result).encode("utf-8-sig"), f"{result.view}.csv", "text/csv")


def describe(
    control: Control, capture: Capture, settings: dict[str, Any], language: Language, result: Result | None = None
) -> PanelControl:
    """A control as the browser draws it, beside the figure of `result` where there is one."""
    value = settings.get(control.name)
    value = control.default(capture) if value is None else value
    described = PanelControl(name=control.name, label=control.label.in_(language), value=written_value(value))
    if isinstance(control, BlockControl):
        described.low, described.high, described.step = 0, capture.depth - 1, 1
    elif isinstance(control, Number):
        described.low, described.step = control.low, 1 if control.whole else control.step
        described.high = control.high - control.step if control.open_above else control.high
    elif isinstance(control, PaintedControl):
        _lay(described, control.grid(capture), capture)
        described.paint = PanelPaint(
            hidden=control.hidden(result) if result else None,
            instead_of=list(control.instead_of),
            release=control.release.in_(language),
            full=ALL_HIDDEN.in_(language),
        )
    else:
        described.several = isinstance(control, Several)
        block = int(settings.get("block", capture.depth - 1))
        options = options_of(control, capture, block, language)
        if options and not described.several and described.value not in options:
            options[described.value] = control.say(value, capture).in_(language)
        if isinstance(control, QueryControl):
            _lay(described, control.grid(capture, {"block": block}), capture)
        described.options = [Option(value=key, label=label) for key, label in options.items()]
    return described


def _lay(described: PanelControl, grid: PatchGrid, capture: Capture) -> None:
    """Where the patches of a control lie on the picture."""
    height, width = capture.input.pixels.shape[:2]
    described.rows, described.cols = grid.rows, grid.cols
    described.covered = (grid.rows * grid.patch_size / height, grid.cols * grid.patch_size / width)


def options_of(control: Control, capture: Capture, block: int, language: Language) -> dict[str, str]:
    """What a control may be, value -> label; empty where a person has to write it."""
    if isinstance(control, HeadControl):
        fused = {how: word(f"fusion_{how}", language) for how in control.fusions}
        return fused | {str(head): str(head) for head in range(capture.num_heads(block))}
    if isinstance(control, TargetControl):
        likely = capture.logits.argsort(descending=True)[:LIKELY_CLASSES].tolist()
        return {str(n): control.say(n, capture).in_(language) for n in likely}
    return {key: text.in_(language) for key, text in control.offered(capture)}
