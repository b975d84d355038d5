"""Groups of lazily built commands: until called, each is only a name with its help."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import typer
from typer.core import TyperGroup

from vitexplorer.cli.errors import one_sentence
from vitexplorer.cli.names import full_name
from vitexplorer.core.text import Language, Text


@dataclass(frozen=True)
class Panel:
    """Commands that the help lists under one heading."""

    helps: Mapping[str, Text]
    """Help of each command by its name"""
    build: Callable[[str, Language], Any]
    """Function that builds a command by its name"""
    heading: str | None = None
    """None for typer's own heading"""


def menu(*panels: Panel, language: Language, help_: str) -> typer.Typer:
    """Make an application of lazily built commands; unambiguous prefixes of their names work."""
    builders = {name: panel.build for panel in panels for name in panel.helps}

    class Menu(TyperGroup):
        """The commands of all panels."""

        def __init__(self, **options: Any):
            super().__init__(**options)
            for panel in panels:
                for name, words in panel.helps.items():
                    self.add_command(command_of(name, words.in_(language), lambda: None, panel.heading))

        def resolve_command(self, ctx: Any, args: list[str]) -> Any:
            """Complete a shortened name, and build the command that is called."""
            with one_sentence(language):
                name = full_name(args[0], self.commands)
            self.add_command(builders[name](name, language), name)
            return super().resolve_command(ctx, [name, *args[1:]])

    app = typer.Typer(cls=Menu, help=help_, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
    app.callback()(lambda: None)  # typer asks for one where no command is registered with it
    return app


def command_of(name: str, help_: str, run: Callable[..., None], heading: str | None = None) -> Any:
    """Make the command of a function."""
    app = typer.Typer(add_completion=False)
    app.command(name, help=help_, rich_help_panel=heading)(run)
    return typer.main.get_command(app)
