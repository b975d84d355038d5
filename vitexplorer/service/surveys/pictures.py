"""Pictures of a survey: thumbnails for the gallery, made on request, and originals for the other rooms."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from vitexplorer.core.cache import BytesCache
from vitexplorer.core.settings import settings
from vitexplorer.core.text import ExplainedError
from vitexplorer.service.surveys.open_surveys import latest
from vitexplorer.service.surveys.store import survey_of_pictures
from vitexplorer.service.surveys.words import SURVEY_WORDS
from vitexplorer.service.teaching.boxes import as_jpeg
from vitexplorer.service.user_storage import UserStorage

if TYPE_CHECKING:
    from vitexplorer.survey.opened import Survey

SIDE = 160
"""Pixels of the longer side"""
_small: BytesCache[tuple[str, int], bytes] = BytesCache(32 << 20, len)


def small_picture(places: UserStorage, picture_key: str, row: int) -> bytes:
    """Make a thumbnail of a survey's image as a JPEG; ExplainedError where there is none."""
    stored = survey_of_pictures(places, picture_key)
    thumbnail = _small.get((picture_key, row))
    if thumbnail is None:
        from vitexplorer.models.images import open_shrunk

        file = file_of(places, latest(stored), row)
        thumbnail = as_jpeg(open_shrunk(file, SIDE, max_megapixels=settings().max_megapixels).pixels, SIDE, 82)
        _small.put((picture_key, row), thumbnail)
    return thumbnail


def file_of(places: UserStorage, survey: Survey, row: int) -> Path:
    """Find the image file of a row; ExplainedError where there is none, or it may not be shown."""
    from vitexplorer.survey.manifest import read_manifest

    inside = survey.card.is_of_folder or settings().hosted or places.hosted
    try:
        shard, at = divmod(row, survey.card.rows_per_shard)
        file = read_manifest(survey.folder, shard)[at].place(Path(survey.card.root), inside=inside)
    except (ExplainedError, IndexError):
        raise ExplainedError(SURVEY_WORDS["gallery_lost"]) from None
    if not file.is_file():
        raise ExplainedError(SURVEY_WORDS["gallery_lost"])
    return file
