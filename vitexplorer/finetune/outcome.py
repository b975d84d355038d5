"""Training results as figure data: numbers, labels, units and provenance. No torch."""

from __future__ import annotations

import numpy as np

from vitexplorer.core.text import Text, same
from vitexplorer.core.types import (
    ConfusionResult,
    CurvesResult,
    ParetoResult,
    PerClassResult,
    Provenance,
    ResidualsResult,
)
from vitexplorer.finetune.comparison import Comparison, Cost
from vitexplorer.finetune.results.records import FinetuneResult, LearningCurve
from vitexplorer.finetune.run_titles import run_title

COSTS: dict[str, Text] = {
    "trainable": Text("trained parameters", "可训练参数量"),
    "seconds": Text("seconds of training", "训练秒数"),
    "file_bytes": Text("bytes of the tuned file", "微调文件的字节数"),
}
METRICS: dict[str, Text] = {
    "accuracy": Text("accuracy on the validation set", "验证集准确率"),
    "rmse": Text("root mean squared error on the validation set", "验证集均方根误差"),
    "loss": Text("training loss, mean of the epoch", "训练损失（每轮平均）"),
}
FIGURES = (Text("precision", "精确率"), Text("recall", "召回率"), same("F1"))
SHARE = Text("share, 0-1", "比例，0-1")


def provenance(result: FinetuneResult) -> Provenance:
    """Return the provenance of a figure of one run."""
    return Provenance(result.base[0], "fine-tuned", f"{result.run}, {_base(result)}")


def _base(result: FinetuneResult) -> str:
    """Name the base model, with its weights unless they are "auto"."""
    name, weights, _ = result.base
    return name if weights == "auto" else f"{name}: {weights}"


def confusion_result(result: FinetuneResult) -> ConfusionResult:
    """Count how often each true class was predicted as each class."""
    return ConfusionResult(
        view="confusion",
        title=Text("Which classes are taken for each other", "哪些类别容易混淆"),
        values=result.confusion,
        axes=("classes", "classes"),
        unit=Text("validation images", "验证图像数"),
        formula="",
        provenance=provenance(result),
        classes=result.classes,
    )


def per_class_result(result: FinetuneResult) -> PerClassResult:
    """Return precision, recall and F1 of each class."""
    figures = result.per_class
    return PerClassResult(
        view="per_class",
        title=Text("How well each class is recognised", "各类别的识别效果"),
        values=np.stack([figures.precision, figures.recall, figures.f1], axis=1),
        axes=("classes", "figures"),
        unit=SHARE,
        formula="F1 = 2 P R / (P + R)",
        provenance=provenance(result),
        classes=result.classes,
        figures=FIGURES,
        support=figures.support,
    )


def residuals_result(result: FinetuneResult) -> ResidualsResult:
    """Return predicted minus true value of each validation image."""
    return ResidualsResult(
        view="residuals",
        title=Text("How far off each prediction is", "每个预测的偏差"),
        values=result.residuals,
        axes=("images",),
        unit=Text("predicted minus true", "预测值减真实值"),
        formula="",
        provenance=provenance(result),
        targets=result.targets.astype(float),
    )


def pareto_result(comparison: Comparison, cost: Cost) -> ParetoResult:
    """Return every run's metric against one of its costs."""
    results = comparison.results
    front = {run.run for run in comparison.pareto(cost)}
    metric = results[0].metric
    return ParetoResult(
        view="pareto",
        title=Text("Which methods are worth their cost", "哪些方法物有所值"),
        values=np.array([run.value for run in results]),
        axes=("trainings",),
        unit=METRICS[metric],
        formula="",
        provenance=_of_all(comparison),
        settings={"cost": cost},
        settings_said={"cost": (Text("cost", "代价"), COSTS[cost])},
        trainings=tuple(run_title(run.run) for run in results),
        costs=np.maximum(np.array([getattr(run, cost) for run in results], float), 1e-3),
        cost_name=COSTS[cost],
        front=np.array([run.run in front for run in results]),
        baseline=comparison.baseline.value if comparison.baseline else None,
    )


def epochs_result(comparison: Comparison, what: str) -> CurvesResult:
    """Return the metric ("metric") or training loss ("loss") of every run after each epoch; NaN after its last."""
    results = comparison.results
    metric = results[0].metric
    longest = max(len(run.epochs) for run in results)
    values = np.full((len(results), longest), np.nan)
    for row, run in enumerate(results):
        curve = [epoch.train_loss if what == "loss" else epoch.metrics[metric] for epoch in run.epochs]
        values[row, : len(curve)] = curve
    return CurvesResult(
        view="epochs",
        title=Text("How the trainings went", "训练过程"),
        values=values,
        axes=("trainings", "steps"),
        unit=METRICS["loss" if what == "loss" else metric],
        formula="",
        provenance=_of_all(comparison),
        x=np.arange(1, longest + 1),
        x_name=Text("epoch", "轮次"),
        curves=tuple(run_title(run.run) for run in results),
    )


def images_result(comparison: Comparison, curve: LearningCurve) -> CurvesResult:
    """Return the baseline's metric for growing subsets of the training images."""
    return CurvesResult(
        view="learning_curve",
        title=Text("Would more images help?", "更多图像会有帮助吗？"),
        values=np.array(curve.values),
        axes=("steps",),
        unit=METRICS[comparison.baseline.metric],
        formula="",
        provenance=_of_all(comparison),
        notes=(
            Text(
                "Linear model on the frozen features, on the whole validation set each time.",
                "冻结特征上的线性模型，每次都在整个验证集上评价。",
            ),
        ),
        x=np.array(curve.images),
        x_name=Text("training images", "训练图像数"),
        curves=(Text("linear on frozen features", "冻结特征上的线性模型"),),
    )


def _of_all(comparison: Comparison) -> Provenance:
    first = comparison.results[0]
    runs = ", ".join(run.run for run in comparison.results)
    return Provenance(first.base[0], "fine-tuned", f"{runs}; {_base(first)}")
