"""Figure panel for the views that need no canvas of their own: one panel a room, filled from the registry.

The page is built before torch and the registry of views are loaded, so the panel takes its views and their controls
from its value. A control that moves sends `ask` with the view and its settings; the answer is a plotly figure in a
file, which the browser draws and saves. A view that runs the network is requested with `work` instead: until its
figure is ready the answers report progress, and the earlier figure stays.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from vitexplorer.controls import departures, specs
from vitexplorer.core.text import ExplainedError, Language, Text
from vitexplorer.core.types import Result
from vitexplorer.models.catalog import title_of
from vitexplorer.models.photographs import bundled_model, naming_model
from vitexplorer.service.jobs import Step, StoppedError
from vitexplorer.ui.canvas.files import input_file
from vitexplorer.ui.controls.field import Field, field_of
from vitexplorer.ui.kit.language import word
from vitexplorer.ui.kit.served_files import ServedFile, cached_file
from vitexplorer.ui.kit.widget import Widget
from vitexplorer.ui.panel.documents import figure_json
from vitexplorer.ui.shell.frame import FrameData, about, frame_words
from vitexplorer.ui.shell.visit import RESET_BY

if TYPE_CHECKING:
    from vitexplorer.capturing.capture import Capture
    from vitexplorer.comparisons.record import Comparison
    from vitexplorer.views.record import View

_WORDS = (
    "image",
    "panel_working",
    "panel_views",
    "panel_stop",
    "panel_settings",
    "panel_rows",
    "notice_close",
    "standing",
)

_log = logging.getLogger(__name__)


class PanelView(BaseModel):
    """One view of the room."""

    key: str
    title: str
    question: str = ""
    group: str = ""
    """Heading in the list of a room whose views all have one; empty where it has none"""
    slow: bool = False
    """True where it runs the network and is requested with `work`"""
    own: bool = False
    """True where the room shows it in its own way, beside the panel"""
    needs: str = ""
    """Cost shown in place of the preview, for example one run of the network or another model; empty for none"""
    preview: ServedFile | None = None
    """Small picture; None where it was not computed yet"""
    refused: str = ""
    """Reason why there is no such view; empty where this model has it, or another one shows it"""


class Elsewhere(BaseModel):
    """Offer to change to a model that has a view which the page's model lacks."""

    reason: str
    """Reason why the model lacks it, with the other model's name where the view on the screen is already its own"""
    changes: dict[str, str]
    """Parameters of the address that differ"""
    show: str
    """Label of the button that changes the model"""
    notice: str
    """Notice once the other model is on the screen"""
    back: str
    """Label of the button back to the current model"""


class PanelWork(BaseModel):
    """Progress of a view that is being computed."""

    text: str
    share: float | None = None
    """Share that is done, 0-1; None where it is not known yet"""


class PanelData(FrameData):
    """Current view and the list of the room's views to choose from.

    Data with `work` or `previews` hold nothing else. `bare` data have no figure: the room shows the view in its own
    way, or the browser is to request it with `settings`.
    """

    asked: int = 0
    """Number of the question that this answers, counted by the browser; 0 where it answers none"""
    work: PanelWork | None = None
    previews: dict[str, ServedFile] = {}
    """Small pictures by view"""
    bare: bool = False
    room: str = ""
    run: str = ""
    """Name of the run whose views these are"""
    settings: dict[str, str] = {}
    """Settings that differ from the view's defaults, as text"""
    theme: str = ""
    """Theme of the figure: light or dark"""
    views: list[PanelView] = []
    chosen: str = ""
    controls: list[Field] = []
    image: ServedFile | None = None
    """Pixels that the model saw; only where patches may be picked or painted on them, or there is no figure"""
    figure: ServedFile | None = None
    """Layouts of the figure, see `documents`"""
    facts: list[dict[str, str]] = []
    """Caption of the figure: rows of `label` and `value`"""
    csv: ServedFile | None = None
    opens: bool = False
    """True where the cells of the figure are heads of blocks, whose maps can be opened"""
    refused: str = ""
    """Reason why there is no figure"""
    standing: str = ""
    """Evidence on how far the map can be trusted; empty where there is none"""
    evidence: str = ""
    """View that shows this evidence in detail; empty where there is none"""
    elsewhere: Elsewhere | None = None
    """Offer of another model; None where the page's model has the view, or no other is known to have it"""


@dataclass(frozen=True)
class Question:
    """A browser's question to a panel."""

    view: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    theme: str = "light"
    number: int = 0
    """Running number that the browser gave the question, so that it recognises the answer to its latest one"""


class FigurePanel(Widget):
    """Component of the panel.

    Events: `ask` and `work` with `view`, `settings` (name -> text), `theme` and `asked`; `stop`; `open` with `block`
    and `head`; `previews` once a figure is on the screen; `begin` with `asked` where the panel stayed empty.
    """

    data_model = PanelData
    sends = ("ask", "work", "stop", "open", "previews", "begin")


def panel_words(language: Language) -> dict[str, str]:
    """Return the texts around every figure."""
    return frame_words(language) | {key: word(key, language) for key in _WORDS}


@dataclass(frozen=True)
class Nearest:
    """Bundled model that has a view, and the model whose place it takes."""

    model: str
    former: str
    changes: Mapping[str, str]
    """Parameters of the address that put it there"""
    stands_in: bool = False
    """True if the page shows the view of this model at once, under its name"""

    def offer(self, reason: Text, language: Language) -> Elsewhere:
        """Return the offer in words; `reason` says why the page's model lacks the view."""
        model, former = (title_of(name) for name in (self.model, self.former))
        return Elsewhere(
            reason=word("panel_instead", language, reason=reason, model=model)
            if self.stands_in
            else reason.in_(language),
            changes=dict(self.changes),
            show=word("panel_change" if self.stands_in else "panel_elsewhere", language, model=model),
            notice=word("panel_shown", language, model=model),
            back=word("panel_back", language, model=former),
        )


@dataclass(frozen=True)
class ViewSource:
    """Source of a panel's views: the views of one capture, or its comparisons with another."""

    capture: Capture
    records: Mapping[str, View | Comparison]
    refusal: Callable[[str], Text | None]
    """Returns why a view has no meaning here, or None"""
    reading: Callable[[Result, Language], str]
    """Returns a sentence that reads off the main result"""
    nearest: Callable[[str], Nearest | None]
    """Returns another model that has a view which `refusal` refuses, or None"""


def capture_views(capture: Capture) -> ViewSource:
    """Return the views of one capture as a source."""
    from vitexplorer.views import VIEWS, reading, refusal

    return ViewSource(
        capture, VIEWS, lambda view: refusal(view, capture), reading, lambda view: nearest_model(view, capture)
    )


def panel_view(source: ViewSource, key: str, language: Language) -> PanelView:
    """Return the entry of a view in the list of its room."""
    from vitexplorer.views.record import GROUPS

    record = source.records[key]
    reason = source.refusal(key)
    needs = "" if record.runs == "nothing" else f"panel_needs_{record.runs}"
    if reason:
        nearest = source.nearest(key)
        needs = "panel_needs_other" if nearest else "panel_needs_none"
        reason = None if nearest and nearest.stands_in else reason
    return PanelView(
        key=key,
        title=record.title.in_(language),
        question=record.question.in_(language),
        group=GROUPS[record.group].in_(language) if record.group else "",
        slow=record.runs != "nothing",
        needs=word(needs, language) if needs else "",
        refused=reason.in_(language) if reason else "",
    )


def work_data(step: Step, title: Text, language: Language) -> PanelData:
    """Return the progress line that stands over the earlier figure while a view is computed."""
    if step.place:
        text = word("panel_waiting", language, view=title, place=step.place)
        return PanelData(work=PanelWork(text=text))
    if not step.total:
        return PanelData(work=PanelWork(text=word("panel_working", language)))
    text = word("panel_progress", language, view=title, done=step.done, total=step.total)
    if step.seconds_left is not None:
        text += word("panel_left", language, seconds=max(1, round(step.seconds_left)))
    return PanelData(work=PanelWork(text=text, share=step.done / step.total))


def bare_data(source: ViewSource, views: tuple[str, ...], language: Language, view: str) -> PanelData:
    """Return panel data without a figure; `views` are the keys of the views to choose from."""
    return PanelData(
        views=[panel_view(source, key, language) for key in views],
        chosen=view,
        **about(source.records[view], language),
        words=panel_words(language),
    )


def panel_data(
    source: ViewSource,
    views: tuple[str, ...],
    language: Language,
    question: Question,
    made: Result | Exception | None,
    origin: ViewSource | None = None,
) -> tuple[PanelData, dict[str, Any]]:
    """Return the panel data of the view that was asked for, and its settings after checking.

    Where no model shows the view, `made` is None; then, and where it is an error, the model's picture with a sentence
    stands in place of the figure. `origin` is the source that `made` was computed from, where that is another model.
    """
    view, given = question.view, question.settings
    record = source.records[view]
    capture = (origin or source).capture
    data = bare_data(source, views, language, view)
    data.asked = question.number
    data.theme = "dark" if question.theme == "dark" else "light"
    settings: dict[str, Any] = {}
    result: Result | None = None
    data.refused = next(entry.refused for entry in data.views if entry.key == view)
    if reason := source.refusal(view):
        nearest = source.nearest(view)
        data.elsewhere = nearest.offer(reason, language) if nearest else None
    if data.refused:
        data.image = input_file(capture)
        return data, settings
    try:
        result = made_or_raised(made)
        settings = dict(result.settings)
        data.settings = departures(record.controls, capture, settings)
        data.figure, data.facts = figure_file(result, language, data.theme)
        data.csv = csv_file(result, language)
        data.reading = source.reading(result, language)
        data.opens = data.elsewhere is None and result.axes == ("blocks", "heads")
    except ExplainedError as error:
        data.refused = error.text.in_(language)
    except Exception:
        _log.exception("Could not show %s with %s", view, given)
        data.refused = word("unexpected", language)
    settled = {**given, **settings}
    controls = tuple(control for control in record.controls if not control.of_python)
    data.controls = [field_of(spec, language) for spec in specs(controls, capture, settled, result)]
    if data.refused or any(control.board for control in data.controls):
        data.image = input_file(capture)
    return data, settings


async def result_or_error(computing: Awaitable[Result]) -> Result | Exception:
    """Await a result, or return the error for the panel to show.

    Raises:
        StoppedError: where the work was stopped; no other error is raised.
    """
    try:
        return await computing
    except StoppedError:
        raise
    except Exception as error:
        return error


def made_or_raised(made: Result | Exception | None) -> Result:
    """Return the result of `result_or_error`, or raise its error."""
    if isinstance(made, Exception):
        raise made
    assert made is not None
    return made


def figure_file(result: Result, language: Language, theme: str) -> tuple[ServedFile, list[dict[str, str]]]:
    """Return the figure of a result, laid out for every window and as a slide, and the facts of its caption."""
    from vitexplorer.figures.rendering import slide, windows

    documents, rows = windows(result, language=language, theme=theme)
    content = figure_json(documents, slide(result, language=language, theme=theme))
    facts = [{"label": fact.label.in_(language), "value": fact.value.in_(language)} for fact in rows]
    return cached_file(content, "figure.json"), facts


def csv_file(result: Result, language: Language) -> ServedFile:
    """Return the numbers of a result as CSV, under the same name as its saved pictures."""
    from vitexplorer.figures.identity import file_stem
    from vitexplorer.figures.tables import as_csv

    return cached_file(as_csv(result, language).encode("utf-8-sig"), f"{file_stem(result)}.csv")


ONLY = {
    "caption": "scenes_captioner",
    "mae_reconstruction": "scenes_mae_patch16_192",
    "relative_position_bias": "scenes_swin_patch4_window6_192",
}
"""Views that the models trained to name pictures lack, and the bundled model that has them"""
OF_CHANGES = ("before_after",)
"""Views that need a changed run, whatever the model"""


def nearest_model(view: str, capture: Capture) -> Nearest | None:
    """Return the bundled model that has a view, and knows the picture if one does; None where another is no help."""
    former = capture.model.name
    model = ONLY.get(view) or bundled_model(capture.input.image_hash).name
    if view in OF_CHANGES or model == former:
        return None
    return Nearest(model, former, of_model(model), _can_stand_in(capture))


def _can_stand_in(capture: Capture) -> bool:
    """Return True where a view of another model answers: it names this image, and the run is plain.

    A family of which only single blocks are shown lacks most views, so there the reason says more than other maps.
    """
    is_named = naming_model(capture.input.image_hash) is not None
    return is_named and not capture.provenance.changes and capture.model.family.shows_stream


def of_model(model: str) -> dict[str, str]:
    """Return the parameters of an address that choose a trained model."""
    return {**dict.fromkeys(("weights", *RESET_BY["model"]), ""), "model": model}
