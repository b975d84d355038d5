"""Where trainings, the images they are given and uploaded models lie, and who may see which.

On a person's own machine all trainings lie side by side and everybody who opens the page sees them, also those that
the command line made. On a hosted page each visitor has a folder under a name that only their browser knows.

    runs/<training>/            runs/<visitor>/<training>/
    runs/data-<id>/<name>/      runs/<visitor>/data-<id>/<name>/
    runs/data-taught-<id>/      runs/<visitor>/data-taught-<id>/
    runs/files-<id>/<name>      runs/<visitor>/files-<id>/<name>
    runs/survey-<id>/           runs/<visitor>/survey-<id>/

A file of a model that a person opened is such a `<name>`; so is a folder, and on a person's own machine a link to
either where it was not sent but named. What may be of several architectures lies below `unsure/` until one is chosen.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from vitexplorer.core.settings import Settings
from vitexplorer.core.text import ExplainedError
from vitexplorer.finetune.job import detached
from vitexplorer.finetune.job.folder import CONFIG, TUNED, images_of, read_config, run_folder, stem_of
from vitexplorer.finetune.job.plan import JobConfig
from vitexplorer.finetune.job.state import JobState, job_state, list_jobs
from vitexplorer.models.catalog import is_convolutional
from vitexplorer.service.words import SERVICE_WORDS
from vitexplorer.storage.atomic_writes import explain_full_disk, replace_copy
from vitexplorer.storage.claims import CLAIM, JobError, alone, worker_of

MODEL = "tuned."
"""what the name of a tuned model begins with in the menu and the address"""
_VISITOR = re.compile("[0-9a-f]{32}")
_TRAINING = re.compile(r"[A-Za-z0-9_=+][A-Za-z0-9_.=+-]{0,150}")
_DATA, _FILES, _UNSURE = "data-", "files-", "unsure"
_UNFINISHED = ".part"
SURVEY, ASKED, ANSWERS = "survey-", "page.json", "answers"
"""what the folder of a survey is called, the file in it that says what was asked, and the survey itself"""
UNUSED_SECONDS = 24 * 3600
"""after which images that were sent, and that no training was made of, are removed"""


def path_in_script(path: Path) -> str:
    """How a script that is started where the page was names a file."""
    here = Path.cwd()
    return (path.relative_to(here) if path.is_relative_to(here) else path).as_posix()


@dataclass(frozen=True)
class TunedChoice:
    """A tuned model that a visitor may choose."""

    name: str
    """as an address has it"""
    label: str
    """method, images and base model; or the file's name"""
    sent: bool = False
    """whether it was opened from a file, and not trained here"""


@dataclass(frozen=True)
class UserStorage:
    """The folder of all trainings."""

    root: Path
    hosted: bool

    @classmethod
    def of_settings(cls, settings: Settings) -> UserStorage:
        """As the installation says."""
        return cls(Path(settings.runs_folder).expanduser().absolute(), settings.hosted)

    def of(self, visitor: str) -> Path:
        """The folder of a visitor. Raises JobError for a name that no browser of ours would send."""
        if not self.hosted:
            return self.root
        if not _VISITOR.fullmatch(visitor):
            raise JobError(SERVICE_WORDS["runs_gone"])
        return self.root / visitor

    def new_training(self, visitor: str) -> Path:
        """A folder for a training, not made yet, under a name that nobody can guess."""
        return self.of(visitor) / secrets.token_hex(16)

    def new_data(self, visitor: str, name: str) -> Path:
        """A folder for images, not made yet; its last part is `name`, made safe. Old unused ones make room for it."""
        self.sweep()
        return self.of(visitor) / f"{_DATA}{secrets.token_hex(8)}" / safe_name(name)

    def taught(self, visitor: str) -> Path:
        """The folder of the pictures that a visitor teaches with; at one machine, too, each browser has its own."""
        return self.of(visitor) / f"{_DATA}taught-{hashlib.sha256(visitor.encode()).hexdigest()[:32]}"

    def training(self, visitor: str, run: str) -> Path:
        """The folder of a visitor's training. Raises JobError where there is none of that name."""
        if not _TRAINING.fullmatch(run) or not CONFIG.is_in(self.of(visitor) / run):
            raise JobError(SERVICE_WORDS["runs_gone"])
        return self.of(visitor) / run

    def trainings(self, visitor: str) -> tuple[JobState, ...]:
        """A visitor's trainings, newest first, broken ones among them."""
        return list_jobs(self.of(visitor))

    def running(self) -> int:
        """How many trainings run, whoever began them."""
        claims = (claim for folder in self.everywhere() for claim in folder.glob(f"*/{CLAIM.name}"))
        return sum(CONFIG.is_in(claim.parent) and worker_of(claim.parent) is not None for claim in claims)

    @contextmanager
    def room_for_one(self, most: int) -> Iterator[None]:
        """What is started within the context is counted before any other server on this folder counts.

        Raises JobError where `most` trainings run.
        """
        with alone(self.root):
            if self.running() >= most:
                raise JobError(SERVICE_WORDS["runs_too_many"].format(most=most))
            yield

    def everywhere(self) -> Iterator[Path]:
        """The folder of everybody at this machine, and that of each visitor of a hosted page."""
        yield self.root
        yield from (path for path in self.root.glob("*") if _VISITOR.fullmatch(path.name))

    def delete(self, visitor: str, run: str) -> None:
        """Remove a training and, where no other one uses them, the images that were sent for it. Raises JobError."""
        folder = self.training(visitor, run)
        config = job_state(folder).config
        detached.delete(folder)
        if config is None:  # its images are swept when they have not been used for a while
            return
        data = Path(config.data)
        sent = data.parent.parent == self.of(visitor) and data.parent.name.startswith(_DATA)
        if sent and data.parent.name not in self.data_in_use(self.of(visitor)):
            shutil.rmtree(data.parent)

    def sweep(self) -> None:
        """Remove images that were sent long ago and that no training was made of, of all visitors."""
        last = time.time() - UNUSED_SECONDS
        for own in self.everywhere():
            old = [folder for folder in own.glob(f"{_DATA}*") if folder.stat().st_mtime < last]
            used = self.data_in_use(own) if old else set()
            for folder in old:
                if folder.name not in used:
                    shutil.rmtree(folder, ignore_errors=True)

    def data_in_use(self, own: Path) -> set[str]:
        """Names of the folders of images, in that of a visitor, which their trainings and surveys were made of."""
        return {data.parent.name for data in (*_data_of(list_jobs(own)), *_surveyed(own))}

    # -------------------------------------------------------------------------------------- tuned models

    def keep_file(self, visitor: str, path: Path, *, sure: bool = True) -> Path:
        """A copy of a model's file or folder that was sent, where it can be found again; the same one is kept once.

        Args:
            visitor: whose it is.
            path: of the file or folder.
            sure: whether its architecture is known; otherwise no menu lists it.
        """
        folder = self.of(visitor) / f"{_FILES}{_digest(path)}" / ("" if sure else _UNSURE)
        kept = folder / (safe_name(path.stem) + path.suffix.lower())
        with explain_full_disk(self.root):
            folder.mkdir(parents=True, exist_ok=True)
        if not path.is_dir():
            replace_copy(kept, path)
            return kept
        unfinished = folder / f"{secrets.token_hex(8)}{_UNFINISHED}"
        try:
            with explain_full_disk(self.root):
                shutil.copytree(path, unfinished)
                shutil.rmtree(kept, ignore_errors=True)
                unfinished.replace(kept)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
        return kept

    def link_file(self, visitor: str, path: Path, *, sure: bool = True) -> Path:
        """The same for a file or folder of this machine, which stays where it is; a copy where there are no links."""
        path = path.absolute()
        own = hashlib.sha256(os.fsencode(path)).hexdigest()[:32]
        folder = self.of(visitor) / f"{_FILES}{own}" / ("" if sure else _UNSURE)
        link = folder / (safe_name(path.stem) + path.suffix.lower())
        folder.mkdir(parents=True, exist_ok=True)
        try:
            link.unlink(missing_ok=True)
            link.symlink_to(path)
        except OSError:  # Windows lets few make one
            return self.keep_file(visitor, path, sure=sure)
        return link

    def forget_file(self, visitor: str, file: Path) -> None:
        """Remove a file that a visitor opened; what a link leads to stays."""
        shutil.rmtree(next(folder for folder in file.parents if folder.parent == self.of(visitor)), ignore_errors=True)

    def is_of(self, visitor: str, file: Path) -> bool:
        """Whether a visitor opened this file themselves."""
        return is_sent(file) and file.is_relative_to(self.of(visitor))

    def name_of(self, file: Path) -> str:
        """The name that a tuned model's file has in the menu: nobody can guess one whose folder they do not know."""
        return MODEL + hashlib.sha256(os.fsencode(file.relative_to(self.root).as_posix())).hexdigest()[:32]

    def file_of(self, name: str) -> Path | None:
        """The file of a tuned model by its name; None where it is not there, or no longer."""
        if not name.startswith(MODEL):
            return None
        places = (f"*/runs/*/{TUNED}", f"{_FILES}*/*", f"{_FILES}*/{_UNSURE}/*")
        files = (file for depth in ("", "*/") for place in places for file in self.root.glob(f"{depth}{place}"))
        return next((file for file in files if file.exists() and self.name_of(file) == name), None)

    def tuned(self, visitor: str) -> Iterator[TunedChoice]:
        """The tuned models of a visitor that the rooms can show, the newest training first, then uploaded files."""
        trained = (
            run_folder(job.folder, run.key) / TUNED
            for job in self.trainings(visitor)
            if job.config and not is_convolutional(job.config.model)
            for run in job.runs
            if run.has_result
        )
        for file in (*trained, *sorted(self.of(visitor).glob(f"{_FILES}*/*"))):
            if file.exists() and file.suffix != _UNFINISHED and file.name != _UNSURE:
                yield TunedChoice(self.name_of(file), _title(file), is_sent(file))

    def title_of(self, name: str) -> str:
        """What people call a model: a tuned one by method, images and base model, or by its file; others by name."""
        file = self.file_of(name)
        return name if file is None else _title(file)

    def path_of(self, file: Path) -> str:
        """How a script names a tuned model's file: where it lies, or on a hosted page as it is when taken home."""
        if not self.hosted:
            return path_in_script(file.resolve() if file.is_symlink() else file)
        if is_sent(file):
            return file.name
        return stem_of(_config(file), file.parent.name) + ".safetensors"


def _data_of(jobs: Iterable[JobState]) -> set[Path]:
    """The images that trainings were made of."""
    return {Path(job.config.data) for job in jobs if job.config}


def _surveyed(own: Path) -> Iterator[Path]:
    """The images that the page's surveys were made of."""
    for survey in own.glob(f"{SURVEY}*"):
        for file in (ASKED, f"{ANSWERS}/survey.json"):  # the one where the other is damaged, the same where neither is
            with suppress(OSError, ValueError, KeyError, TypeError):
                yield Path(json.loads((survey / file).read_bytes())["source"])


def is_sent(file: Path) -> bool:
    """Whether a model's file was opened by a person; the others lie in their trainings."""
    return any(folder.name.startswith(_FILES) for folder in file.parents[:2])


def _digest(path: Path) -> str:
    """Of a file's content, or of the names and contents in a folder."""
    total = hashlib.sha256()
    for part in sorted(path.iterdir()) if path.is_dir() else [path]:
        with part.open("rb") as content:
            found = hashlib.file_digest(content, "sha256").digest()
        total.update(os.fsencode(part.name) + found if path.is_dir() else found)
    return total.hexdigest()[:32]


def _config(file: Path) -> JobConfig:
    """Of the training that a tuned model's file lies in."""
    return read_config(file.parents[2])


def _title(file: Path) -> str:
    if is_sent(file):
        return file.name
    run = file.parent.name
    try:
        config = _config(file)
    except ExplainedError:  # what the training was of is lost; what it learned is not
        return run
    return f"{run} · {images_of(config)} · {config.model}"


def safe_name(name: str) -> str:
    """A person's name for something as the name of a file."""
    return re.sub(r"[^\w.+-]+", "_", name).strip("._")[:60] or "images"
