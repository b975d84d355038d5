"""Command `learn`, the guided path as a handout: `python -m vitexplorer learn --image x.jpg --out handout.html`."""
# ruff: noqa: B008

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import typer

from vitexplorer.cli.errors import one_sentence
from vitexplorer.cli.options import IMAGE
from vitexplorer.core.text import Language, Text
from vitexplorer.models.examples import examples

_OUT = Text(
    "File to write: .html, or .pdf where there is a Chrome or Chromium.",
    "输出文件：.html；有 Chrome 或 Chromium 时也可为 .pdf。",
)
_LANGUAGE = Text("Language of the handout.", "讲义的语言。")


def command(language: Language) -> Callable[..., None]:
    """Build the command, with its help in `language`."""

    def learn(
        image: Path | None = typer.Option(None, help=IMAGE.in_(language)),
        out: Path = typer.Option(Path("handout.html"), "--out", "-o", help=_OUT.in_(language)),
        language: Language = typer.Option(language, help=_LANGUAGE.in_(language)),
    ) -> None:
        with one_sentence(language):
            from vitexplorer.learn.handout import save_handout

            typer.echo(save_handout(image or next(iter(examples().values())).path, out, language))

    return learn
