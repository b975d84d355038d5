"""Store of the page's surveys: a folder each, with the request and the answers.

runs/survey-<id>/page.json      the request, see `Asked`
runs/survey-<id>/answers/       the survey itself, which `vx.open_survey` opens, and the claim of its process
runs/survey-<id>/worker.log     output of that process
runs/<name>/survey.json         a survey of the command line or of a script, on a person's own machine
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from vitexplorer.core.text import ExplainedError, Text
from vitexplorer.service.surveys.words import SURVEY_WORDS
from vitexplorer.service.user_storage import ANSWERS, ASKED, SURVEY, UserStorage
from vitexplorer.storage.atomic_writes import DiskFullError, explain_full_disk
from vitexplorer.storage.checked_reading import NOTHING, Amount, BrokenFileError
from vitexplorer.storage.claims import worker_of
from vitexplorer.storage.record_file import RecordFile

CARD = "survey.json"
"""File in the folder of every survey"""
_log = logging.getLogger(__name__)
_NAME = re.compile(r"[A-Za-z0-9_=+][\w.=+-]{0,150}")


@dataclass(frozen=True)
class Asked:
    """Request for a survey."""

    title: str
    """Display name of the images; empty for the drawn scenes"""
    source: str
    """The folder or table"""
    model: str
    """Name in the page's address, as are the next three"""
    weights: str
    fit: str
    size: str
    questions: tuple[str, ...]
    """Keys; empty: all that the model can answer"""
    begun: Amount
    """Seconds since 1970"""
    is_made_again: bool = False
    """True if the page's own file was damaged and the request was restored from the survey"""


PAGE = RecordFile(ASKED, Asked, NOTHING, indent=1)


@dataclass(frozen=True)
class StoredSurvey:
    """A survey in its folder."""

    folder: Path
    asked: Asked | None
    """None where the page did not start it"""

    @property
    def name(self) -> str:
        """Name in the address."""
        return self.folder.name

    @property
    def answers(self) -> Path:
        """Folder that `vx.open_survey` opens."""
        return self.folder / ANSWERS if self.asked else self.folder

    @property
    def begun(self) -> float:
        """Seconds since 1970."""
        return self.asked.begun if self.asked else (self.folder / CARD).stat().st_mtime

    @property
    def title(self) -> Text:
        """Display name."""
        if self.asked is None:
            return Text(self.name, self.name)
        return Text(self.asked.title, self.asked.title) if self.asked.title else SURVEY_WORDS["survey_scenes"]

    @property
    def is_running(self) -> bool:
        """True while a process works on it."""
        return worker_of(self.answers) is not None

    @property
    def resumes(self) -> bool:
        """True if the page can resume it, since it knows the images."""
        return self.asked is not None and bool(self.asked.source)

    @property
    def picture_key(self) -> str:
        """Key in the URLs of its pictures; it cannot be guessed without knowing the folder."""
        return _picture_key(self.folder)


def stored_survey(folder: Path) -> StoredSurvey | None:
    """Read the survey of a folder; None where there is none."""
    try:
        asked = PAGE.read(folder)
    except BrokenFileError:
        asked = None
    if asked is None and _is_of_page(folder):
        asked = _asked_again(folder)
    return StoredSurvey(folder, asked) if asked or (folder / CARD).is_file() else None


def _existing(folder: Path | None) -> StoredSurvey:
    """Read the survey of a folder; ExplainedError where there is none."""
    survey = stored_survey(folder) if folder else None
    if survey is None:
        raise ExplainedError(SURVEY_WORDS["survey_gone"])
    return survey


def _is_of_page(folder: Path) -> bool:
    """Return True where the page started the folder's survey, also if its file there is damaged or gone."""
    return PAGE.is_in(folder) or (folder / ANSWERS / CARD).is_file()


def _asked_again(folder: Path) -> Asked:
    """Restore a damaged request from the survey's card and write it again.

    Without a card the request has no source, and the survey can only be deleted.
    """
    from vitexplorer.survey.card import read_card

    try:
        card = read_card(folder / ANSWERS)
    except ExplainedError:
        return Asked(folder.name, "", "", "", "crop", "", (), folder.stat().st_mtime, True)
    source = Path(card.source)
    asked = Asked(
        source.name,
        card.source,
        card.model,
        "random" if card.weights == "random" else "trained",
        card.fit,
        "x".join(map(str, card.size)) if card.resized else "",
        tuple(card.questions),
        card.begun.timestamp(),
        True,
    )
    _log.warning("%s (%s)", SURVEY_WORDS["survey_page_again"].en, folder)
    with suppress(OSError, DiskFullError):
        if (folder / ASKED).is_dir():
            (folder / ASKED).rename(folder / f"{ASKED}.{secrets.token_hex(4)}")
        PAGE.write(folder, asked)
    return asked


def survey_of(places: UserStorage, visitor: str, name: str) -> StoredSurvey:
    """Find a visitor's survey by its name; ExplainedError where there is none."""
    return _existing(places.of(visitor) / name if _NAME.fullmatch(name) else None)


def surveys_of(places: UserStorage, visitor: str) -> tuple[StoredSurvey, ...]:
    """List a visitor's surveys, newest first."""
    surveys = filter(None, map(stored_survey, _folders(places.of(visitor))))
    return tuple(sorted(surveys, key=lambda survey: -survey.begun))


def survey_of_pictures(places: UserStorage, picture_key: str) -> StoredSurvey:
    """Find the survey of a picture key, of any visitor; ExplainedError where there is none."""
    folders = (folder for own in places.everywhere() for folder in own.glob("*"))
    return _existing(next((folder for folder in folders if _picture_key(folder) == picture_key), None))


def running(places: UserStorage) -> tuple[StoredSurvey, ...]:
    """List the surveys that run, of all visitors."""
    surveys = (stored_survey(folder) for own in places.everywhere() for folder in _folders(own))
    return tuple(survey for survey in surveys if survey and survey.is_running)


def new_survey(places: UserStorage, visitor: str, asked: Asked) -> StoredSurvey:
    """Make a folder for a survey and write the request into it; DiskFullError where there is no room."""
    folder = places.of(visitor) / f"{SURVEY}{secrets.token_hex(8)}"
    with explain_full_disk(places.root):
        folder.mkdir(parents=True)
        PAGE.write(folder, asked)
    return StoredSurvey(folder, asked)


def linked(places: UserStorage, visitor: str, folder: Path) -> StoredSurvey:
    """Link to a survey elsewhere on this machine, under a name of its own."""
    own = places.of(visitor)
    if folder.parent == own:
        return _existing(folder)
    link = own / f"{SURVEY}{hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]}"
    own.mkdir(parents=True, exist_ok=True)
    if not link.is_symlink():
        link.symlink_to(folder, target_is_directory=True)
    return _existing(link)


def delete(places: UserStorage, visitor: str, survey: StoredSurvey) -> None:
    """Remove a survey or a link to one, and uploaded images that no other uses; ExplainedError where it is running."""
    if survey.is_running:
        raise ExplainedError(SURVEY_WORDS["survey_runs"])
    if survey.folder.is_symlink():
        survey.folder.unlink()
        return
    sent = Path(survey.asked.source).parent if survey.asked else None
    shutil.rmtree(survey.folder, ignore_errors=True)
    own = places.of(visitor)
    if sent and sent.parent == own and sent.name.startswith("data-") and sent.name not in places.data_in_use(own):
        shutil.rmtree(sent, ignore_errors=True)


def _picture_key(folder: Path) -> str:
    return hashlib.sha256(os.fsencode(folder)).hexdigest()[:32]


def _folders(own: Path) -> Iterator[Path]:
    return (path for path in own.glob("*") if _is_of_page(path) or (path / CARD).exists())
