"""Command `compare`: `python -m vitexplorer compare cka picture.jpg --other-model vit_base_patch16_224`.

The left side takes the options of any view. Options of the right side start with `--other-`, as in the page's address;
the others are the same as on the left. Exceptions: another model has its own size, and its own weights if the left ones
come from a file; changes apply to one side only.
"""

from __future__ import annotations

import inspect
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import vitexplorer as vx
from vitexplorer.cli.errors import one_sentence
from vitexplorer.cli.runs import Run
from vitexplorer.cli.view import common_parameters, option_of, registered, tell
from vitexplorer.controls import NamedCapture, named_images
from vitexplorer.core.text import Language, Text
from vitexplorer.core.types import Fit

OWN = "own"
"""Value of the size option for the model's own size"""
_OTHER = (
    ("image", Path, Text("Another picture on the right.", "右侧使用另一幅图像。")),
    ("model", str, Text("Another model on the right.", "右侧使用另一个模型。")),
    (
        "weights",
        str,
        Text(
            "Weights of the right side: a value of --weights or the file of a tuned model.",
            "右侧的权重，写法同 --weights；也可为微调模型的文件。",
        ),
    ),
    ("weights_seed", int, Text("Seed of its random weights.", "右侧随机权重的种子。")),
    ("fit", Fit, Text("How the picture becomes its size.", "图像如何适配右侧的尺寸。")),
    ("size", str, Text("Another input size, or own for the model's own.", "另一种输入尺寸，或模型自身的尺寸（own）。")),
    ("change", str, Text("What is changed on the right.", "右侧所作的更改。")),
)


def compare_command(name: str, language: Language) -> Any:
    """Build the command of one comparison."""
    key = name.replace("-", "_")
    record = vx.comparisons()[key]

    def run(**given: Any) -> None:
        out, language = given.pop("out"), given.pop("language")
        other = {field.name: given.pop(f"other_{field.name}") for field in fields(Run)}
        with one_sentence(language):
            left = Run.taken_from(given)
            compare(key, left, beside(left, other), out, language, given)

    return registered(name, record, side_parameters(language), run, language)


def side_parameters(language: Language) -> list[inspect.Parameter]:
    """Return the common parameters of all comparisons: a view's options, and `--other-` ones for the right side."""
    other = [option_of(f"other_{name}", text.in_(language), None, kind | None) for name, kind, text in _OTHER]
    return [*common_parameters(language), *other]


def beside(left: Run, other: dict[str, Any]) -> Run:
    """Return the run of the right side; None in `other` takes the value of the left side."""
    same = other["model"] in (None, left.model)
    size = other["size"] or (left.size if same else OWN)
    weights = left.weights if same or left.weights in ("auto", "random") else "auto"
    given = {name: value for name, value in other.items() if value is not None}
    return replace(
        left, **{"weights": weights, **given, "size": None if size == OWN else size, "change": other["change"]}
    )


def compare(
    comparison: str, left: Run, right: Run, out: Path | None, language: Language, controls: dict[str, str | None]
) -> None:
    """Capture and compare both sides; then write the result, or print it."""
    from vitexplorer.comparisons import reading

    model = left.load()
    sides = left.capture(model), right.capture(right.load())
    if names := named_images(controls.get("images")):
        more = [NamedCapture(name, replace(left, image=Path(name)).capture(model)) for name in names]
        controls = {**controls, "images": more}
    tell(vx.compare(comparison, *sides, **controls), out, language, reading)
