"""Images that a visitor chose to train on: their folder, the picked columns, the findings."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from pathlib import Path

from vitexplorer.core.cache import BytesCache
from vitexplorer.core.settings import settings
from vitexplorer.core.text import Language, Progress, Text, same
from vitexplorer.finetune.data import (
    Columns,
    DataError,
    DataReport,
    Pick,
    example_folder,
    folder_columns,
    inspect,
    read_folder,
    read_zip,
)
from vitexplorer.finetune.data.fresh_folder import fresh_folder
from vitexplorer.finetune.job.folder import images_of
from vitexplorer.finetune.job.plan import JobConfig
from vitexplorer.service.storage_limits import new_images
from vitexplorer.service.teaching.boxes import Boxes, class_files
from vitexplorer.service.teaching.words import TEACH_WORDS
from vitexplorer.service.user_storage import UserStorage
from vitexplorer.service.words import SERVICE_WORDS

SCENES = 20
"""Drawn scenes of each class in the example"""
_BYTES_OF_AN_ITEM = 400
_CACHE_BYTES = 128 << 20


@dataclass(frozen=True)
class Chosen:
    """A session's choice of images."""

    folder: str
    title: Text = field(compare=False)
    pick: Pick = Pick()
    expect: Text | None = field(default=None, compare=False)
    """The expected outcome of a comparison on them, where it is known"""


@dataclass(frozen=True)
class Looked:
    """The report on chosen images."""

    report: DataReport
    columns: Columns | None
    """Columns of the table; None for class folders"""


_looked = BytesCache[Chosen, Looked](_CACHE_BYTES, lambda looked: len(looked.report.dataset) * _BYTES_OF_AN_ITEM)


def look(chosen: Chosen, progress: Progress | None = None) -> Looked:
    """Inspect chosen images, or return the cached report; DataError or UnknownNameError for unusable ones."""
    looked = _looked.get(chosen)
    if looked is None:
        report = inspect(read_folder(chosen.folder, chosen.pick), progress=progress)
        looked = Looked(report, folder_columns(chosen.folder))
        _looked.put(chosen, looked)
    return looked


def unpack(places: UserStorage, visitor: str, path: str, progress: Progress) -> Chosen:
    """Unpack images from a zip; DataError, and nothing is kept, for a bad one, JobError where the disk is full."""
    name = Path(path).stem
    with new_images(places, visitor, name) as into:
        read_zip(path, into, progress=progress)
    return Chosen(str(into), same(name))


def copy_taught(places: UserStorage, visitor: str, language: Language) -> Chosen:
    """Copy the visitor's teaching pictures into class folders; DataError, or JobError where the disk is full."""
    with new_images(places, visitor, "taught") as into, fresh_folder(into) as folder:
        for path, name in class_files(Boxes(places.taught(visitor)).read(), language):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, folder / name)
    return Chosen(str(into), TEACH_WORDS["teach_data"])


def draw(places: UserStorage, visitor: str) -> Chosen:
    """Draw the example scenes; DataError, or JobError where the disk is full."""
    with new_images(places, visitor, "scenes") as into:
        example_folder(into, SCENES)
    return Chosen(str(into), SERVICE_WORDS["data_scenes"].format(count=SCENES), expect=SERVICE_WORDS["data_expect"])


def of_training(config: JobConfig) -> Chosen | None:
    """Find a training's images; None where they are gone, and for a zip or table of the command line."""
    if not Path(config.data).is_dir():
        return None
    return Chosen(config.data, same(images_of(config)), Pick(config.image_column, config.target_column, config.task))


def point_at(places: UserStorage, path: str) -> Chosen:
    """Choose a folder on this machine; DataError where there is none, or where visitors may not name one."""
    if settings().hosted or places.hosted:
        raise DataError(SERVICE_WORDS["data_hosted"])
    folder = Path(path.strip()).expanduser()
    if not path.strip() or not folder.is_dir():
        raise DataError(SERVICE_WORDS["data_no_folder"].format(path=path.strip()))
    return Chosen(str(folder.absolute()), same(folder.name))
