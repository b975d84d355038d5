"""Command `film`, a film of a figure: `python -m vitexplorer film picture.jpg -o pass.mp4`."""
# ruff: noqa: B008

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import typer

from vitexplorer.cli.errors import one_sentence
from vitexplorer.cli.options import FIT, IMAGE
from vitexplorer.core.text import Language, Text
from vitexplorer.core.types import Fit

_OUT = Text("File to write: .mp4, .gif or .webp.", "输出文件：MP4、GIF 或 WebP。")
_MODEL = Text("As for a view.", "与视图命令相同。")
_KIND = Text(
    "pass: the whole network, block by block; heads: one head after the other; sizes: larger and larger inputs.",
    "pass：整个网络，逐块进行；heads：逐个注意力头；sizes：逐步增大的输入尺寸。",
)
_SECONDS = Text("Length of the film.", "影片时长（秒）。")
_FPS = Text("Frames in a second.", "每秒帧数。")
_WIDTH = Text("Width in pixels.", "宽度（像素）。")
_QUERY = Text(
    "Followed token: cls, dist, mean, or a patch as row,col.", "追踪的标记：cls、dist、mean，或图块的 row,col。"
)
_TARGET = Text("Class of the bars; the model's answer when none is given.", "条形所解释的类别；未指定时为模型的答案。")
_LANGUAGE = Text("Language of the figure.", "图的语言。")
_THEME = Text("Theme of the figure: light or dark.", "图的主题：light 或 dark。")


def command(language: Language) -> Callable[..., None]:
    """Build the command, with its help in `language`."""

    def film(
        image: Path | None = typer.Argument(None, help=IMAGE.in_(language)),
        out: Path = typer.Option(Path("film.mp4"), "--out", "-o", help=_OUT.in_(language)),
        model: str | None = typer.Option(None, help=_MODEL.in_(language)),
        weights: str = typer.Option("auto", help=_MODEL.in_(language)),
        fit: Fit = typer.Option("crop", help=FIT.in_(language)),
        kind: str = typer.Option("pass", help=_KIND.in_(language)),
        seconds: float = typer.Option(8, help=_SECONDS.in_(language)),
        fps: int = typer.Option(25, help=_FPS.in_(language)),
        width: int = typer.Option(1280, help=_WIDTH.in_(language)),
        query: str = typer.Option("cls", help=_QUERY.in_(language)),
        target: str | None = typer.Option(None, help=_TARGET.in_(language)),
        language: Language = typer.Option(language, help=_LANGUAGE.in_(language)),
        theme: str = typer.Option("dark", help=_THEME.in_(language)),
    ) -> None:
        with one_sentence(language):
            import vitexplorer as vx
            from vitexplorer.cli.runs import Run

            run = Run(image, model, weights, 0, fit, None, None)
            chosen = {"kind": kind, "seconds": seconds, "fps": fps, "width": width, "query": query, "target": target}
            typer.echo(vx.film(run.capture(run.load()), out, language=language, theme=theme, **chosen))

    return film
