"""Group of lazily built commands: until called, each is only a name with its question."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import typer
from typer.core import TyperGroup

from vitexplorer.cli.names import full_name
from vitexplorer.cli.text import one_sentence
from vitexplorer.cli.view import command_of
from vitexplorer.core.text import Language, Text


def menu(
    questions: Mapping[str, Text], command: Callable[[str, Language], Any], panel: str | None, language: Language
) -> type[TyperGroup]:
    """Make the group of commands named in `questions`, under the heading `panel`; `command` builds one by name."""

    class Menu(TyperGroup):
        """Lazily built commands beside those of the application; unambiguous prefixes of names work."""

        def __init__(self, **options: Any):
            super().__init__(**options)
            for name, question in questions.items():
                self.add_command(command_of(name, question.in_(language), lambda: None, panel))

        def resolve_command(self, ctx: Any, args: list[str]) -> Any:
            """Complete a shortened name, and build the command that is called."""
            with one_sentence(language):
                name = full_name(args[0], self.commands)
            if name in questions:
                self.add_command(command(name, language))
            return super().resolve_command(ctx, [name, *args[1:]])

    return Menu


def submenu(
    name: str, questions: Mapping[str, Text], command: Callable[[str, Language], Any], language: Language
) -> typer.Typer:
    """Make a command whose subcommands are those named in `questions`."""
    commands = menu(questions, command, None, language)
    return typer.Typer(cls=commands, no_args_is_help=True, add_completion=False, name=name)
