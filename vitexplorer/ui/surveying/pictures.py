"""The pictures of a survey: small ones for the gallery, made when somebody looks, and whole ones for every room."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from vitexplorer.cache import BytesCache
from vitexplorer.settings import settings
from vitexplorer.ui.places import Places
from vitexplorer.ui.surveying.kept import survey_behind
from vitexplorer.ui.surveying.opened import opened
from vitexplorer.ui.surveying.words import SURVEY_WORDS
from vitexplorer.ui.training.boxes import as_jpeg
from vitexplorer.words import ExplainedError

if TYPE_CHECKING:
    from vitexplorer.survey.opened import Survey

SIDE = 160
"""pixels of the longer side"""
_small: BytesCache[tuple[str, str], bytes] = BytesCache(32 << 20, len)


def small_picture(places: Places, door: str, path: str) -> bytes:
    """A JPEG of an image of a survey. Raises ExplainedError where there is none."""
    found = _small.get((door, path))
    if found is None:
        from vitexplorer.models.images import open_shrunk

        file = file_of(places, opened(survey_behind(places, door)), path)
        found = as_jpeg(open_shrunk(file, SIDE, max_megapixels=settings().max_megapixels).pixels, SIDE, 82)
        _small.put((door, path), found)
    return found


def file_of(places: Places, survey: Survey, path: str) -> Path:
    """Where an image of a survey lies. Raises ExplainedError for what is no row of it, or lies where none may be."""
    from vitexplorer.survey.answers import count
    from vitexplorer.survey.conditions import Equals

    root = Path(survey.card.root).resolve()
    file = (root / path).resolve()
    is_open = not (settings().hosted or places.hosted) or file.is_relative_to(root)
    if not is_open or not file.is_file() or not count(survey, (Equals("path", path),)):
        raise ExplainedError(SURVEY_WORDS["gallery_lost"])
    return file
