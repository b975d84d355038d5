"""Command line: one command for every view, made from the registry, and the other jobs of the page.

    vitexplorer compute attention_map --image picture.jpg --block 5 --head 2 --query 3,4 -o map.png
    python -m vitexplorer attention-map picture.jpg --block 5 --head 2 --query 3,4 --out map.png

Both lines are equivalent.

The options of a view are its controls. The suffix of `--out` selects the file format; without `--out` the numbers are
printed. Any unambiguous prefix of a command works. Errors that the user can fix are one line on stderr with exit
code 2; all others are defects and keep their traceback.

Importing torch takes seconds. So that lists and `--help` are quick, the questions of the views are parsed from their
source files (`names`); the command of a view or comparison, and its help, import what they need.
"""

from __future__ import annotations

import typer

from vitexplorer.cli import compare, diagnose, evaluate, film, finetune, learn, page, survey
from vitexplorer.cli.lists import list_interventions, list_models, list_views
from vitexplorer.cli.menu import menu, submenu
from vitexplorer.cli.names import questions
from vitexplorer.cli.text import one_sentence
from vitexplorer.cli.view import view_command
from vitexplorer.core.settings import settings
from vitexplorer.core.text import Language, Text

_PURPOSE = Text("What a vision transformer does with an image.", "视觉 Transformer 如何处理一幅图像。")
_MODELS = Text("List the models.", "列出模型。")
_VIEWS = Text("List the views with their options.", "列出视图及其选项。")
_INTERVENTIONS = Text("List what --change takes.", "列出 --change 可用的更改。")
_COMPUTE = Text(
    "Compute a view, to be drawn or printed. Each view is a command of its own too.",
    "计算一种视图，并绘图或输出数值。每种视图也可直接作为命令。",
)
_PANEL = Text("Views", "视图")


def main() -> None:
    """Run the command line on `sys.argv`."""
    with one_sentence("en"):
        language = settings().language
    build_app(language)()


def build_app(language: Language) -> typer.Typer:
    """Build the command line with its help in `language`. Commands that are not views are added here."""
    app = typer.Typer(
        cls=menu(questions(), view_command, _PANEL.in_(language), language),
        help=_PURPOSE.in_(language),
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    app.command("app", help=page.HELP.in_(language))(page.open_page)
    app.add_typer(submenu("compute", questions(), view_command, language), help=_COMPUTE.in_(language))
    app.command("models", help=_MODELS.in_(language))(lambda: list_models(language))
    app.command("views", help=_VIEWS.in_(language))(lambda: list_views(language))
    app.command("interventions", help=_INTERVENTIONS.in_(language))(lambda: list_interventions(language))
    comparisons = submenu("compare", questions("comparisons", "COMPARISON"), compare.compare_command, language)
    app.add_typer(comparisons, help=compare.HELP.in_(language))
    app.command("diagnose", help=diagnose.HELP.in_(language))(diagnose.diagnose_command(language))
    app.command("evaluate", help=evaluate.HELP.in_(language))(evaluate.evaluate_command(language))
    app.command("film", help=film.HELP.in_(language))(film.film_command(language))
    app.command("finetune", help=finetune.HELP.in_(language))(finetune.finetune_command(language))
    app.command("learn", help=learn.HELP.in_(language))(learn.learn_command(language))
    app.command("survey", help=survey.HELP.in_(language))(survey.survey_command(language))
    return app
