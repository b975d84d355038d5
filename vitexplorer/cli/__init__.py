"""Command line: one command for every view, made from the registry, and the other jobs of the page.

    vitexplorer compute attention_map --image picture.jpg --block 5 --head 2 --query 3,4 -o map.png
    python -m vitexplorer attention-map picture.jpg --block 5 --head 2 --query 3,4 --out map.png

Both lines are equivalent.

The options of a view are its controls. The suffix of `--out` selects the file format; without `--out` the numbers are
printed. Any unambiguous prefix of a command works. Errors that the user can fix are one line on stderr with exit
code 2; all others are defects and keep their traceback.

Importing torch takes seconds. So that lists and `--help` are quick, the questions of the views are parsed from their
source files (`names`), and a command is imported when it is called.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import typer

from vitexplorer.cli.errors import one_sentence
from vitexplorer.cli.menu import Panel, command_of, menu
from vitexplorer.cli.names import questions
from vitexplorer.core.settings import settings
from vitexplorer.core.text import Language, Text

_PURPOSE = Text("What a vision transformer does with an image.", "视觉 Transformer 如何处理一幅图像。")
_VIEWS = Text("Views", "视图")
_COMMANDS = {
    "app": Text("Open the page. Settings are environment variables, VIT_*.", "打开网页。设置项为环境变量 VIT_*。"),
    "models": Text("List the models.", "列出模型。"),
    "views": Text("List the views with their options.", "列出视图及其选项。"),
    "interventions": Text("List what --change takes.", "列出 --change 可用的更改。"),
    "diagnose": Text("Find out why a model does not work here.", "找出模型在此不起作用的原因。"),
    "evaluate": Text("Check a model's maps against a known truth.", "用已知的真实答案检验模型的各种图。"),
    "film": Text("Film the pass of an image through a model.", "把图像通过模型的过程拍成影片。"),
    "finetune": Text(
        "Fine-tune a model on a folder of images and compare methods.", "在图像文件夹上微调模型并比较各方法。"
    ),
    "learn": Text("Write the guided path for an image as a handout.", "把一幅图像的导览写成讲义。"),
    "survey": Text("Ask the same of every image of a folder.", "对文件夹中的每幅图像提出同样的问题。"),
    "compute": Text(
        "Compute a view, to be drawn or printed. Each view is a command of its own too.",
        "计算一种视图，并绘图或输出数值。每种视图也可直接作为命令。",
    ),
    "compare": Text(
        "Compare two sides: models, weights, images, sizes, changes.", "对比两侧：模型、权重、图像、尺寸或更改。"
    ),
}
"""Help of the commands beside those of the views"""


def main() -> None:
    """Run the command line on `sys.argv`."""
    with one_sentence("en"):
        language = settings().language
    build_app(language)()


def build_app(language: Language) -> typer.Typer:
    """Build the command line with its help in `language`."""
    commands = Panel(_COMMANDS, _command), Panel(questions(), _view_command, _VIEWS.in_(language))
    return menu(*commands, help_=_PURPOSE.in_(language), language=language)


def _command(name: str, language: Language) -> Any:
    help_ = _COMMANDS[name].in_(language)
    if name == "compute":
        return typer.main.get_command(menu(Panel(questions(), _view_command), help_=help_, language=language))
    if name == "compare":
        comparisons = Panel(questions("comparisons", "COMPARISON"), _compare_command)
        return typer.main.get_command(menu(comparisons, help_=help_, language=language))
    if name in ("models", "views", "interventions"):
        from vitexplorer.cli.lists import list_command

        return command_of(name, help_, list_command(name, language))
    module = import_module(f"vitexplorer.cli.{'page' if name == 'app' else name}")
    return command_of(name, help_, module.command(language))


def _view_command(name: str, language: Language) -> Any:
    from vitexplorer.cli.view import view_command

    return view_command(name, language)


def _compare_command(name: str, language: Language) -> Any:
    from vitexplorer.cli.compare import compare_command

    return compare_command(name, language)
