"""Sources of a survey: drawn scenes, an uploaded zip, a folder or table of this machine."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from vitexplorer.core.settings import settings
from vitexplorer.core.text import ExplainedError, Progress
from vitexplorer.finetune.data import DataError, example_folder
from vitexplorer.finetune.data.archive import unpack_zip
from vitexplorer.service.storage_limits import new_images
from vitexplorer.service.surveys.store import CARD
from vitexplorer.service.surveys.words import SURVEY_WORDS
from vitexplorer.service.user_storage import UserStorage
from vitexplorer.storage.image_files import list_files

SCENES = 25
"""Drawn scenes of each class in the example"""


@dataclass(frozen=True)
class Source:
    """Images that a survey can be made of."""

    path: Path
    title: str
    """Display name; empty for the drawn scenes"""
    images: int | None = None
    """Number of images; None for a table, which is read when the survey begins"""
    folders: int = 0
    """Number of subfolders of the first level"""


def drawn(places: UserStorage, visitor: str) -> Source:
    """Draw example scenes; ExplainedError where the disk is full."""
    with new_images(places, visitor, "scenes") as into:
        example_folder(into, SCENES)
        return _folder(into, "")


def sent(places: UserStorage, visitor: str, zipped: Path, name: str, progress: Progress | None = None) -> Source:
    """Unpack the images of a zip; ExplainedError, and nothing is kept, for one that is refused."""
    with new_images(places, visitor, name) as into:
        unpack_zip(zipped, into, progress=progress)
        return _folder(into, name)


def sent_before(places: UserStorage, visitor: str, data: str) -> Source:
    """Find the images of an earlier zip by the name of `sent_as`; ExplainedError where they are gone."""
    own = places.of(visitor)
    found = [path for path in own.glob("data-*/*") if path.is_dir() and sent_as(path) == data]
    if not found:
        raise ExplainedError(SURVEY_WORDS["survey_no_data"])
    return _folder(found[0], found[0].name)


def sent_as(path: Path) -> str:
    """Name uploaded images for the browser that sent them."""
    return path.parent.name


def of_this_machine(places: UserStorage, path: str) -> Source:
    """Choose a folder or a table of paths; ExplainedError where there is none, or where visitors may not name one."""
    if settings().hosted or places.hosted:
        raise DataError(SURVEY_WORDS["survey_hosted"])
    whole = Path(path.strip().strip("\"'")).expanduser().absolute()
    if path.strip() and whole.is_file():
        return Source(whole, whole.name)
    if not path.strip() or not whole.is_dir():
        raise DataError(SURVEY_WORDS["survey_no_folder"].format(path=path.strip()))
    return Source(whole, whole.name) if is_survey(whole) else _folder(whole, whole.name)


def is_survey(path: Path) -> bool:
    """Return True for the folder of a survey, rather than of images."""
    return (path / CARD).is_file()


def _folder(path: Path, title: str) -> Source:
    """Make a source of a folder; DataError where it holds no images, or too many."""
    images = list_files(path, "survey_images").images
    if not images:
        raise DataError(SURVEY_WORDS["survey_no_images"])
    return Source(path, title, len(images), len({name.split("/")[0] for name in images if "/" in name}))
