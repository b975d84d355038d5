"""Command of one view: image, model and output, and an option for each of the view's controls."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer

import vitexplorer as vx
from vitexplorer.cli.errors import one_sentence
from vitexplorer.cli.menu import command_of
from vitexplorer.cli.names import dashed
from vitexplorer.cli.options import FIT, IMAGE, RESULT, WEIGHTS_SEED
from vitexplorer.cli.runs import Run
from vitexplorer.cli.text import Reading, summary
from vitexplorer.comparisons.record import Comparison
from vitexplorer.controls import Control, like_capture, likeness
from vitexplorer.core.text import Language, Text
from vitexplorer.core.types import Fit, Result
from vitexplorer.views.record import View

_IMAGE_OPTION = Text("The picture, in place of IMAGE.", "图像文件，代替 IMAGE。")
_MODEL = Text(
    "A name from `models`, any of timm's, or a weight file or folder; left out, the one that --weights holds, "
    "or VIT_MODEL.",
    "`models` 列出的或 timm 的模型名称，或权重文件、文件夹；省略时为 --weights 中的模型，或 VIT_MODEL。",
)
_WEIGHTS = Text(
    "auto, pretrained, bundled, random, or a weight file or folder from any source.",
    "auto、pretrained、bundled、random，或任意来源的权重文件或文件夹。",
)
_SIZE = Text(
    "Another input size in pixels: 384, or 384x512 for height and width.",
    "另一种输入尺寸（像素）：384，或写作 384x512（高 x 宽）。",
)
_CHANGE = Text(
    'What is changed first, such as "positions:how=off;top_k:k=8"; see `interventions`.',
    '先作的更改，例如 "positions:how=off;top_k:k=8"；参见 `interventions`。',
)
_OUT = Text(
    "File to write: .png, .svg, .pdf, .html, .csv or .json.", "输出文件：.png、.svg、.pdf、.html、.csv 或 .json。"
)


def explore(view: str, out: Path | None, language: Language, run: Run, controls: dict[str, str | None]) -> None:
    """Load, capture, intervene if asked to, compute; then write the result, or print it."""
    loaded = run.load()
    record = vx.views()[view]
    capture = run.capture(loaded, differentiable=record.goes_back, keep=record.reads)
    if similar := likeness(controls.get("target")):
        other = vx.capture(loaded, similar[0], fit=run.fit, size=run.size)
        controls["target"] = like_capture(other.input.image_hash[:8], other, similar[1])
    tell(vx.compute(view, capture, **controls), out, language, vx.reading)


def tell(result: Result, out: Path | None, language: Language, reading: Reading) -> None:
    """Write a result to the file `out` and print its path, or print its summary."""
    if out:
        vx.save(result, out, language=language)
        typer.echo(out)
    else:
        typer.echo(summary(result, language, reading))


# ---------------------------------------------------------------------------------------------- the command


def view_command(name: str, language: Language) -> Any:
    """Build the command of a view, with its help in `language`."""
    key = name.replace("-", "_")
    view = vx.views()[key]

    def run(**given: Any) -> None:
        out, language = given.pop("out"), given.pop("language")
        with one_sentence(language):
            explore(key, out, language, Run.taken_from(given), given)

    return registered(name, view, common_parameters(language), run, language)


def registered(
    name: str, record: View | Comparison, common: list[inspect.Parameter], run: Callable[..., None], language: Language
) -> Any:
    """Build the command of a record: `run` with the `common` options and one for each of its controls."""
    parameters = [*common, *(_control_option(control, language) for control in record.controls)]
    run.__signature__ = inspect.Signature(parameters)
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return command_of(name, _description(record, language), run)


def _description(view: View | Comparison, language: Language) -> str:
    cited = Text("{paper}: {url}", "{paper}：{url}").in_(language)
    paper = [cited.format(paper=view.paper.in_(language), url=view.paper.url)] if view.paper else []
    return "\n\n".join([view.question.in_(language), view.misleads.in_(language), *paper])


def common_parameters(language: Language) -> list[inspect.Parameter]:
    """Return the common parameters of all views; their names are the fields of `Run`."""

    def option(name: str, default: Any, words: Text, kind: Any = str, *spelt: str) -> inspect.Parameter:
        return option_of(name, words.in_(language), default, kind, *spelt)

    return [
        _parameter("image", Path | None, typer.Argument(None, help=IMAGE.in_(language))),
        option("image_option", None, _IMAGE_OPTION, Path | None, "--image"),
        option("model", None, _MODEL, str | None),
        option("weights", "auto", _WEIGHTS),
        option("weights_seed", 0, WEIGHTS_SEED, int),
        option("fit", "crop", FIT, Fit),
        option("size", None, _SIZE, str | None),
        option("change", None, _CHANGE, str | None),
        option("out", None, _OUT, Path | None, "--out", "-o"),
        option("language", language, RESULT, Language),
    ]


def _control_option(control: Control, language: Language) -> inspect.Parameter:
    words = control.label
    takes = control.spec().takes
    if takes:
        words = Text("{label}: {takes}.", "{label}：{takes}。").format(label=words, takes=takes)
    return option_of(control.name, words.in_(language), None, str | None)


def option_of(name: str, help_: str, default: Any, kind: Any, *spelt: str) -> inspect.Parameter:
    """Make an option `--name`, or with the spellings `spelt`."""
    return _parameter(name, kind, typer.Option(default, *(spelt or [f"--{dashed(name)}"]), help=help_))


def _parameter(name: str, kind: Any, declared: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=declared, annotation=kind)
