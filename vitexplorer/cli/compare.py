"""The command of two sides: `python -m vitexplorer compare cka picture.jpg --other-model vit_base_patch16_224`.

The left side is named as any view's run is. What is another on the right is named as in the page's address, with
`--other-` before it; the rest is as on the left. But another model has a size and, where the left one's are of a file,
weights of its own, and changes are named for each side.
"""

from __future__ import annotations

import inspect
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import typer

import vitexplorer as vx
from vitexplorer.cli.menu import menu
from vitexplorer.cli.names import questions
from vitexplorer.cli.runs import Run
from vitexplorer.cli.text import one_sentence
from vitexplorer.cli.view import common_parameters, option_of, registered, tell
from vitexplorer.controls import NamedCapture, named_images
from vitexplorer.core.text import Language, Text
from vitexplorer.core.types import Fit

HELP = Text("Compare two sides: models, weights, images, sizes, changes.", "对比两侧：模型、权重、图像、尺寸或更改。")
OWN = "own"
"""as a size: the model's own"""
_OTHER = (
    ("image", Path, Text("Another picture on the right.", "右侧使用另一幅图像。")),
    ("model", str, Text("Another model on the right.", "右侧使用另一个模型。")),
    (
        "weights",
        str,
        Text(
            "Its weights, as --weights; a tuned model's file too.",
            "右侧的权重，写法同 --weights；也可为微调模型的文件。",
        ),
    ),
    ("weights_seed", int, Text("Seed of its random weights.", "右侧随机权重的种子。")),
    ("fit", Fit, Text("How the picture becomes its size.", "图像如何适配右侧的尺寸。")),
    ("size", str, Text("Another input size, or own for the model's own.", "另一种输入尺寸，或模型自身的尺寸（own）。")),
    ("change", str, Text("What is changed on the right.", "右侧所作的更改。")),
)


def compare_app(language: Language) -> typer.Typer:
    """One command for each comparison, with its help in `language`."""
    asked = questions("comparisons", "COMPARISON")
    return typer.Typer(
        cls=menu(asked, compare_command, None, language), no_args_is_help=True, add_completion=False, name="compare"
    )


def compare_command(name: str, language: Language) -> Any:
    """The command of one comparison."""
    key = name.replace("-", "_")
    record = vx.comparisons()[key]

    def look(**given: Any) -> None:
        out, language = given.pop("out"), given.pop("language")
        other = {field.name: given.pop(f"other_{field.name}") for field in fields(Run)}
        with one_sentence(language):
            left = Run.taken_from(given)
            compare(key, left, beside(left, other), out, language, given)

    return registered(name, record, side_parameters(language), look, language)


def side_parameters(language: Language) -> list[inspect.Parameter]:
    """What every comparison takes: a view's options for the left side, and those of the right one."""
    other = [option_of(f"other_{name}", text.in_(language), None, kind | None) for name, kind, text in _OTHER]
    return [*common_parameters(language), *other]


def beside(left: Run, other: dict[str, Any]) -> Run:
    """The right side; what `other` leaves out, with None, is as on the left."""
    same = other["model"] in (None, left.model)
    size = other["size"] or (left.size if same else OWN)
    weights = left.weights if same or left.weights in ("auto", "random") else "auto"
    said = {name: value for name, value in other.items() if value is not None}
    return Run(
        **{
            **vars(left),
            "weights": weights,
            **said,
            "size": None if size == OWN else size,
            "change": other["change"],
        }
    )


def compare(
    comparison: str, left: Run, right: Run, out: Path | None, language: Language, controls: dict[str, str | None]
) -> None:
    """Capture both, compare; then write the result, or print it."""
    from vitexplorer.comparisons import reading

    model = left.load()
    sides = left.capture(model), right.capture(right.load())
    if names := named_images(controls.get("images")):
        more = [NamedCapture(name, replace(left, image=Path(name)).capture(model)) for name in names]
        controls = {**controls, "images": more}
    tell(vx.compare(comparison, *sides, **controls), out, language, reading)
