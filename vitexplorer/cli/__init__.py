"""The jobs of the page without a browser: one command for every view, made from the registry.

    python -m vitexplorer attention-map picture.jpg --block 5 --head 2 --query 3,4 --out map.png

The options of a view are its controls; what `--out` ends in decides what is written, and without it the numbers are
printed. A command may be shortened as long as only one begins so. What a person can mend is one line on stderr and
exit code 2; everything else is a defect of ours and keeps its traceback.

Importing torch takes seconds, and nobody should wait for them to read a list. So `--help` takes the questions out of
the source of the view files (`names`); a view's own command, and its help, import what they need.
"""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup

from vitexplorer.cli.finetune import HELP as _FINETUNE
from vitexplorer.cli.finetune import finetune_command
from vitexplorer.cli.learn import HELP as _LEARN
from vitexplorer.cli.learn import learn_command
from vitexplorer.cli.lists import list_interventions, list_models, list_views
from vitexplorer.cli.names import full_name, questions
from vitexplorer.cli.text import one_sentence
from vitexplorer.cli.view import stub, view_command
from vitexplorer.settings import settings
from vitexplorer.words import Language, Text

PROGRAM = "python -m vitexplorer"

_PURPOSE = Text("What a vision transformer does with an image.", "视觉 Transformer 如何处理一幅图像。")
_MODELS = Text("List the models.", "列出模型。")
_VIEWS = Text("List the views with their options.", "列出视图及其选项。")
_INTERVENTIONS = Text("List what --change takes.", "列出 --change 可用的更改。")
_PANEL = Text("Views", "视图")


def main() -> None:
    """Run the command line on `sys.argv`."""
    with one_sentence("en"):
        language = settings().language
    build_app(language)(prog_name=PROGRAM)


def build_app(language: Language) -> typer.Typer:
    """The command line with its help in `language`. A job that is no view adds its command here."""

    class Commands(TyperGroup):
        """The commands below and one for each view: a name and its question until it is called, then the whole."""

        def __init__(self, **options: Any):
            super().__init__(**options)
            for name, question in questions().items():
                self.add_command(stub(name, question.in_(language), _PANEL.in_(language)))

        def resolve_command(self, ctx: Any, args: list[str]) -> Any:
            """Let a name be short, and make a view's command when it is called."""
            with one_sentence(language):
                name = full_name(args[0], self.commands)
            if name in questions():
                self.add_command(view_command(name, language))
            return super().resolve_command(ctx, [name, *args[1:]])

    app = typer.Typer(
        cls=Commands,
        help=_PURPOSE.in_(language),
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    app.command("models", help=_MODELS.in_(language))(lambda: list_models(language))
    app.command("views", help=_VIEWS.in_(language))(lambda: list_views(language))
    app.command("interventions", help=_INTERVENTIONS.in_(language))(lambda: list_interventions(language))
    app.command("finetune", help=_FINETUNE.in_(language))(finetune_command(language))
    app.command("learn", help=_LEARN.in_(language))(learn_command(language))
    return app
