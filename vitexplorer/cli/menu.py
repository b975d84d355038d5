"""A menu of commands that are made when they are called: until then each is a name and its question."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from typer.core import TyperGroup

from vitexplorer.cli.names import full_name
from vitexplorer.cli.text import one_sentence
from vitexplorer.cli.view import stub
from vitexplorer.core.text import Language, Text


def menu(
    questions: Mapping[str, Text], command: Callable[[str, Language], Any], panel: str | None, language: Language
) -> type[TyperGroup]:
    """The group of commands named in `questions`, under the heading `panel`; `command` makes one by its name."""

    class Menu(TyperGroup):
        """Those commands beside what an application adds, each of which may be called by a short name."""

        def __init__(self, **options: Any):
            super().__init__(**options)
            for name, question in questions.items():
                self.add_command(stub(name, question.in_(language), panel))

        def resolve_command(self, ctx: Any, args: list[str]) -> Any:
            """Let a name be short, and make a command when it is called."""
            with one_sentence(language):
                name = full_name(args[0], self.commands)
            if name in questions:
                self.add_command(command(name, language))
            return super().resolve_command(ctx, [name, *args[1:]])

    return Menu
