"""Images of a job: inspected and split at its start, compared with that split when it resumes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from vitexplorer.core.text import Progress, Text
from vitexplorer.finetune.data import DataError, Dataset, Pick, Split, inspect, read_data, split
from vitexplorer.finetune.job.events import EventLog
from vitexplorer.finetune.job.folder import SPLIT, Sides
from vitexplorer.finetune.job.plan import JobConfig

_UNPACKED = "data"


def read_material(config: JobConfig, folder: Path, log: EventLog, progress: Progress) -> tuple[Dataset, Split]:
    """Read the usable images and their split; inspect and log them the first time, compare them later.

    Raises:
        DataError: the images cannot be read, cannot be trained on, or are not the ones the job began with.
        BrokenFileError: the file of the split is damaged.
    """
    begun = SPLIT.read(folder)
    pick = Pick(config.image_column, config.target_column, config.task)
    dataset = read_data(config.data, folder / _UNPACKED, pick)
    if begun is not None:
        return _as_begun(dataset, begun)
    report = inspect(dataset, progress=progress)
    if not report.can_train:
        raise DataError(report.findings[0].text)
    sides = split(report.dataset, config.plan.seed, config.plan.validation)
    train, validation = (tuple(report.dataset.items[i] for i in side) for side in (sides.train, sides.validation))
    facts = {name: getattr(report.dataset, name) for name in ("digest", "task", "classes", "target_name")}
    SPLIT.write(folder, Sides(**facts, seed=sides.seed, share=sides.share, train=train, validation=validation))
    log.tell(
        "data",
        images=len(report.dataset),
        train=len(sides.train),
        validation=len(sides.validation),
        task=report.dataset.task,
        classes=report.dataset.classes,
        target_name=report.dataset.target_name,
        counts=report.dataset.counts,
        findings=[[finding.level, *finding.text] for finding in report.findings],
    )
    return report.dataset, sides


def images_root(config: JobConfig, folder: Path) -> Path:
    """Return the folder that the image paths of a job are relative to."""
    data = Path(config.data)
    return folder / _UNPACKED if data.suffix.lower() == ".zip" else data.parent if data.is_file() else data


def _as_begun(dataset: Dataset, begun: Sides) -> tuple[Dataset, Split]:
    """Reduce the dataset to the images of the split. Raises DataError if one is missing or changed."""
    train, validation = ({item.path for item in side} for side in (begun.train, begun.validation))
    used = [i for i, item in enumerate(dataset.items) if item.path in train or item.path in validation]
    dataset = replace(dataset.only(used), findings=())
    if dataset.digest != begun.digest:
        raise DataError(
            Text(
                "The images have changed since this job began: some are missing, moved or relabelled. Start a new job.",
                "任务开始之后图像有了变化：有些缺失、被移动或改了标签。请新建任务。",
            )
        )
    sides = ([i for i, item in enumerate(dataset.items) if item.path in side] for side in (train, validation))
    return dataset, Split(*map(tuple, sides), begun.seed, begun.share)
