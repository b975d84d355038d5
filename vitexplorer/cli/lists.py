"""Commands that list the models of the catalogue and the registered views and interventions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import typer

import vitexplorer as vx
from vitexplorer.cli.names import dashed
from vitexplorer.cli.text import table
from vitexplorer.core.text import Language, Text

_BUNDLED = Text("bundled", "内置")
Rows = Sequence[Sequence[str]]


def list_command(name: str, language: Language) -> Callable[[], None]:
    """Make the function that prints the models, views or interventions."""
    return lambda: typer.echo(table(_ROWS[name](language)))


def _models(language: Language) -> Rows:
    """Return name, download size and description of every model of the catalogue."""
    rows = []
    for entry in vx.models():
        size = _BUNDLED.in_(language) if entry.bundled else f"{entry.megabytes:.0f} MB"
        rows.append((entry.name, size, entry.sentence.in_(language)))
    return rows


def _views(language: Language) -> Rows:
    """Return name, options and question of every view."""
    rows = []
    for key, view in vx.views().items():
        options = " ".join(f"--{dashed(control.name)}" for control in view.controls)
        rows.append((dashed(key), options, view.question.in_(language)))
    return rows


def _interventions(language: Language) -> Rows:
    """Return name, settings and question of every intervention for `--change`, in the order in which they act."""
    rows = []
    for key, record in vx.interventions().items():
        settings = " ".join(control.name for control in record.controls)
        rows.append((key, settings, record.question.in_(language)))
    return rows


_ROWS: dict[str, Callable[[Language], Rows]] = {"models": _models, "views": _views, "interventions": _interventions}
