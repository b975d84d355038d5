"""Inspection of every image before training: unreadable files, duplicates, sizes and class balance."""

from __future__ import annotations

import os
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace

import numpy as np

from vitexplorer.core.settings import settings
from vitexplorer.core.text import Progress, Text
from vitexplorer.finetune.data.balance import balance
from vitexplorer.finetune.data.duplicates import Group, components, difference_hash, exact_groups, near_groups
from vitexplorer.models.images import ImageError, open_shrunk
from vitexplorer.storage.dataset import Dataset
from vitexplorer.storage.findings import Finding, findings_of

TINY_SIDE = 64
"""Pixels; an image with a shorter side is usually enlarged for the model"""
HUGE_MEGAPIXELS = 20
_SHORT_SIDE = 64  # enough for the hash of 9 x 9 cells
_MOST_THREADS = 4  # each holds one whole image: up to 40 megapixels of a PNG


@dataclass(frozen=True)
class DataReport:
    """Result of the inspection."""

    dataset: Dataset
    """Readable images with their groups of duplicates, to split and train on"""
    findings: tuple[Finding, ...]
    """Findings from reading and inspection; those that stop a training first, then warnings, then notes"""
    unreadable: tuple[tuple[str, Text], ...]
    """Path and reason for every image that was left out"""
    sizes: np.ndarray
    """Width and height in pixels of every readable image, int (images, 2)"""
    exact: tuple[tuple[str, ...], ...]
    """Paths of each group of identical images"""
    near: tuple[tuple[str, ...], ...]
    """Paths of each group of near duplicates; exact duplicates are included"""

    @property
    def can_train(self) -> bool:
        """True if no finding stops a training."""
        return not any(finding.level == "stops" for finding in self.findings)

    @property
    def counts(self) -> tuple[tuple[str, int], ...]:
        """Every class with its number of usable images; empty for regression."""
        return tuple(zip(self.dataset.classes, self.dataset.counts.tolist(), strict=True))


def inspect(dataset: Dataset, *, progress: Progress | None = None) -> DataReport:
    """Open every image once, shrunk while decoding, a few at a time; only sizes and hashes stay in memory.

    Unusable images are named and left out of the report's dataset; duplicates stay and form groups.
    """
    readable, facts, unreadable = [], [], []
    with closing(_facts(dataset)) as inspected:  # also when `progress` raises
        for i, fact in enumerate(inspected):
            if progress is not None:
                progress(i, len(dataset))
            if isinstance(fact, Text):
                unreadable.append((dataset.items[i].path, fact))
            else:
                readable.append(i)
                facts.append(fact)
    usable = dataset.only(readable)
    exact = exact_groups([fact.digest for fact in facts])
    near = near_groups([fact.hash for fact in facts])
    links = [(group[0], other) for group in exact + near for other in group[1:]]
    usable = replace(usable, groups=tuple(components(len(usable), links)))
    sizes = np.array([(fact.width, fact.height) for fact in facts], np.int64).reshape(-1, 2)
    findings = [
        *dataset.findings,
        *_of_images(usable, sizes, unreadable),
        *_of_duplicates(usable, exact, near),
        *balance(usable),
    ]
    order = ("stops", "warning", "note")
    return DataReport(
        usable,
        tuple(sorted(findings, key=lambda finding: order.index(finding.level))),
        tuple(unreadable),
        sizes,
        _paths(usable, exact),
        _paths(usable, near),
    )


_UNREADABLE = Text(
    "Images that cannot be used are left out: {count} ({names}). The first: {reason}",
    "无法使用的图像已忽略：{count} 幅（{names}）。第一幅：{reason}",
)
_TINY = Text(
    "Images with a side of fewer than {side} pixels: {count} ({names}). A model sees them enlarged and blurred.",
    "边长不足 {side} 像素的图像：{count} 幅（{names}）。模型看到的是放大后的模糊图像。",
)
_HUGE = Text(
    "Images of more than {most} million pixels: {count} ({names}). They are shrunk while reading, which takes a while "
    "the first time.",
    "超过 {most_zh} 万像素的图像：{count} 幅（{names}）。读取时会缩小，首次读取较慢。",
)
_EXACT = Text(
    "Images that are there more than once: {count} in all ({names}). They stay on one side of the split.",
    "重复出现的图像：共 {count} 幅（{names}）。划分时会留在同一侧。",
)
_NEAR = Text(
    "Images that are almost the same as another: {count} in all ({names}). They stay on one side of the split.",
    "与其他图像近似重复的图像：共 {count} 幅（{names}）。划分时会留在同一侧。",
)
_CONFLICT = Text(
    "The same image with different targets: {count} in all ({names}). One of them is wrong; please decide which.",
    "同一图像对应不同的目标值：共 {count} 幅（{names}）。其中有错误，请确认哪个正确。",
)


@dataclass(frozen=True)
class _Facts:
    """Facts about an image that was opened."""

    width: int
    height: int
    digest: str
    hash: bytes


def _facts(dataset: Dataset) -> Generator[_Facts | Text, None, None]:
    """Yield the facts of each image in order, or the reason why it is unusable. Pillow decodes without the GIL."""
    limit = settings().max_megapixels

    def look(index: int) -> _Facts | Text:
        try:
            opened = open_shrunk(dataset.path(index), _SHORT_SIDE, max_megapixels=limit)
        except ImageError as error:
            return error.text
        return _Facts(opened.width, opened.height, opened.digest, difference_hash(opened.pixels))

    with ThreadPoolExecutor(min(_MOST_THREADS, os.cpu_count() or 1)) as threads:
        try:
            yield from threads.map(look, range(len(dataset)))
        finally:
            threads.shutdown(cancel_futures=True)


def _paths(dataset: Dataset, groups: tuple[Group, ...]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(dataset.items[i].path for i in group) for group in groups)


def _of_images(dataset: Dataset, sizes: np.ndarray, unreadable: list[tuple[str, Text]]) -> list[Finding]:
    paths = np.array([item.path for item in dataset.items], object)
    tiny, huge = paths[sizes.min(1) < TINY_SIDE], paths[sizes.prod(1) > HUGE_MEGAPIXELS * 10**6]
    kinds = (
        ("unreadable", "warning", _UNREADABLE, [path for path, _ in unreadable]),
        ("tiny", "warning", _TINY, tiny),
        ("huge", "note", _HUGE, huge),
    )
    reason = unreadable[0][1] if unreadable else None
    return findings_of(kinds, reason=reason, side=TINY_SIDE, most=HUGE_MEGAPIXELS, most_zh=HUGE_MEGAPIXELS * 100)


def _of_duplicates(dataset: Dataset, exact: tuple[Group, ...], near: tuple[Group, ...]) -> list[Finding]:
    targets = dataset.targets
    twice = {i for group in exact for i in group}
    almost = {i for group in near for i in group} - twice
    conflicts = {i for group in exact + near if len(np.unique(targets[list(group)])) > 1 for i in group}
    if dataset.task == "regression":
        conflicts &= twice  # near duplicates may well have slightly different numbers
    kinds = (
        ("exact_duplicates", "note", _EXACT, twice),
        ("near_duplicates", "note", _NEAR, almost),
        ("conflicting_labels", "warning", _CONFLICT, conflicts),
    )
    return findings_of((*kind, [dataset.items[i].path for i in sorted(which)]) for *kind, which in kinds)
