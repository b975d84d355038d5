"""Is A really better than B on this validation set? The paired bootstrap (Efron & Tibshirani 1993, chapter 16).

Each draw takes as many images as there are, with replacement; both methods are scored on the same draw. The share of
draws in which A wins, and the interval of the difference, show how much the ranking depends on the choice of held-out
images. They do not cover another training seed or other data.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vitexplorer.core.text import SettingError, Text
from vitexplorer.finetune.results.metrics import METRIC, losses_of_images
from vitexplorer.finetune.run_titles import run_title
from vitexplorer.storage.dataset import Task

_AT_ONCE = 1 << 22
"""Drawn indices in memory at once, 32 MiB"""


@dataclass(frozen=True)
class Bootstrap:
    """Comparison of two runs; a positive difference means that A is better."""

    a: str
    b: str
    metric: str
    difference: float
    """Difference on the validation set itself, in units of the metric"""
    low: float
    """2.5 % quantile of the difference over the draws"""
    high: float
    """97.5 % quantile of the difference over the draws"""
    share: float
    """Share of the draws in which A is better, ties counted half; 0-1"""
    draws: int
    seed: int

    @property
    def verdict(self) -> Text:
        """Conclusion in one sentence."""
        if self.low > 0 or self.high < 0:
            better, worse = (self.a, self.b) if self.low > 0 else (self.b, self.a)
            return Text(
                "{better} is better than {worse} on this validation set (95 % interval of the difference "
                "{low:.3g} to {high:.3g}).",
                "在该验证集上“{better}”优于“{worse}”（差值的 95 % 区间为 {low:.3g} 至 {high:.3g}）。",
            ).format(better=run_title(better), worse=run_title(worse), low=abs(min(self.low, self.high, key=abs)),
                     high=abs(max(self.low, self.high, key=abs)))  # fmt: skip
        return Text(
            "This validation set cannot tell {a} from {b} (95 % interval of the difference {low:.3g} to {high:.3g}).",
            "该验证集无法区分“{a}”与“{b}”的优劣（差值的 95 % 区间为 {low:.3g} 至 {high:.3g}）。",
        ).format(a=run_title(self.a), b=run_title(self.b), low=self.low, high=self.high)


def paired_bootstrap(
    task: Task,
    targets: np.ndarray,
    a: tuple[str, np.ndarray],
    b: tuple[str, np.ndarray],
    *,
    draws: int = 2000,
    seed: int = 0,
) -> Bootstrap:
    """Compare two runs by accuracy or root mean squared error.

    `a` and `b` are names and outputs, probabilities (images, classes) or numbers (images,), on the same images in the
    same order as `targets`, (images,).

    Raises SettingError if the runs were validated on different images.
    """
    if len(a[1]) != len(targets) or len(b[1]) != len(targets):
        raise SettingError(
            Text(
                "{a} and {b} were validated on different images and cannot be compared.",
                "{a} 与 {b} 使用了不同的验证图像，无法比较。",
            ).format(a=a[0], b=b[0])
        )
    images = len(targets)
    losses = np.stack([losses_of_images(task, outputs, targets) for _, outputs in (a, b)])
    rng = np.random.default_rng(seed)
    per_turn = max(1, _AT_ONCE // images)
    differences = np.concatenate(
        [
            _advantage(task, losses[:, rng.integers(images, size=(min(per_turn, draws - start), images))])
            for start in range(0, draws, per_turn)
        ]
    )
    low, high = np.quantile(differences, [0.025, 0.975])
    share = float((differences > 0).mean() + (differences == 0).mean() / 2)
    difference = float(_advantage(task, losses[:, None])[0])
    return Bootstrap(a[0], b[0], METRIC[task], difference, float(low), float(high), share, draws, seed)


def _advantage(task: Task, losses: np.ndarray) -> np.ndarray:
    """Compute the advantage of A, (draws,), from losses (2, draws, images)."""
    mean = losses.mean(-1)
    a, b = np.sqrt(mean) if task == "regression" else mean
    return b - a
