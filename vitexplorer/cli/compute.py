"""Command `compute` with the views as subcommands: `vitexplorer compute attention_rollout --image x.jpg -o map.png`."""

from __future__ import annotations

import typer

from vitexplorer.cli.menu import menu
from vitexplorer.cli.names import questions
from vitexplorer.cli.view import view_command
from vitexplorer.core.text import Language, Text

HELP = Text(
    "Compute a view, to be drawn or printed. Each view is a command of its own too.",
    "计算一种视图，并绘图或输出数值。每种视图也可直接作为命令。",
)


def compute_app(language: Language) -> typer.Typer:
    """Build one command for each view, with its help in `language`."""
    commands = menu(questions(), view_command, None, language)
    return typer.Typer(cls=commands, no_args_is_help=True, add_completion=False, name="compute")
