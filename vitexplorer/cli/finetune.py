"""Command `finetune`: `python -m vitexplorer finetune pets --method lora,adaptformer --epochs 10 --out runs/pets`.

It prints the data, the baseline, the estimate of each method, every epoch and the leaderboard. Another call with the
same `--out` resumes the job, also after Ctrl-C; new methods are added.
"""
# ruff: noqa: B008

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer

from vitexplorer.cli.errors import one_sentence
from vitexplorer.cli.options import BACKBONE, PRINTED, WEIGHTS, WEIGHTS_SEED
from vitexplorer.cli.text import table
from vitexplorer.core.registry import unknown_name
from vitexplorer.core.settings import settings
from vitexplorer.core.text import ExplainedError, Language, Text, present, same
from vitexplorer.service.amounts import duration, score

ALL = "all"

_DATA = Text("Class folders, a .zip of them, or images with a .csv.", "类别文件夹、其 .zip，或图像加 .csv。")
_METHOD = Text(
    "Methods separated by commas, settings after colons: lora:r=4:lr=0.002,linear. Or: all.",
    "方法以逗号分隔，设置写在冒号之后：lora:r=4:lr=0.002,linear。或：all。",
)
_EPOCHS = Text("Passes over the training images.", "遍历训练图像的轮数。")
_OUT = Text("Folder of the job; runs/<folder> when not given.", "任务文件夹；未指定时为 runs/<文件夹名>。")
_PLAN = Text(
    "Another setting of the training, as name=value: batch_size=32, patience=5, loss=bce, seed=1. May be repeated.",
    "训练的其他设置，写作 name=value：batch_size=32、patience=5、loss=bce、seed=1。可重复使用。",
)
_TARGET = Text("Column of the table to learn.", "表格中要学习的列。")
_IMAGES = Text("Column of the table that names the images.", "表格中图像名称所在的列。")


def command(language: Language) -> Callable[..., None]:
    """Build the command, with its help in `language`."""

    def finetune(
        data: Path = typer.Argument(..., help=_DATA.in_(language)),
        method: str = typer.Option("lora", help=_METHOD.in_(language)),
        model: str = typer.Option(settings().model, help=BACKBONE.in_(language)),
        weights: str = typer.Option("auto", help=WEIGHTS.in_(language)),
        weights_seed: int = typer.Option(0, help=WEIGHTS_SEED.in_(language)),
        epochs: int = typer.Option(10, help=_EPOCHS.in_(language)),
        out: Path | None = typer.Option(None, "--out", "-o", help=_OUT.in_(language)),
        set: list[str] = typer.Option([], "--set", help=_PLAN.in_(language)),
        target_column: str | None = typer.Option(None, help=_TARGET.in_(language)),
        image_column: str | None = typer.Option(None, help=_IMAGES.in_(language)),
        language: Language = typer.Option(language, help=PRINTED.in_(language)),
    ) -> None:
        with one_sentence(language):
            from vitexplorer.finetune.job.plan import JobConfig, plan_of

            config = JobConfig(
                data=str(data),
                model=model,
                candidates=candidates(method),
                plan=plan_of(epochs=epochs, **dict(_pair(text) for text in set)),
                weights=weights,
                weights_seed=weights_seed,
                image_column=image_column,
                target_column=target_column,
            )
            _train(config, out or Path("runs") / data.resolve().stem, language)

    return finetune


def candidates(given: str) -> tuple[Any, ...]:
    """Parse candidates such as `lora:r=4:lr=0.002,linear`. Raises ExplainedError for anything else."""
    from vitexplorer.finetune.job.plan import Candidate
    from vitexplorer.finetune.methods import METHODS

    names = list(METHODS) if given == ALL else [part.strip() for part in given.split(",") if part.strip()]
    parsed = []
    for name in names:
        method, *pairs = name.split(":")
        if method not in METHODS:
            raise unknown_name("method", method, METHODS)
        values = dict(map(_pair, pairs))
        rate = values.pop("lr", None)
        parsed.append(Candidate(method, values, rate))
    return tuple(parsed)


def _pair(text: str) -> tuple[str, Any]:
    """Parse `name=value`; the value is JSON or a plain word."""
    name, sign, value = text.partition("=")
    if not sign:
        raise ExplainedError(
            Text("'{text}' is not of the form name=value.", "“{text}”不是 name=value 的形式。").format(text=text)
        )
    try:
        return name.strip().replace("-", "_"), json.loads(value)
    except (ValueError, RecursionError):
        return name.strip().replace("-", "_"), value


# ---------------------------------------------------------------------------------------------- training and output


def _train(config: Any, out: Path, language: Language) -> None:
    from vitexplorer.finetune.in_process import run_job
    from vitexplorer.storage.claims import is_first_process

    comparison = run_job(config, out, _printer(language))
    if is_first_process():
        typer.echo(leaderboard(comparison, language))
        typer.echo(str(comparison.folder))
        if not comparison.results:
            raise SystemExit(2)


def _printer(language: Language) -> Callable[[Any], None]:
    """Make a listener that prints events; progress goes to stderr, on one line."""
    formatters = {"data": _data, "baseline": _baseline, "estimate": _estimate, "epoch": _epoch}

    def print_event(event: Any) -> None:
        if event.kind in ("reading", "extracting", "step"):
            typer.echo(f"\r{_progress(event)}\033[K", nl=False, err=True)
            return
        typer.echo("\r\033[K", nl=False, err=True)
        if event.kind in formatters:
            for line in formatters[event.kind](event):
                typer.echo(line.in_(language))
        elif event.text and event.run:
            typer.echo(f"{event.run}: {event.text.in_(language)}", err=True)

    return print_event


def _progress(event: Any) -> str:
    values = event.values
    if event.kind == "step":
        return f"{event.run}  {values['step']}/{values['steps']}  {time_text(values['seconds_left'])}"
    return f"{event.run}  {values['done']}/{values['total']}"


def _data(event: Any) -> list[Text]:
    values = event.values
    counts = zip(values["classes"], values["counts"], strict=True) if values["classes"] else ()
    listed = ", ".join(f"{name} {count}" for name, count in counts)
    head = Text(
        "{images:image}: {train} for training, {validation} for validation",
        "{images} 幅图像：{train} 幅用于训练，{validation} 幅用于验证",
    ).format(**{name: values[name] for name in ("images", "train", "validation")})
    lines = [head, *([same(listed)] if listed else [])]
    return lines + [Text(f"- {english}", f"- {chinese}") for _, english, chinese in values["findings"]]


def _baseline(event: Any) -> list[Text]:
    values = event.values
    return [
        Text(
            "To beat: {value} {metric} by a regression on frozen features ({constant} without looking at images)",
            "需要超过：冻结特征上的回归达到 {metric} {value}（不看图像为 {constant}）",
        ).format(
            value=score(values["metric"], values["metrics"][values["metric"]]),
            metric=values["metric"],
            constant=score(values["metric"], values["constant"]),
        )
    ]


def _estimate(event: Any) -> list[Text]:
    values = event.values
    return [
        Text(
            "{run}: {trainable} of {total} parameters train; about {seconds}, {memory:.1f} GB. {how}",
            "{run}：训练 {total} 个参数中的 {trainable} 个；约 {seconds}，{memory:.1f} GB。{how}",
        ).format(
            run=event.run,
            trainable=f"{values['trainable']:,}",
            total=f"{values['total']:,}",
            seconds=time_text(values["seconds"]),
            memory=values["memory_bytes"] / 1e9,
            how=event.text,
        )
    ]


def _epoch(event: Any) -> list[Text]:
    values = event.values
    metric = "accuracy" if "accuracy" in values["metrics"] else "rmse"
    line = (
        f"{event.run}  {values['epoch']}/{values['epochs']}  loss {values['train_loss']:.4f}  "
        f"{metric} {score(metric, values['metrics'][metric])}{' *' if values['is_best'] else ''}"
    )
    return [same(line)]


_COLUMNS = (
    Text("run", "训练"),
    Text("metric", "指标"),
    Text("against the best", "与最佳相比"),
    Text("trained parameters", "可训练参数"),
    Text("time", "时间"),
    Text("file", "文件"),
)


def leaderboard(comparison: Any, language: Language) -> str:
    """Format the verdict and the results, best first, each against the best."""
    from vitexplorer.finetune.verdict import verdict

    board = comparison.leaderboard
    rows = [[column.in_(language) for column in _COLUMNS]]
    for result in board:
        against = ""
        if result is not board[0]:
            bootstrap = comparison.bootstrap(board[0].run, result.run)
            word = Text("worse", "较差") if bootstrap.is_clear else Text("indistinguishable", "无法区分")
            against = word.in_(language)
        rows.append(
            [
                result.run,
                f"{result.metric} {score(result.metric, result.value)}",
                against,
                f"{result.trainable:,}",
                time_text(result.seconds),
                f"{result.file_bytes / 1e6:.2f} MB",
            ]
        )
    failures = [f"{run}: {why.in_(language)}" for run, why in comparison.failures]
    conclusion = [text.in_(language) for text in present(verdict(comparison))]
    return "\n".join(["", *conclusion, table(rows), *failures])


def time_text(seconds: float | None) -> str:
    """Format a duration; empty for None."""
    return "" if seconds is None else duration(seconds, "en", least=0)
