"""Command `survey` over a folder: `python -m vitexplorer survey photographs --ask prediction,heads --out survey`.

Another call with the same `--out` resumes it, also after Ctrl-C or a kill.
"""
# ruff: noqa: B008

from __future__ import annotations

import os
import re
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer

from vitexplorer.cli.errors import one_sentence
from vitexplorer.cli.options import MODEL, PRINTED, WEIGHTS, WEIGHTS_SEED
from vitexplorer.cli.text import ProgressBar
from vitexplorer.core.settings import settings
from vitexplorer.core.text import Language, Text

STOPPED = 130
"""Exit code after Ctrl-C"""

_SOURCE = Text(
    "A folder, a .csv, .tsv or .parquet with a column `path`, or a .txt with a path on each line.",
    "文件夹，含 `path` 列的 .csv、.tsv 或 .parquet，或每行一个路径的 .txt。",
)
_ASK = Text(
    "Questions and views separated by commas, settings after a colon: `prediction,attention_map:block=3`. When "
    "empty, all questions: {questions}.",
    "问题和视图以逗号分隔，设置写在冒号之后：`prediction,attention_map:block=3`。留空则为全部问题：{questions}。",
)
_OUT = Text("Folder of the survey; a survey that was begun continues.", "普查文件夹；已开始的普查会继续。")
_FIT = Text(
    "How an image is fitted to the model: `crop`, `squash`, `pad` or `native`.",
    "图像适配模型输入的方式：`crop`、`squash`、`pad` 或 `native`。",
)
_SIZE = Text("Another input size in pixels: `384` or `384x512`.", "另一种输入尺寸（像素）：`384` 或 `384x512`。")
_LABELS = Text("Take class folders or the table's column as labels.", "以类别文件夹或表格中的列作为标签。")
_WORKERS = Text("Number of worker processes; 0 to choose it automatically.", "工作进程数；0 表示自动选择。")
_BATCH = Text("Images in one pass; 0 to choose automatically.", "每次前向传播的图像数；0 表示自动选择。")
_ROWS = Text("Images in one file of the survey.", "每个结果文件的图像数。")
_RUNNER = Text("`processes` of this machine, or `ray`.", "`processes`（本机进程）或 `ray`。")
_HOURS = Text(
    "Hours after which it stops; the same command continues it. 0 for no limit.",
    "运行多少小时后停止，可用同一命令继续；0 表示不限。",
)
_STOP = Text(
    "Folder of a survey that runs in another process, or that has stalled: only end that survey.",
    "正由其他进程运行或已停滞的普查所在的文件夹：只结束该普查，不做其他事。",
)
_OVER = Text(
    "Stopped after {hours:g} hours. The same command continues it.", "已运行 {hours:g} 小时，现停止。用同一命令可继续。"
)
_INTERRUPTED = Text(
    "Stopped after {done} of {total:image}. The same command continues it.",
    "已停止，完成 {total} 幅中的 {done} 幅图像。用同一命令可继续。",
)


def command(language: Language) -> Callable[..., None]:
    """Build the command, with its help in `language`."""

    def survey(
        source: Path = typer.Argument(..., help=_SOURCE.in_(language)),
        model: str = typer.Option(settings().model, help=MODEL.in_(language)),
        weights: str = typer.Option("auto", help=WEIGHTS.in_(language)),
        weights_seed: int = typer.Option(0, help=WEIGHTS_SEED.in_(language)),
        ask: str = typer.Option("", help=_ASK.format(questions=", ".join(_questions())).in_(language)),
        out: Path = typer.Option(Path("survey"), "--out", "-o", help=_OUT.in_(language)),
        fit: str = typer.Option("crop", help=_FIT.in_(language)),
        size: str | None = typer.Option(None, help=_SIZE.in_(language)),
        labels: bool = typer.Option(True, help=_LABELS.in_(language)),
        workers: int = typer.Option(0, min=0, help=_WORKERS.in_(language)),
        batch_size: int = typer.Option(0, min=0, help=_BATCH.in_(language)),
        rows_per_shard: int = typer.Option(512, min=1, help=_ROWS.in_(language)),
        runner: str = typer.Option("processes", help=_RUNNER.in_(language)),
        hours: float = typer.Option(0, min=0, help=_HOURS.in_(language)),
        stop: Path | None = typer.Option(None, is_eager=True, callback=_stop, help=_STOP.in_(language)),
        language: Language = typer.Option(language, help=PRINTED.in_(language)),
    ) -> None:
        with one_sentence(language):
            import vitexplorer as vx
            from vitexplorer.survey.memory import keep_freed_memory

            keep_freed_memory()
            if hours:
                _end_after(hours, language)
            loaded = vx.load_model(model, weights, seed=weights_seed)
            _run(
                language,
                source,
                loaded,
                _listed(ask),
                out,
                fit=fit,
                size=size,
                labels="folders" if labels else None,
                workers=workers or None,
                batch_size=batch_size or None,
                rows_per_shard=rows_per_shard,
                runner=runner,
            )

    return survey


def _stop(folder: Path | None) -> None:
    """Stop the survey of a folder and exit, before other parameters are required."""
    if folder is not None:
        from vitexplorer.survey.card import read_card
        from vitexplorer.survey.surveying import stop

        with one_sentence(settings().language):
            read_card(folder)
            stop(folder)
        raise typer.Exit


def _end_after(hours: float, language: Language) -> None:
    """End this process after its time; its files are written atomically, so this is safe at any point."""

    def end() -> None:
        typer.echo(_OVER.format(hours=hours).in_(language), err=True)
        os.kill(os.getpid(), signal.SIGTERM)

    clock = threading.Timer(3600 * hours, end)
    clock.daemon = True
    clock.start()


def _run(language: Language, *asked: Any, **settings: Any) -> None:
    import vitexplorer as vx

    with ProgressBar(unit="image") as bar:
        try:
            result = vx.survey(*asked, **settings, progress=bar.report)
        except KeyboardInterrupt:
            bar.close()
            typer.echo(_INTERRUPTED.format(done=bar.n, total=bar.total or 0).in_(language), err=True)
            raise SystemExit(STOPPED) from None
    typer.echo(result.described.in_(language))
    typer.echo(str(result.folder))


def _questions() -> list[str]:
    """List the names of the questions, without loading torch."""
    return sorted(file.stem for file in (Path(__file__).parent.parent / "survey" / "questions").glob("[a-z]*.py"))


def _listed(given: str) -> list[str] | None:
    """Split into keys; a comma before a digit belongs to a setting, as in `attention_map:query=3,4`."""
    keys = []
    for part in filter(None, map(str.strip, re.split(r",(?!\s*\d)", given))):
        name, colon, stated = part.partition(":")
        keys.append(name.replace("-", "_") + colon + stated)
    return keys or None
