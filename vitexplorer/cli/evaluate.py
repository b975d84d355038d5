"""Command `evaluate`, maps against a known ground truth: `python -m vitexplorer evaluate --model NAME`."""
# ruff: noqa: B008

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import typer

from vitexplorer.cli.errors import one_sentence
from vitexplorer.cli.options import RESULT
from vitexplorer.cli.text import ProgressBar
from vitexplorer.core.settings import settings
from vitexplorer.core.text import Language, Text

_MODEL = Text("A name from `models` that was trained on drawn pictures.", "在合成图像上训练的模型的名称，见 `models`。")
_VIEWS = Text(
    "Views separated by commas; when empty, all that explain a class.", "视图，以逗号分隔；留空则为所有解释类别的视图。"
)
_PROTOCOLS = Text("Protocols separated by commas; when empty, all.", "评估方法，以逗号分隔；留空则为全部。")
_TARGETS = Text(
    "Maximum number of cases for each number; 0 for the protocol's own.",
    "每个数值最多使用的样例数；0 表示按各方法的规定。",
)
_OUT = Text("File to write: .png, .svg, .pdf, .csv or .json.", "输出文件，可为 PNG、SVG、PDF、CSV 或 JSON。")


def command(language: Language) -> Callable[..., None]:
    """Build the command, with its help in `language`; without `--out` it prints the table as Markdown."""

    def evaluate(
        model: str = typer.Option(settings().model, help=_MODEL.in_(language)),
        views: str = typer.Option("", help=_VIEWS.in_(language)),
        protocols: str = typer.Option("", help=_PROTOCOLS.in_(language)),
        targets: int = typer.Option(0, min=0, help=_TARGETS.in_(language)),
        out: Path | None = typer.Option(None, "--out", "-o", help=_OUT.in_(language)),
        language: Language = typer.Option(language, help=RESULT.in_(language)),
    ) -> None:
        with one_sentence(language):
            import vitexplorer as vx
            from vitexplorer.evaluation.markdown import as_markdown

            loaded = vx.load_model(model)
            with ProgressBar(unit="map") as bar:
                result = vx.evaluate(
                    loaded, _listed(views), protocols=_listed(protocols), targets=targets or None, progress=bar.report
                )
            typer.echo(vx.save(result, out, language=language) if out else as_markdown(result))

    return evaluate


def _listed(given: str) -> list[str] | None:
    return [part.strip().replace("-", "_") for part in given.split(",") if part.strip()] or None
