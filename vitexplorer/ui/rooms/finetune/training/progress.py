"""Component of a running training: progress and curves of each method, the baseline, stop and resume.

The value describes the whole training and is small enough to be sent again after every event. The browser redraws in
place, so nothing flickers, and a page that is opened later shows the same.
"""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel

from vitexplorer.core.text import Language, in_language
from vitexplorer.finetune.job.events import Event
from vitexplorer.finetune.job.folder import images_of
from vitexplorer.finetune.job.state import JobState, RunState
from vitexplorer.finetune.results.metrics import METRIC
from vitexplorer.finetune.run_titles import run_title
from vitexplorer.models.catalog import title_of
from vitexplorer.service.amounts import duration, score
from vitexplorer.ui.kit.widget import Widget
from vitexplorer.ui.rooms.finetune.words import TRAINING_WORDS, say

MOST_POINTS = 160
"""Most points of a curve; more cannot be distinguished at its width"""


class RunRow(BaseModel):
    """Progress of one method."""

    key: str
    title: str
    style: dict[str, str]
    """Line in the palette of the figures: its colour on a `light` and a `dark` page, and its `dash` pattern"""
    state: str
    label: str
    """State in words"""
    detail: str = ""
    """Epoch, best metric so far, time left"""
    share: float = 0.0
    error: str = ""
    loss: list[tuple[float, float]] = []
    """Points (epochs passed, training loss)"""
    metric: list[tuple[float, float]] = []
    """Points (epoch, metric on the validation set)"""


class ProgressData(BaseModel):
    """Progress of a training."""

    run: str = ""
    """Name of the training's folder, for the address; empty where none is open"""
    state: str = ""
    title: str = ""
    doing: str = ""
    left: str = ""
    share: float | None = None
    error: str = ""
    rows: list[RunRow] = []
    epochs: int = 0
    metric: str = ""
    """Name of the metric, for the axis"""
    is_share: bool = True
    """True where the metric lies in 0-1"""
    baseline: float | None = None
    notes: list[str] = []
    words: dict[str, str] = {}


class ProgressView(Widget):
    """Component of the training. Events: `stop`, `resume`, and `tick` every second while it runs."""

    data_model = ProgressData
    sends = ("stop", "resume", "tick")


def no_progress(language: Language) -> ProgressData:
    """Return the data for no open training."""
    return ProgressData(words=in_language(TRAINING_WORDS, language, "run_"))


def progress_data(state: JobState, events: Sequence[Event], language: Language) -> ProgressData:
    """Return the progress of a training from its state and its events."""
    data = no_progress(language)
    data.run = state.folder.name
    data.state = state.state
    data.doing, data.left, data.share = _doing(state, language)
    data.error = state.text.in_(language) if state.text and state.state != "running" else ""
    if state.config is None:
        data.title = state.folder.name
        return data
    data.epochs = state.config.plan.epochs
    data.title = f"{images_of(state.config)} · {title_of(state.config.model).in_(language)}"
    task = next((event.values["task"] for event in events if event.kind == "data"), "classification")
    metric = METRIC[task]
    data.metric = say("run_on_validation", language, metric=TRAINING_WORDS[f"metric_{metric}"])
    data.is_share = metric == "accuracy"
    compared = (event.values["metrics"].get(metric) for event in events if event.kind == "baseline")
    data.baseline = next(compared, None)
    works = state.state == "running"
    data.rows = [_row(run, number, events, metric, works, language) for number, run in enumerate(state.runs)]
    data.notes = [event.text.in_(language) for event in events if event.kind == "note" and event.text]
    return data


def _doing(state: JobState, language: Language) -> tuple[str, str, float | None]:
    """Return current work, time left and share done; the latter two are unknown before the methods are measured."""
    if state.state != "running":
        return say(f"run_{state.state}", language), "", None
    known = f"run_doing_{state.doing}"
    text = say(known if known in TRAINING_WORDS else "run_doing_training", language)
    steps = sum(run.steps for run in state.runs)
    done = sum(run.steps if run.state in ("finished", "failed") else run.step for run in state.runs)
    if state.seconds_left is None or not steps:
        return text, "", None
    return text, say("run_left", language, time=duration(state.seconds_left, language)), min(1.0, done / steps)


def _row(run: RunState, number: int, events: Sequence[Event], metric: str, works: bool, language: Language) -> RunRow:
    own = [event.values for event in events if event.run == run.key and event.kind in ("step", "epoch")]
    losses = [
        (values["step"] / values["steps"] * values["epochs"], values["loss"])
        for values in own
        if values.get("loss") is not None and values["steps"]
    ]
    figures = [
        (float(values["epoch"]), values["metrics"][metric])
        for values in own
        if "metrics" in values and values["metrics"].get(metric) is not None
    ]
    details = []
    if run.epochs:
        details.append(say("run_epoch", language, epoch=run.epoch, epochs=run.epochs))
    if run.best is not None:
        name = TRAINING_WORDS[f"metric_{metric}"]
        details.append(say("run_best", language, metric=name, value=score(metric, run.best)))
    if works and run.state in ("waiting", "running") and run.seconds_left:
        details.append(say("run_left", language, time=duration(run.seconds_left, language)))
    return RunRow(
        key=run.key,
        title=run_title(run.key).in_(language),
        style=line_style(run.key, number),
        state=run.state,
        label=say(f"run_{run.state}", language),
        detail=" · ".join(details),
        share=1.0 if run.state == "finished" else run.step / run.steps if run.steps else 0.0,
        error=run.text.in_(language) if run.text else "",
        loss=thinned(losses),
        metric=thinned(figures),
    )


def line_style(run: str, number: int) -> dict[str, str]:
    """Return the style of a method, the same in every figure; a run with its own settings has a style by its number."""
    from vitexplorer.figures.chart import numbered_style
    from vitexplorer.figures.meanings import NAMED_LINES, line_number

    own = line_number(run)
    light, dark = (numbered_style(NAMED_LINES + number if own is None else own, theme) for theme in ("light", "dark"))
    return {"light": light.color, "dark": dark.color, "dash": light.dash}


def thinned(points: list[tuple[float, float]], most: int = MOST_POINTS) -> list[tuple[float, float]]:
    """Reduce a curve to at most `most` points: average neighbours, and keep the last point."""
    if len(points) <= most:
        return points
    step = len(points) / (most - 1)
    groups = [points[round(n * step) : round((n + 1) * step)] for n in range(most - 1)]
    means = [
        (sum(x for x, _ in group) / len(group), sum(y for _, y in group) / len(group)) for group in groups if group
    ]
    return [*means, points[-1]]
