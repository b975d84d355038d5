"""The surveys of a visitor: which there are, what each was asked for, and the folder that its answers lie in.

runs/survey-<id>/page.json      what was asked, see `Asked`
runs/survey-<id>/answers/       the survey itself, what `vx.open_survey` opens, and who works on it
runs/survey-<id>/worker.log     what that process said, its last words where it ended
runs/<name>/survey.json         a survey of the command line or of a script, on a person's own machine
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import secrets
import shutil
import time
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
"""in the folder of every survey"""
_log = logging.getLogger(__name__)
_NAME = re.compile(r"[A-Za-z0-9_=+][\w.=+-]{0,150}")


@dataclass(frozen=True)
class Asked:
    """What a survey of the page was asked for."""

    title: str
    """what people call the images; empty for the drawn scenes"""
    source: str
    """the folder or table"""
    model: str
    """as an address has it, as all that follows"""
    weights: str
    fit: str
    size: str
    questions: tuple[str, ...]
    """keys; none: all that the model can be asked"""
    begun: Amount
    """seconds since 1970"""
    is_made_again: bool = False
    """whether that was taken from the survey itself, for what the page had written was damaged"""


PAGE = RecordFile(ASKED, Asked, NOTHING, indent=1)


@dataclass(frozen=True)
class StoredSurvey:
    """One of them."""

    folder: Path
    asked: Asked | None
    """None where the page did not begin it"""

    @property
    def name(self) -> str:
        """In the address."""
        return self.folder.name

    @property
    def answers(self) -> Path:
        """What `vx.open_survey` opens."""
        return self.folder / ANSWERS if self.asked else self.folder

    @property
    def begun(self) -> float:
        """Seconds since 1970."""
        return self.asked.begun if self.asked else (self.folder / CARD).stat().st_mtime

    @property
    def title(self) -> Text:
        """What people call it."""
        if self.asked is None:
            return Text(self.name, self.name)
        return Text(self.asked.title, self.asked.title) if self.asked.title else SURVEY_WORDS["survey_scenes"]

    @property
    def is_running(self) -> bool:
        """Whether a process works on it."""
        return worker_of(self.answers) is not None

    @property
    def resumes(self) -> bool:
        """Whether the page can go on with it: it knows the images."""
        return self.asked is not None and bool(self.asked.source)

    @property
    def picture_key(self) -> str:
        """The name under which its pictures are served: nobody can guess one whose folder they do not know."""
        return _picture_key(self.folder)


def gone() -> ExplainedError:
    """There is no such survey."""
    return ExplainedError(SURVEY_WORDS["survey_gone"])


def stored_survey(folder: Path) -> StoredSurvey | None:
    """The survey of a folder; None where it has none."""
    try:
        asked = PAGE.read(folder)
    except BrokenFileError:
        asked = None
    if asked is None and _is_of_page(folder):
        asked = _asked_again(folder)
    return StoredSurvey(folder, asked) if asked or (folder / CARD).is_file() else None


def _is_of_page(folder: Path) -> bool:
    """Whether the page began the survey of a folder, also where what it had written there is damaged or gone."""
    return PAGE.is_in(folder) or (folder / ANSWERS / CARD).is_file()


def _asked_again(folder: Path) -> Asked:
    """What a survey was asked for, from its own card, put in the place of what was damaged.

    Where there is no card yet it can only be deleted: no source.
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
    """A visitor's survey by its name. Raises ExplainedError where there is none."""
    found = stored_survey(places.of(visitor) / name) if _NAME.fullmatch(name) else None
    if found is None:
        raise gone()
    return found


def surveys_of(places: UserStorage, visitor: str) -> tuple[StoredSurvey, ...]:
    """A visitor's surveys, newest first."""
    found = filter(None, map(stored_survey, _folders(places.of(visitor))))
    return tuple(sorted(found, key=lambda one: -one.begun))


def survey_of_pictures(places: UserStorage, picture_key: str) -> StoredSurvey:
    """The survey whose pictures are asked for, of whomever. Raises ExplainedError where there is none."""
    folders = (folder for own in places.everywhere() for folder in own.glob("*"))
    found = next((folder for folder in folders if _picture_key(folder) == picture_key), None)
    return (stored_survey(found) if found else None) or _gone()


def running(places: UserStorage) -> tuple[StoredSurvey, ...]:
    """Surveys that processes work on, of everybody."""
    kept = (stored_survey(folder) for own in places.everywhere() for folder in _folders(own))
    return tuple(one for one in kept if one and one.is_running)


def new_survey(places: UserStorage, visitor: str, asked: Asked) -> StoredSurvey:
    """A folder for a survey, with what it is asked. Raises DiskFullError."""
    folder = places.of(visitor) / f"{SURVEY}{secrets.token_hex(8)}"
    with explain_full_disk(places.root):
        folder.mkdir(parents=True)
        PAGE.write(folder, asked)
    return StoredSurvey(folder, asked)


def linked(places: UserStorage, visitor: str, folder: Path) -> StoredSurvey:
    """A survey that lies elsewhere on this machine, found again under a name of its own."""
    own = places.of(visitor)
    if folder.parent == own:
        return stored_survey(folder) or _gone()
    link = own / f"{SURVEY}{hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]}"
    own.mkdir(parents=True, exist_ok=True)
    if not link.is_symlink():
        link.symlink_to(folder, target_is_directory=True)
    return stored_survey(link) or _gone()


def _gone() -> StoredSurvey:
    raise gone()


def delete(places: UserStorage, visitor: str, survey: StoredSurvey) -> None:
    """Remove a survey; of one that lies elsewhere the link alone, and images that were sent for it with the last one.

    Raises ExplainedError while it runs.
    """
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


def now() -> float:
    """Seconds since 1970."""
    return time.time()


def _picture_key(folder: Path) -> str:
    return hashlib.sha256(os.fsencode(folder)).hexdigest()[:32]


def _folders(own: Path) -> Iterator[Path]:
    return (path for path in own.glob("*") if _is_of_page(path) or (path / CARD).exists())
