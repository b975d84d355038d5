"""Component of the images before training: ways to choose them, bars of counts, findings by level, examples."""

from __future__ import annotations

import itertools

import numpy as np
from pydantic import BaseModel

from vitexplorer.core.settings import settings
from vitexplorer.core.text import Language, in_language
from vitexplorer.finetune.data import DataError, DataReport, Split, split
from vitexplorer.models.images import ImageError, open_shrunk
from vitexplorer.service.training_images import Chosen, Looked
from vitexplorer.ui.kit.served_files import ServedFile, image_file
from vitexplorer.ui.kit.widget import Widget
from vitexplorer.ui.rooms.finetune.words import TRAINING_WORDS, say

MOST_BARS = 40
BINS = 12
SAMPLES = 12
SIDE = 96
"""Shorter side of an example in pixels"""


class Bar(BaseModel):
    """Number of images of a class, or of a range of target values."""

    name: str
    count: int


class Sample(BaseModel):
    """Example image with its label."""

    image: ServedFile
    label: str


class ReportData(BaseModel):
    """Report on the images, or its progress, or the reason why there is none."""

    working: str = ""
    """Progress while images are read; the other fields are then empty"""
    refused: str = ""
    title: str = ""
    example: bool = False
    """True for the drawn scenes, which a link can name"""
    summary: str = ""
    can_train: bool = False
    chart: str = ""
    """Title of the bars"""
    bars: list[Bar] = []
    more: str = ""
    findings: list[dict[str, str]] = []
    """Findings: `level` and `text`"""
    samples: list[Sample] = []
    columns: list[str] = []
    """Columns of the table; empty for class folders"""
    image_column: str = ""
    target_column: str = ""
    task: str = ""
    words: dict[str, str] = {}


class DataReportView(Widget):
    """Component of the images and the report on them.

    Events: `unpack` with `files`, a zip; `draw`; `read` with `text`, a folder of this machine; `pick` with `image`,
    `target` and `task` where there is a table.
    """

    data_model = ReportData
    sends = ("unpack", "draw", "read", "pick")


def empty_report(language: Language, refused: str = "", working: str = "") -> ReportData:
    """Return the data before there are images, while they are read, or with the reason why they cannot be read."""
    return ReportData(refused=refused, working=working, words=in_language(TRAINING_WORDS, language, "report_"))


def report_data(chosen: Chosen, looked: Looked, language: Language) -> ReportData:
    """Return the report on chosen images."""
    report = looked.report
    sides = sides_of(looked)
    table = looked.columns
    data = empty_report(language)
    data.title = chosen.title.in_(language)
    data.example = chosen.expect is not None
    data.can_train = sides is not None
    if sides is not None:
        expected = [] if chosen.expect is None else [chosen.expect.in_(language)]
        data.summary = " ".join([_summary(report, sides, language), *expected])
    if report.dataset.classes:
        bars = [Bar(name=name, count=count) for name, count in report.counts]
    else:
        bars = _number_bars(report)
    data.bars = bars[:MOST_BARS]
    data.chart = say("report_counts" if report.dataset.classes else "report_histogram", language)
    if len(bars) > MOST_BARS:
        data.more = say("report_more", language, count=len(bars) - MOST_BARS)
    data.findings = [{"level": finding.level, "text": finding.text.in_(language)} for finding in report.findings]
    data.samples = samples(report)
    if table is not None:
        data.columns = list(table.examples)
        data.image_column = chosen.pick.image or table.image
        data.target_column = chosen.pick.target or table.target
        data.task = report.dataset.task
    return data


def sides_of(looked: Looked) -> Split | None:
    """Split the images into training and validation; None where they cannot be trained on."""
    if not looked.report.can_train:
        return None
    try:
        return split(looked.report.dataset)
    except DataError:
        return None


def _summary(report: DataReport, sides: Split, language: Language) -> str:
    dataset = report.dataset
    counts = {"images": len(dataset), "train": len(sides.train), "validation": len(sides.validation)}
    if dataset.classes:
        return say("report_classes", language, classes=len(dataset.classes), **counts)
    return say("report_numbers", language, target=dataset.target_name, **counts)


def _number_bars(report: DataReport) -> list[Bar]:
    targets = report.dataset.targets
    if not len(targets):
        return []
    counts, edges = np.histogram(targets, min(BINS, max(1, len(np.unique(targets)))))
    ranges = [f"{low:.3g} – {high:.3g}" for low, high in itertools.pairwise(edges)]
    return [Bar(name=name, count=count) for name, count in zip(ranges, counts.tolist(), strict=True)]


def samples(report: DataReport) -> list[Sample]:
    """Return the first image of each of the first classes, or images from the smallest target to the largest."""
    dataset = report.dataset
    targets = dataset.targets
    if dataset.classes:
        first = [int(np.argmax(targets == target)) for target in np.unique(targets)]
    else:
        order = np.argsort(targets, kind="stable")
        first = order[np.unique(np.linspace(0, len(order) - 1, SAMPLES).astype(int))].tolist() if len(order) else []
    examples = []
    for index in first[:SAMPLES]:
        target = dataset.items[index].target
        label = dataset.classes[int(target)] if dataset.classes else f"{target:.4g}"
        try:
            shrunk = open_shrunk(dataset.path(index), SIDE, max_megapixels=settings().max_megapixels)
        except ImageError:  # deleted since the report was made
            continue
        examples.append(Sample(image=image_file(shrunk.pixels), label=label))
    return examples
