"""Check of the first steps of a training: how far each step moves the weights."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from vitexplorer.core.text import SettingError, Text
from vitexplorer.diagnosis.diagnosis import Finding
from vitexplorer.diagnosis.examination import Examination

CAUSES = ("rate_too_high", "nothing_trains")
TOO_FAR = 0.05
"""Norm of an update, as a share of the norm of its weight, from which steps are too large; a thousandth is usual"""
_NO_TRAINING = Text("No steps of a training were given.", "没有给出训练步骤。")
_FORM = Text(
    "The steps of a training are a list with a mapping for each step, from the name of a parameter to the norm of its "
    "update and its own norm.",
    "训练步骤应为列表：每一步为一个映射，从参数名称到其更新的范数与参数自身的范数。",
)
_HIGH = Text(
    "The learning rate is too high: a step changes the median weight by {share} of its norm; a thousandth is usual.",
    "学习率过高：每一步使中位权重改变其范数的 {share}；通常约为千分之一。",
)
_STILL = Text(
    "{count:parameter never changes/parameters never change} in {steps} steps: {first} first.",
    "{count} 个参数在 {steps} 步中从未改变，第一个是 {first}。",
)


def check_training(exam: Examination, training: Any) -> None:
    """Judge the size of the updates."""
    if training is None:
        return exam.cannot_tell(CAUSES, _NO_TRAINING)
    steps = _steps(training)
    exam.did_check(CAUSES)
    names = list(dict.fromkeys(name for step in steps for name in step))
    still = [name for name in names if all(step.get(name, (0.0, 0.0))[0] == 0 for step in steps)]
    if still:
        text = _STILL.format(count=len(still), steps=len(steps), first=still[0])
        evidence = {"names": still[:50], "parameters": len(names), "steps": len(steps)}
        exam.findings.append(
            Finding("nothing_trains", text, 0.95 if len(still) == len(names) else 0.85, evidence=evidence)
        )
    shares = [change / norm for step in steps for change, norm in step.values() if norm > 0 and change != 0]
    worst = float(np.median(shares)) if shares else 0.0
    if not math.isfinite(worst) or worst > TOO_FAR or any(not math.isfinite(share) for share in shares):
        text = _HIGH.format(share=f"{worst:.2g}")
        certainty = min(0.99, 0.8 + worst) if math.isfinite(worst) else 0.99
        exam.findings.append(Finding("rate_too_high", text, certainty, evidence={"median_share": worst}))
    return None


def _steps(training: Any) -> list[Mapping[str, tuple[float, float]]]:
    if not isinstance(training, Sequence) or isinstance(training, str) or not training:
        raise SettingError(_FORM)
    for step in training:
        if not isinstance(step, Mapping) or not all(
            isinstance(pair, Sequence) and len(pair) == 2 for pair in step.values()
        ):
            raise SettingError(_FORM)
    return list(training)
