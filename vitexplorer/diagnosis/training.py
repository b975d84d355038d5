"""Check of the first steps of a training: how far each step moves the weights.

The steps are given as a list, or read from the record of a fine-tuning.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from vitexplorer.core.text import SettingError, Text
from vitexplorer.core.types import CurvesResult, Provenance
from vitexplorer.diagnosis.diagnosis import Finding
from vitexplorer.diagnosis.examination import Examination
from vitexplorer.finetune.job.folder import UPDATES
from vitexplorer.finetune.results.records import FinetuneResult

CAUSES = ("rate_too_high", "nothing_trains")
USUAL, TOO_FAR = 0.001, 0.05
"""Norm of an update, as a share of the norm of its weight: usual, and from which steps are too large"""
Steps = Sequence[Mapping[str, tuple[float, float]]]
"""Norm of each update and of its parameter before, by name, for each step"""
_NO_TRAINING = Text("No steps of a training were given.", "没有给出训练步骤。")
_FORM = Text(
    "The steps of a training are a list with a mapping for each step, from the name of a parameter to the norm of its "
    "update and its own norm.",
    "训练步骤应为列表：每一步为一个映射，从参数名称到其更新的范数与参数自身的范数。",
)
_SEVERAL = Text(
    "{folder} holds several trainings; give the folder of one of them, such as {one}.",
    "{folder} 中有多个训练；请给出其中一个的文件夹，例如 {one}。",
)
_NO_RECORD = Text("{folder} holds no record of a training's first updates.", "{folder} 中没有训练最初几步更新的记录。")
_HIGH = Text(
    "The learning rate is too high: a step changes the median weight by {share} of its norm; a thousandth is usual.",
    "学习率过高：每一步使中位权重改变其范数的 {share}；通常约为千分之一。",
)
_STILL = Text(
    "{count:parameter never changes/parameters never change} in {steps} steps: {first} first.",
    "{count} 个参数在 {steps} 步中从未改变，第一个是 {first}。",
)
_SIZES = Text("How far a step moves each parameter", "每一步使各参数移动多远")
_UNIT = Text("log₁₀ of update / weight", "更新与权重之比（以 10 为底的对数）")
_PARAMETER = Text(
    "parameter, first to last; gaps: no change, or none to measure", "参数，从前到后；空缺：无变化或无法计算"
)
_MEDIAN, _THOUSANDTH = Text("median of the steps", "各步的中位数"), Text("usual: a thousandth", "通常：千分之一")


def check_training(exam: Examination, training: Any) -> None:
    """Judge the size of the updates.

    A new head, and what begins at zero as half of LoRA does, has no norm to measure its steps by.
    """
    if training is None:
        return exam.cannot_tell(CAUSES, _NO_TRAINING)
    fresh, steps = _steps(training)
    exam.did_check(CAUSES)
    names = list(dict.fromkeys(name for step in steps for name in step))
    proof = _sizes(names, steps, exam.subject.model.provenance)
    still = [name for name in names if all(step.get(name, (0.0, 0.0))[0] == 0 for step in steps)]
    if still:
        text = _STILL.format(count=len(still), steps=len(steps), first=still[0])
        evidence = {"names": still[:50], "parameters": len(names), "steps": len(steps)}
        exam.findings.append(
            Finding("nothing_trains", text, 0.95 if len(still) == len(names) else 0.85, evidence=evidence, proof=proof)
        )
    without_norm = {*fresh, *(name for name in names if next(step[name] for step in steps if name in step)[1] == 0)}
    shares = [
        change / norm
        for step in steps
        for name, (change, norm) in step.items()
        if norm > 0 and change != 0 and (name not in without_norm or not math.isfinite(change))
    ]
    worst = float(np.median(shares)) if shares else 0.0
    if not math.isfinite(worst) or worst > TOO_FAR or any(not math.isfinite(share) for share in shares):
        text = _HIGH.format(share=f"{worst:.2g}")
        certainty = min(0.99, 0.8 + worst) if math.isfinite(worst) else 0.99
        exam.findings.append(Finding("rate_too_high", text, certainty, evidence={"median_share": worst}, proof=proof))
    return None


def _sizes(names: Sequence[str], steps: Steps, provenance: Provenance) -> CurvesResult:
    """Return the median size of a parameter's updates beside the usual one; NaN without a finite share above 0."""
    medians = []
    for name in names:
        pairs = [step[name] for step in steps if name in step]
        shares = [change / norm for change, norm in pairs if norm > 0 and change > 0 and math.isfinite(change)]
        medians.append(float(np.median([math.log10(share) for share in shares])) if shares else math.nan)
    return CurvesResult(
        view="check_up",
        title=_SIZES,
        values=np.array([medians, [math.log10(USUAL)] * len(names)]),
        axes=("curves", "parameters"),
        unit=_UNIT,
        formula="log₁₀ ‖ΔW‖ / ‖W‖",
        provenance=provenance,
        x=np.arange(len(names)),
        x_name=_PARAMETER,
        curves=(_MEDIAN, _THOUSANDTH),
    )


def _steps(training: Any) -> tuple[Sequence[str], Steps]:
    """Return the names of the parameters of a new head, and the sizes of the updates in each step."""
    if isinstance(training, FinetuneResult):
        return _recorded(training.file.parent)
    if isinstance(training, str | os.PathLike):
        return _recorded(_run(Path(training)))
    if not isinstance(training, Sequence) or not training:
        raise SettingError(_FORM)
    for step in training:
        if not isinstance(step, Mapping) or not all(
            isinstance(pair, Sequence) and len(pair) == 2 for pair in step.values()
        ):
            raise SettingError(_FORM)
    return (), training


def _run(folder: Path) -> Path:
    """Return the folder of the one run of a fine-tuning; a folder of a run is returned as it is."""
    runs = sorted(path for path in (folder / "runs").glob("*") if UPDATES.is_in(path))
    if len(runs) > 1:
        raise SettingError(_SEVERAL.format(folder=folder.name, one=Path(folder.name, "runs", runs[0].name)))
    return runs[0] if runs else folder


def _recorded(run: Path) -> tuple[Sequence[str], Steps]:
    updates = UPDATES.read(run)
    if updates is None or not updates.steps:
        raise SettingError(_NO_RECORD.format(folder=run.name))
    return updates.fresh, [update.sizes for update in updates.steps]
