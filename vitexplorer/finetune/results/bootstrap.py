"""Is A really better than B on this validation set? The paired bootstrap (Efron & Tibshirani 1993, chapter 16).

Each draw takes as many images as there are, with replacement; both methods are scored on the same draw. The share of
draws in which A wins, and the interval of the difference, show how much the ranking depends on the choice of held-out
images. They do not cover another training seed or other data.

The interval is too short where the methods differ on few images: one image alone gives an interval of no length. So a
method is ahead only if McNemar's exact test agrees (McNemar 1947, Psychometrika 12:153; two-sided binomial on the
images that one method alone gets right), and never on fewer than `LEAST_IMAGES`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from vitexplorer.core.format import MINUS, measured
from vitexplorer.core.text import SettingError, Text, same
from vitexplorer.finetune.results.metrics import METRIC, losses_of_images
from vitexplorer.finetune.run_titles import run_title
from vitexplorer.storage.dataset import Task

DRAWS, LEVEL = 2000, 0.95
LEAST_IMAGES = 6
"""Images from which an exact paired test can reach 5 %: of five, all in favour of A have p = 2 / 2**5 = 0.0625"""
_AT_ONCE = 1 << 22
"""Drawn indices in memory at once, 32 MiB"""
ON = Text("on {images:validation image}", "在 {images} 幅验证图像上")
AHEAD = Text(
    "{better} is ahead of {worse} by {lead} {on} ({interval}).", "{on}，“{better}”领先“{worse}” {lead}（{interval}）。"
)
INTERVAL = Text("95 % interval {low} to {high}", "95 % 区间为 {low} 至 {high}")
ALIKE = Text("{a} and {b} cannot be told apart {on} ({why}).", "{on}，无法区分“{a}”与“{b}”的优劣（{why}）。")
SPREAD = Text("95 % interval of the difference {low} to {high}", "差值的 95 % 区间为 {low} 至 {high}")
TEST = Text("McNemar's exact test, p = {p}", "McNemar 精确检验，p = {p}")
EQUAL = Text("both do equally well on every image", "两者在每幅图像上表现相同")
TOO_FEW = Text("too few images for a test", "图像太少，无法检验")
NOT_FINITE = Text("a prediction is not a finite number", "有预测值不是有限数值")
POINTS = Text("{number} points", "{number} 个百分点")
LOWER = Text("an RMSE lower by {number}", "RMSE 低 {number}")


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
    images: int
    """Number of validation images"""
    p_value: float | None
    """McNemar's exact test of no difference in accuracy; None for regression"""
    draws: int
    seed: int

    @property
    def is_clear(self) -> bool:
        """True if one run is ahead of the other, whichever images are held out."""
        is_apart = self.low > 0 or self.high < 0
        return is_apart and self.images >= LEAST_IMAGES and (self.p_value is None or self.p_value < 1 - LEVEL)

    @property
    def verdict(self) -> Text:
        """Conclusion in one sentence, with its uncertainty."""
        on = ON.format(images=self.images)
        if not self.is_clear:
            return ALIKE.format(a=run_title(self.a), b=run_title(self.b), on=on, why=self.doubt)
        better, worse = (self.a, self.b) if self.low > 0 else (self.b, self.a)
        return AHEAD.format(
            better=run_title(better), worse=run_title(worse), on=on, lead=self.lead, interval=self.interval
        )

    @property
    def lead(self) -> Text:
        """Size of the difference in words."""
        unit = POINTS if self.metric == "accuracy" else LOWER
        return unit.format(number=self._number(abs(self.difference)))

    @property
    def interval(self) -> Text:
        """Interval of `lead` in words."""
        low, high = sorted((abs(self.low), abs(self.high)))
        return INTERVAL.format(low=self._number(low), high=self._number(high))

    @property
    def doubt(self) -> Text:
        """Reason why the runs cannot be told apart."""
        if math.isnan(self.low):
            return NOT_FINITE
        if self.low == self.high == 0:
            return EQUAL
        if self.low <= 0 <= self.high:
            high = self._number(self.high)
            unit = POINTS.format(number=high) if self.metric == "accuracy" else same(high)
            return SPREAD.format(low=self._number(self.low), high=unit)
        return TOO_FEW if self.p_value is None else TEST.format(p=measured(self.p_value))

    def _number(self, value: float) -> str:
        """Format a difference: an accuracy's in points, an error's as it is."""
        return f"{100 * value:.1f}".replace("-", MINUS) if self.metric == "accuracy" else measured(value)


def paired_bootstrap(
    task: Task,
    targets: np.ndarray,
    a: tuple[str, np.ndarray],
    b: tuple[str, np.ndarray],
    *,
    draws: int = DRAWS,
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
    losses = np.stack([losses_of_images(task, outputs, targets) for _, outputs in (a, b)])
    differences = _advantage(task, drawn_means(losses, draws, seed))
    low, high = np.quantile(differences, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Bootstrap(
        a=a[0],
        b=b[0],
        metric=METRIC[task],
        difference=float(_advantage(task, losses.mean(1, keepdims=True))[0]),
        low=float(low),
        high=float(high),
        share=float((differences > 0).mean() + (differences == 0).mean() / 2),
        images=len(targets),
        p_value=_mcnemar(losses) if task == "classification" else None,
        draws=draws,
        seed=seed,
    )


def drawn_means(
    losses: Float[np.ndarray, "trainings images"], draws: int = DRAWS, seed: int = 0
) -> Float[np.ndarray, "trainings entries"]:
    """Compute the mean losses of all runs over the same draws of images, a part of the draws at a time."""
    images = losses.shape[1]
    rng = np.random.default_rng(seed)
    per_turn = max(1, _AT_ONCE // images)
    parts = [
        losses[:, rng.integers(images, size=(min(per_turn, draws - start), images))].mean(-1)
        for start in range(0, draws, per_turn)
    ]
    return np.concatenate(parts, axis=1)


def _mcnemar(losses: Float[np.ndarray, "sides images"]) -> float:
    """Compute the two-sided p of McNemar's exact test from losses of 0 and 1; 1 where no image tells the runs apart."""
    from scipy.stats import binomtest  # imported late, so that the page opens sooner

    only_a = int((losses[0] < losses[1]).sum())
    changed = int((losses[0] != losses[1]).sum())
    return float(binomtest(only_a, changed).pvalue) if changed else 1.0


def _advantage(task: Task, means: Float[np.ndarray, "sides entries"]) -> Float[np.ndarray, " entries"]:
    """Compute the advantage of A in units of the metric from mean losses."""
    a, b = np.sqrt(means) if task == "regression" else means
    return b - a
