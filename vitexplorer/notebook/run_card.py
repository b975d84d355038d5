"""Card of a finished fine-tuning run: trained parameters, cost, metrics and confusions."""

from __future__ import annotations

import numpy as np

from vitexplorer.core.format import counted, measured
from vitexplorer.core.text import SEMICOLON, Text, same
from vitexplorer.figures.caption import MODEL, NOTE
from vitexplorer.finetune.results.metrics import metric_text
from vitexplorer.finetune.results.records import FinetuneResult
from vitexplorer.notebook.card import Card, Table
from vitexplorer.notebook.model_card import METHOD, TRAINED, trained_text

MOST_CLASSES = 12
"""Most classes for which the card shows the confusion matrix"""
MISTAKES = 3

TITLE = Text("Fine-tuning run", "微调结果")
METRICS = {"accuracy": Text("Accuracy", "准确率"), "rmse": Text("RMSE", "均方根误差")}
BASELINE = Text("Baseline", "基线")
EPOCHS = Text("Epochs", "轮数")
FIGURE = Text("{value} on {images:validation image}", "{value}（{images} 幅验证图像）")
BEST = Text("{all}, the best is number {best}", "{all}，第 {best} 轮最好")
TIME = Text("Time", "用时")
WRONG = Text("Taken for another", "误判")
TAKEN = Text("{true} for {taken}: {count}", "“{true}”误判为“{taken}”：{count}")
MATRIX = Text(
    "Validation images by true class (rows) and answer (columns)", "验证图像：每行是一个真实类别，每列是模型判定的类别"
)


def run_card(run: FinetuneResult) -> Card:
    """Make the card of a run: base, method, counts, the metric beside the baseline's, and the confusion matrix."""
    baseline = run.baseline
    settings = ", ".join(f"{name}={value}" for name, value in run.settings.items())
    value = metric_text(run.metric, run.value)
    rows = [
        (MODEL, same(run.base[0])),
        (METHOD, same(f"{run.method} ({settings})" if settings else run.method)),
        (TRAINED, trained_text(run.trainable, run.total, run.head)),
        (METRICS[run.metric], FIGURE.format(value=value, images=counted(len(run.paths)))),
        *([(BASELINE, same(metric_text(run.metric, baseline.value)))] if baseline else []),
        (EPOCHS, BEST.format(all=len(run.epochs), best=run.epochs[run.best].epoch)),
        (TIME, Text("{seconds} s", "{seconds} 秒").format(seconds=measured(run.seconds))),
        *([(WRONG, mistakes)] if (mistakes := _mistakes(run)) else []),
        *((NOTE, note) for note in run.notes),
    ]
    table = Table(MATRIX, run.classes, run.confusion) if 0 < len(run.classes) <= MOST_CLASSES else None
    return Card(TITLE, tuple(rows), table=table, python='capture = vx.capture(run.model, "picture.jpg")')


def _mistakes(run: FinetuneResult) -> Text | None:
    """Return the most common mistakes, largest count first; None if there are none."""
    if not run.classes:
        return None
    wrong = run.confusion - np.diag(np.diag(run.confusion))
    places = [divmod(int(at), len(wrong)) for at in np.argsort(-wrong, axis=None, kind="stable")[:MISTAKES]]
    mistakes = [
        TAKEN.format(true=run.classes[true], taken=run.classes[taken], count=counted(wrong[true, taken]))
        for true, taken in places
        if wrong[true, taken]
    ]
    return SEMICOLON.join(mistakes) if mistakes else None
