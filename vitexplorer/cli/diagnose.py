"""Command `diagnose`, a check-up of a model: `python -m vitexplorer diagnose [MODEL] --data FOLDER`."""
# ruff: noqa: B008

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import typer

from vitexplorer.cli.errors import one_sentence
from vitexplorer.cli.text import table
from vitexplorer.core.text import ITEMS, Language, Text

_MODEL = Text(
    "A name from `models`, a weight file or its folder; without one, the pictures alone are judged.",
    "`models` 中的名称、权重文件或其文件夹；省略时只检查图像。",
)
_DATA = Text("A folder of pictures, best in a folder for each class.", "图像文件夹，最好每个类别一个子文件夹。")
_LABELS = Text("A .csv with a file name and a label in each row.", "每行含文件名与标签的 .csv。")
_TRAINING = Text("Folder of a fine-tuning, to judge its first steps.", "微调训练的文件夹，用于检查其最初几步。")
_SECONDS = Text("Time to aim for, in seconds.", "目标用时（秒）。")
_REPAIR = Text("Folder to write repairs into.", "写入修复结果的文件夹。")
_JSON = Text("Print the report as JSON.", "以 JSON 输出报告。")
_LANGUAGE = Text("Language of the report.", "报告的语言。")
_UNDECIDED = Text("Cannot be told here: {causes}.", "此处无法判断：{causes}。")
_CHECKS = Text("Checking: {part}", "正在检查：{part}")
_WROTE = Text("Written: {files}.", "已写入：{files}。")
HEALTHY, FINDINGS, NOTHING_CHECKED = 0, 1, 2
"""Exit statuses"""


def command(language: Language) -> Callable[..., None]:
    """Build the command, with its help in `language`; its exit status is 0 for healthy, 1 for findings, else 2."""

    def diagnose(
        model: str | None = typer.Argument(None, help=_MODEL.in_(language)),
        data: Path | None = typer.Option(None, help=_DATA.in_(language)),
        labels: Path | None = typer.Option(None, help=_LABELS.in_(language)),
        training: Path | None = typer.Option(None, help=_TRAINING.in_(language)),
        seconds: float = typer.Option(60, min=1, help=_SECONDS.in_(language)),
        repair: Path | None = typer.Option(None, help=_REPAIR.in_(language)),
        as_json: bool = typer.Option(False, "--json", help=_JSON.in_(language)),
        language: Language = typer.Option(language, help=_LANGUAGE.in_(language)),
    ) -> None:
        with one_sentence(language):
            import vitexplorer as vx
            from vitexplorer.diagnosis import CAUSES
            from vitexplorer.diagnosis.repairs import write_repairs

            begun: set[Text] = set()

            def watch(part: Text) -> None:
                if part not in begun:
                    begun.add(part)
                    typer.echo(_CHECKS.format(part=part).in_(language), err=True)

            report = vx.diagnose(model, data, labels, training=training, seconds=seconds, watch=watch)
            files = write_repairs(report, repair) if repair else []
        if as_json:
            typer.echo(report.to_json())
        else:
            typer.echo(report.verdict.in_(language))
            rows = [
                (CAUSES[found.cause].title.in_(language), f"{found.certainty:.2f}", found.text.in_(language))
                for found in report.findings
            ]
            if rows:
                typer.echo("\n" + table(rows))
            if report.undecided:
                titles = ITEMS.join(CAUSES[cause].title for cause in report.undecided)
                typer.echo("\n" + _UNDECIDED.format(causes=titles).in_(language))
        if files:
            typer.echo(_WROTE.format(files=", ".join(map(str, files))).in_(language), err=as_json)
        raise SystemExit(FINDINGS if report.findings else HEALTHY if report.healthy else NOTHING_CHECKED)

    return diagnose
