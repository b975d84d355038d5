"""State of a running check-up: answers of the model to the pictures, a measure, and a limit of time."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Int
from torch import Tensor

from vitexplorer.core.text import Text, same
from vitexplorer.diagnosis.answers import (
    ACCURACY,
    INFORMATION,
    Batch,
    Judged,
    Logits,
    Run,
    class_mean_logits,
    judged_alone,
    judged_by_labels,
    logits_of,
    moved,
    run_of,
)
from vitexplorer.diagnosis.diagnosis import Finding
from vitexplorer.diagnosis.features import Features, features_of
from vitexplorer.diagnosis.feeds import AS_FED, Feed
from vitexplorer.diagnosis.sentences import NO_TIME, rises
from vitexplorer.diagnosis.subject import UNKNOWN, Subject

LEAST_PICTURES, MOST_PICTURES = 16, 64
"""Pictures that a candidate is tried on, fewer where the model is slow"""
OF_A_CLASS = 8
"""Pictures of a class among them, where each is compared with the mean of its class"""
TRIALS = 40
"""Passes over those pictures that a whole check-up makes, about"""
CLEAR = 3.7
"""Standard errors of a gain that nothing but the answers speaks for; by chance, one of ten thousand has them"""
SUPPORTED = 2.0
"""Standard errors of a gain that the tensors or the weights speak for too"""


Watch = Callable[[Text], None]
"""Called with the name of the part at work, before it begins and before each pass; an error that it raises stops all"""


@dataclass
class Examination:
    """One check-up while it runs; the checks add to `findings` and `undecided`."""

    subject: Subject
    seconds: float
    watch: Watch | None = None
    findings: list[Finding] = field(default_factory=list)
    undecided: dict[str, Text] = field(default_factory=dict)
    checked: list[str] = field(default_factory=list)
    run: Run = field(init=False)
    feed: Feed = AS_FED
    """Change that mends the pictures; the check of the pictures sets it, and all that follow use it"""
    labels: Int[np.ndarray, " images"] | None = field(init=False)
    """Labels by which answers are judged: the believed ones, or mended; None where they cannot be used"""
    _part: Text = same("")
    _began: float = field(init=False)
    _away: float = 0.0
    _answers: dict[tuple[Feed, bool, bytes], Logits] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.run = run_of(self.subject.model.module)
        self.labels = self.subject.labels
        self._began = time.monotonic()

    @property
    def spent(self) -> float:
        """Seconds of the check-up's own work."""
        return time.monotonic() - self._began - self._away

    def begin(self, part: Text) -> None:
        """Tell the watcher which part is at work. The time that it takes, perhaps for other work, does not count."""
        self._part = part
        began = time.monotonic()
        if self.watch is not None:
            self.watch(part)
        self._away += time.monotonic() - began

    @property
    def fed(self) -> Batch:
        """Pictures as fed; only for checks that have some."""
        assert self.subject.fed is not None
        return self.subject.fed

    @property
    def has_no_classes(self) -> bool:
        """True for a model without classes, whose features are compared with the means of the labels' classes."""
        return self.subject.model.num_classes == 0

    @property
    def has_class_means(self) -> bool:
        """True for labels of two classes or more with two pictures each."""
        labels = self.subject.labels
        return labels is not None and int((np.unique(labels, return_counts=True)[1] > 1).sum()) > 1

    @cached_property
    def few(self) -> Int[np.ndarray, " images"]:
        """Rows of the pictures that candidates are tried on: all, or some at equal distances, or of some classes."""
        count, most = len(self.fed), self.affordable
        if self.has_no_classes and self.subject.labels is not None:
            classes, sizes = np.unique(self.subject.labels, return_counts=True)
            common = classes[np.argsort(-sizes, kind="stable")]
            rows = [row for label in common for row in np.flatnonzero(self.subject.labels == label)[:OF_A_CLASS]]
            return np.sort(rows[:most])
        return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(int))

    @cached_property
    def fewest(self) -> Int[np.ndarray, " images"]:
        """Rows of a candidate's first trial: some of `few`, where pictures are judged one by one."""
        return self.few if self.has_no_classes else self.few[:: max(1, len(self.few) // LEAST_PICTURES)]

    @cached_property
    def affordable(self) -> int:
        """Number of pictures that a candidate is tried on, from the time that the model takes for a few."""
        trial = self.fed[:4]
        logits_of(self.run, trial)  # the first pass of a module is slower
        began = time.monotonic()
        logits_of(self.run, trial)
        each = (time.monotonic() - began) / len(trial)
        return int(np.clip(0.8 * self.seconds / (TRIALS * max(each, 1e-6)), LEAST_PICTURES, MOST_PICTURES))

    @property
    def measure(self) -> str:
        """Name of the measure."""
        return INFORMATION if self.labels is None else ACCURACY

    def has_time(self, share: float = 1.0) -> bool:
        """Return True while less than a share of the seconds is spent."""
        return self.spent < share * self.seconds

    def logits(self, feed: Feed | None = None, rows: Int[np.ndarray, " images"] | None = None) -> Logits:
        """Return the model's answers to pictures, through a feed; each is computed once."""
        return self._cached_logits(self.feed if feed is None else feed, False, rows)

    def judged(
        self, feed: Feed | None = None, rows: Int[np.ndarray, " images"] | None = None, run: Run | None = None
    ) -> Judged:
        """Judge answers to pictures, through a feed, of the model or of a changed one."""
        feed = self.feed if feed is None else feed
        if run is not None:
            return self.judged_batch(feed(self.fed if rows is None else self.fed[rows]), rows, run)
        return self._judged(lambda is_moved: self._cached_logits(feed, is_moved, rows), rows)

    def judged_batch(self, batch: Batch, rows: Int[np.ndarray, " images"] | None, run: Run | None = None) -> Judged:
        """Judge answers to other tensors of some pictures, of the model or of a changed one."""
        run = run or self.run
        return self._judged(lambda is_moved: self.answers(run, moved(batch) if is_moved else batch, rows), rows)

    def _judged(self, logits: Callable[[bool], Logits], rows: np.ndarray | None) -> Judged:
        """Judge answers to pictures, and without labels also those to the same pictures moved."""
        if self.labels is None:
            return judged_alone(logits(False), logits(True))
        labels = self.labels if rows is None else self.labels[rows]
        known = labels != UNKNOWN
        return judged_by_labels(logits(False)[known], labels[known])

    def _cached_logits(self, feed: Feed, is_moved: bool, rows: np.ndarray | None) -> Logits:
        key = (feed, is_moved, b"" if rows is None or len(rows) == len(self.fed) else rows.tobytes())
        if key not in self._answers:
            fed = feed(self.fed if rows is None else self.fed[rows])
            self._answers[key] = self.answers(self.run, moved(fed) if is_moved else fed, rows)
        return self._answers[key]

    def answers(self, run: Run, fed: Batch, rows: np.ndarray | None = None) -> Logits:
        """Run pictures through the model, or a changed one; the watcher is asked before each pass.

        Args:
            run: the forward pass.
            fed: the pictures.
            rows: their rows of the data; None for all.
        """

        def watched(batch: Batch) -> Tensor:
            self.begin(self._part)
            return run(batch)

        outputs, labels = logits_of(watched, fed), self.subject.labels
        if not self.has_no_classes or labels is None:
            return outputs
        return class_mean_logits(outputs, labels if rows is None else labels[rows])

    @cached_property
    def features(self) -> Features:
        """Features of all pictures through the mended feed; only for checks after that of the pictures."""
        model = self.subject.model
        return features_of(model.module, self.feed(self.fed), model.num_classes)

    def add_repair(
        self,
        cause: str,
        what: Text,
        before: float,
        after: float,
        certainty: float,
        repaired: Any,
        evidence: Mapping[str, Any],
    ) -> None:
        """Add the finding of a repair that was tried, with the measure before and after it."""
        text = rises(what, self.measure, before, after)
        self.findings.append(Finding(cause, text, certainty, self.measure, before, after, repaired, evidence))

    def cannot_tell(self, causes: str | Iterable[str], why: Text) -> None:
        """Note that causes cannot be told here; of several reasons the first stands."""
        for cause in [causes] if isinstance(causes, str) else causes:
            self.undecided.setdefault(cause, why)

    def ran_out(self, causes: Collection[str]) -> bool:
        """Return True if the time ended before all of these causes were tried, and none of them was found."""
        is_late = any(self.undecided.get(cause) == NO_TIME for cause in causes)
        return is_late and not any(finding.cause in causes for finding in self.findings)

    def did_check(self, causes: str | Iterable[str]) -> None:
        """Note that causes were checked."""
        self.checked.extend([causes] if isinstance(causes, str) else causes)


def certainty_of(deviations: float) -> float:
    """Turn a gain in standard errors into a certainty, 0-1: 0.5 at two, 0.9 at four, 0.996 at seven."""
    return float(1 / (1 + np.exp(-(deviations - 2) * 1.1)))
