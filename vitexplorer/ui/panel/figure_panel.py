"""Views that need no canvas of their own: one panel a room, filled from the registry.

The page is built before torch is loaded, and the registry of views with it, so the panel learns its views and their
controls from its value. A control that moves sends `ask` with the view and its settings; the answer is a plotly figure,
which travels as a file, is drawn by the browser and is saved there. A view that runs the network is sent with `work`
instead: until its figure is there the answers say how far it is, and the earlier figure stays.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from vitexplorer.controls import departures, specs
from vitexplorer.core.text import ExplainedError, Language, Text
from vitexplorer.core.types import Result
from vitexplorer.service.jobs import Step, StoppedError
from vitexplorer.ui.controls import Field, field_of
from vitexplorer.ui.kit.language import word
from vitexplorer.ui.kit.served_files import ServedFile, cached_file, image_file
from vitexplorer.ui.kit.widget import Widget
from vitexplorer.ui.panel.documents import written
from vitexplorer.ui.panel.elsewhere import model_showing
from vitexplorer.ui.shell.frame import FrameData, about_record, frame_words

if TYPE_CHECKING:
    from vitexplorer.capturing.capture import Capture
    from vitexplorer.comparisons.record import Comparison
    from vitexplorer.views.record import View

_WORDS = (
    "panel_working",
    "panel_views",
    "panel_stop",
    "panel_settings",
    "panel_rows",
    "panel_elsewhere",
    "standing",
)

_log = logging.getLogger(__name__)


class PanelView(BaseModel):
    """One view of the room."""

    key: str
    title: str
    question: str = ""
    slow: bool = False
    """whether it is asked for with `work`"""
    own: bool = False
    """whether the room shows it in its own way, beside the panel"""
    needs: str = ""
    """what it takes in place of a preview that comes by itself: runs of the network; empty where it takes none"""
    preview: ServedFile | None = None
    """a small picture of it; None where it was not computed yet"""
    refused: str = ""
    """why this model has none; empty where it has"""


class PanelFact(BaseModel):
    """One row of a figure's caption."""

    label: str
    value: str


class PanelWork(BaseModel):
    """How far a view is that takes a while."""

    text: str
    share: float | None = None
    """0-1; None where it is not known yet"""


class PanelData(FrameData):
    """One view on the screen and the others of the room to choose from.

    While `work` is set it is that alone, and so it is with `previews`. A `bare` one has no figure: its view is the
    room's own, or one that the browser is to ask for with `settings`.
    """

    asked: int = 0
    """number of the question that this answers, as the browser counts them; 0 where nobody asked"""
    work: PanelWork | None = None
    previews: dict[str, ServedFile] = {}
    """of views"""
    bare: bool = False
    room: str = ""
    run: str = ""
    """names the run that the views are of"""
    settings: dict[str, str] = {}
    """those that are not the view's defaults, as written"""
    theme: str = ""
    """of the figure: light or dark"""
    views: list[PanelView] = []
    chosen: str = ""
    controls: list[Field] = []
    image: ServedFile | None = None
    """the pixels the model saw; only where patches may be picked or painted on them"""
    figure: ServedFile | None = None
    """its layouts, see `documents`"""
    facts: list[PanelFact] = []
    """the figure's caption"""
    csv: ServedFile | None = None
    opens: bool = False
    """whether a cell of the figure is a head of a block, whose map can be opened"""
    refused: str = ""
    """why there is no figure"""
    standing: str = ""
    """how far the map is to be trusted; empty where that is not known"""
    evidence: str = ""
    """the view that says more of it; empty where there is none"""
    elsewhere: str = ""
    """a bundled model that has the view which this one has not"""


class FigurePanel(Widget):
    """The panel. Fires `ask` and `work` with `view`, `settings` (name -> text), `theme` and `asked`.

    Also `stop`, `open` with `block` and `head`, `previews` once a figure is on the screen, and `begin` with
    `asked` where it was shown and nothing came.
    """

    data_model = PanelData
    stem = "figure_panel"
    sends = ("ask", "work", "stop", "open", "previews", "begin")


def panel_words(language: Language) -> dict[str, str]:
    """Words around every figure."""
    return frame_words(language) | {key: word(key, language) for key in _WORDS}


@dataclass(frozen=True)
class Shelf:
    """Source of a panel's views: those of one capture, or the comparisons of two."""

    records: Mapping[str, View | Comparison]
    refusal: Callable[[str, Capture], Text | None]
    """why one has no meaning for what is on the screen"""
    reading: Callable[[Result, Language], str]


def of_views() -> Shelf:
    """The views of one capture."""
    from vitexplorer.views import VIEWS, reading, refusal

    return Shelf(VIEWS, refusal, reading)


def panel_view(capture: Capture, key: str, language: Language, shelf: Shelf) -> PanelView:
    """One view in the list of a room."""
    record, reason = shelf.records[key], shelf.refusal(key, capture)
    return PanelView(
        key=key,
        title=record.title.in_(language),
        question=record.question.in_(language),
        slow=record.runs != "nothing",
        needs="" if record.runs == "nothing" else word(f"panel_needs_{record.runs}", language),
        refused=reason.in_(language) if reason else "",
    )


def work_data(step: Step, title: Text, language: Language) -> PanelData:
    """The line over the earlier figure while a view of this title is computed."""
    if step.place:
        text = word("panel_waiting", language, view=title, place=step.place)
        return PanelData(work=PanelWork(text=text))
    if not step.total:
        return PanelData(work=PanelWork(text=word("panel_working", language)))
    text = word("panel_progress", language, view=title, done=step.done, total=step.total)
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
    made: Result | Exception | None,
    shelf: Shelf | None = None,
) -> tuple[PanelData, dict[str, Any]]:
    """Return the panel for one view under the given settings, and those settings checked.

    A view that has no meaning for the model is answered with its sentence in place of the figure, and so is an error
    that was `made` in place of a result.
    """
    shelf = shelf or of_views()
    record = shelf.records[view]
    data = PanelData(
        theme="dark" if theme == "dark" else "light",
        views=[panel_view(capture, key, language, shelf) for key in views],
        chosen=view,
        **about_record(record, language),
        words=panel_words(language),
    )
    settings: dict[str, Any] = {}
    result: Result | None = None
    data.refused = next(one.refused for one in data.views if one.key == view)
    if data.refused:
        data.elsewhere = (model_showing(view) or "") if record.room != "compare" else ""
        return data, settings
    try:
        result = made_or_raised(made)
        settings = dict(result.settings)
        data.settings = departures(record.controls, capture, settings)
        data.figure, data.facts = figure_file(result, language, data.theme)
        data.csv = csv_file(result, language)
        data.reading = shelf.reading(result, language)
        data.opens = result.axes == ("blocks", "heads")
    except ExplainedError as error:
        data.refused = error.text.in_(language)
    except Exception:
        _log.exception("Could not show %s with %s", view, given)
        data.refused = word("unexpected", language)
    settled = {**given, **settings}
    data.controls = [field_of(spec, language) for spec in specs(record.controls, capture, settled, result)]
    if any(control.board for control in data.controls):
        data.image = image_file(capture.input.pixels)
    return data, settings


async def attempted(computing: Awaitable[Result]) -> Result | Exception:
    """Await a result; what goes wrong is returned, for the panel says it. Raises StoppedError alone."""
    try:
        return await computing
    except StoppedError:
        raise
    except Exception as error:
        return error


def made_or_raised(made: Result | Exception | None) -> Result:
    """Return a result that was `attempted`, or raise its error."""
    if isinstance(made, Exception):
        raise made
    assert made is not None
    return made


def bare_data(
    capture: Capture, views: tuple[str, ...], language: Language, view: str, shelf: Shelf | None = None
) -> PanelData:
    """The panel without a figure."""
    shelf = shelf or of_views()
    return PanelData(
        bare=True,
        views=[panel_view(capture, key, language, shelf) for key in views],
        chosen=view,
        **about_record(shelf.records[view], language),
        words=panel_words(language),
    )


def figure_file(result: Result, language: Language, theme: str) -> tuple[ServedFile, list[PanelFact]]:
    """The figure of a result, laid out for every window and as a slide, and what its caption says."""
    from vitexplorer.figures.rendering import slide, windows

    shown = windows(result, language=language, theme=theme)
    content = written(shown.documents, slide(result, language=language, theme=theme))
    facts = [PanelFact(label=fact.label.in_(language), value=fact.value.in_(language)) for fact in shown.facts]
    return cached_file(content, "figure.json"), facts


def csv_file(result: Result, language: Language) -> ServedFile:
    """The numbers of a result, under the name that its pictures are saved under too."""
    from vitexplorer.figures.identity import file_stem
    from vitexplorer.figures.tables import as_csv

    return cached_file(as_csv(result, language).encode("utf-8-sig"), f"{file_stem(result)}.csv")
