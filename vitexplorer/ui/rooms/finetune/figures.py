"""Figures of a training, in a panel like those of the other rooms."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from vitexplorer.core.out_of_memory import explain_full_memory
from vitexplorer.core.settings import settings
from vitexplorer.core.text import ExplainedError, Language
from vitexplorer.core.types import Result
from vitexplorer.finetune.comparison import Comparison
from vitexplorer.finetune.outcome import (
    COSTS,
    confusion_result,
    epochs_result,
    images_result,
    pareto_result,
    per_class_result,
    residuals_result,
)
from vitexplorer.finetune.run_titles import run_title
from vitexplorer.service.user_storage import path_in_script
from vitexplorer.ui.controls.field import Field, Option
from vitexplorer.ui.kit.language import word
from vitexplorer.ui.panel.figure_panel import PanelData, PanelView, Question, csv_file, figure_file, panel_words
from vitexplorer.ui.rooms.finetune.readings import reading
from vitexplorer.ui.rooms.finetune.words import TRAINING_WORDS, say

_log = logging.getLogger(__name__)


def question_of(sent: Mapping[str, Any]) -> Question:
    """Read the fields that a browser sent to such a panel."""
    theme = "dark" if sent.get("theme") == "dark" else "light"
    return Question(sent.get("view") or "", sent.get("settings", {}), theme, sent.get("asked", 0))


def panel_of(
    question: Question,
    keys: tuple[str, ...],
    text_of: Callable[[str], str],
    language: Language,
    controls: list[Field],
    make: Callable[[], Result],
    python: str,
) -> PanelData:
    """Return the panel data with one of several figures, or with the reason why there is none.

    An unknown view shows the first figure. `text_of` returns the text of a "key", of "question_key" and of
    "misleads_key", and `make` computes the figure's result.
    """
    view = question.view if question.view in keys else keys[0]
    data = PanelData(
        asked=question.number,
        theme=question.theme,
        views=[PanelView(key=key, title=text_of(key)) for key in keys],
        chosen=view,
        question=text_of(f"question_{view}"),
        misleads=text_of(f"misleads_{view}"),
        controls=controls,
        python=python,
        words=panel_words(language),
    )
    try:
        with explain_full_memory():
            result = make()
        data.figure, data.facts = figure_file(result, language, question.theme)
        data.csv = csv_file(result, language)
        data.reading = reading(result).in_(language)
    except ExplainedError as error:
        data.refused = error.text.in_(language)
    except Exception:
        _log.exception("Could not show %s with %s", view, question.settings)
        data.refused = word("unexpected", language)
    return data


def choice(name: str, label: str, value: str, options: Mapping[str, str]) -> Field:
    """Return a choice control; an unknown value becomes the first option."""
    return Field(
        kind="choice",
        name=name,
        label=label,
        value=value if value in options else next(iter(options)),
        options=[Option(value=key, label=text) for key, text in options.items()],
    )


def result_figures(comparison: Comparison, run: str, question: Question, language: Language) -> PanelData:
    """Return the panel of a training with at least one result; `run` is the default of the control for the run."""
    results = {result.run: result for result in comparison.leaderboard}
    first = next(iter(results.values()))
    own = ("confusion", "classes") if first.classes else ("residuals",)
    keys = ("pareto", *own, "epochs", *(("images",) if comparison.baseline else ()))
    view = question.view if question.view in keys else keys[0]
    controls = []
    if view in own:
        chosen = question.settings.get("run", run)
        controls = [
            choice("run", say("figures_run", language), chosen, {key: run_title(key).in_(language) for key in results})
        ]
    elif view == "pareto":
        costs = {key: text.in_(language) for key, text in COSTS.items()}
        controls = [choice("cost", say("figures_cost", language), question.settings.get("cost", ""), costs)]
    elif view == "epochs":
        curves = {"metric": TRAINING_WORDS[f"metric_{first.metric}"], "loss": TRAINING_WORDS["run_loss"]}
        options = {key: text.in_(language) for key, text in curves.items()}
        controls = [choice("what", say("figures_what", language), question.settings.get("what", ""), options)]
    given = {control.name: control.value for control in controls}
    makers: dict[str, tuple[str, Callable[[], Result]]] = {
        "pareto": ("pareto_result(comparison, {cost!r})", lambda: pareto_result(comparison, given["cost"])),
        "confusion": ("confusion_result(comparison[{run!r}])", lambda: confusion_result(results[given["run"]])),
        "classes": ("per_class_result(comparison[{run!r}])", lambda: per_class_result(results[given["run"]])),
        "residuals": ("residuals_result(comparison[{run!r}])", lambda: residuals_result(results[given["run"]])),
        "epochs": ("epochs_result(comparison, {what!r})", lambda: epochs_result(comparison, given["what"])),
        "images": (
            "images_result(comparison, comparison.baseline.learning_curve)",
            lambda: images_result(comparison, comparison.baseline.learning_curve),
        ),
    }
    call, make = makers[view]
    lines = python_lines(comparison.folder, call.format(**given))
    return panel_of(question, keys, lambda key: say(f"figures_{key}", language), language, controls, make, lines)


def python_lines(training: Path, call: str) -> str:
    """Return Python code that makes the same figure; empty where visitors cannot reach the training's folder."""
    if settings().hosted:
        return ""
    name = call.partition("(")[0]
    return (
        "import vitexplorer as vx\n"
        f"from vitexplorer.finetune.outcome import {name}\n"
        "from vitexplorer.finetune.comparison import load_comparison\n\n"
        f'comparison = load_comparison("{path_in_script(training)}")\n'
        f"result = {call}\n"
        'vx.save(result, "figure.png")'
    )
