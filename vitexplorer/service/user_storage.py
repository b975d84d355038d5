"""User storage: folders of trainings, of their images and of uploaded models, and each visitor's access to them.

On a person's own machine all trainings lie side by side and every page shows them, also those that
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
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from vitexplorer.core.settings import Settings
from vitexplorer.core.text import ExplainedError
from vitexplorer.finetune.job import detached
from vitexplorer.finetune.job.folder import CONFIG, TUNED, images_of, read_config, run_folder, stem_of
from vitexplorer.finetune.job.state import JobState, job_state, list_jobs
from vitexplorer.models.catalog import is_convolutional
from vitexplorer.service.visitor_names import valid_visitor
from vitexplorer.service.words import SERVICE_WORDS
from vitexplorer.storage.atomic_writes import explain_full_disk, replace_copy
from vitexplorer.storage.claims import CLAIM, JobError, alone, worker_of

MODEL = "tuned."
"""Prefix of a tuned model's name in the menu and the address"""
_TRAINING = re.compile(r"[A-Za-z0-9_=+][A-Za-z0-9_.=+-]{0,150}")
_DATA, _FILES, _UNSURE = "data-", "files-", "unsure"
_UNFINISHED = ".part"
SURVEY = "survey-"
"""Prefix of a survey's folder"""
ASKED = "page.json"
"""File in it with the request"""
ANSWERS = "answers"
"""Folder in it with the survey itself"""
UNUSED_SECONDS = 24 * 3600
"""Age at which uploaded images that no training uses are removed"""


def path_in_script(path: Path) -> str:
    """Write a path as a script names it that runs in the page's working directory."""
    folder = Path.cwd()
    return (path.relative_to(folder) if path.is_relative_to(folder) else path).as_posix()


@dataclass(frozen=True)
class TunedChoice:
    """A tuned model that a visitor may choose."""

    name: str
    """Name in the address"""
    label: str
    """Method, images and base model; or the file's name"""
    sent: bool = False
    """True if it was opened from a file, and not trained here"""


@dataclass(frozen=True)
class UserStorage:
    """The folder of all trainings, with a subfolder for each visitor of a hosted page."""

    root: Path
    hosted: bool

    @classmethod
    def of_settings(cls, settings: Settings) -> UserStorage:
        """Make the storage that the settings name."""
        return cls(Path(settings.runs_folder).expanduser().absolute(), settings.hosted)

    def of(self, visitor: str) -> Path:
        """Return the folder of a visitor; JobError for an invalid name."""
        if not self.hosted:
            return self.root
        if not valid_visitor(visitor):
            raise JobError(SERVICE_WORDS["runs_gone"])
        return self.root / visitor

    def new_training(self, visitor: str) -> Path:
        """Name a folder for a training, not made yet, that nobody can guess."""
        return self.of(visitor) / secrets.token_hex(16)

    def new_data(self, visitor: str, name: str) -> Path:
        """Name a folder for images, not made yet, that ends with the safe `name`; remove old unused images."""
        self.sweep()
        return self.of(visitor) / f"{_DATA}{secrets.token_hex(8)}" / safe_name(name)

    def taught(self, visitor: str) -> Path:
        """Return the folder of a visitor's teaching pictures; each browser has its own on every machine."""
        return self.of(visitor) / f"{_DATA}taught-{hashlib.sha256(visitor.encode()).hexdigest()[:32]}"

    def training(self, visitor: str, run: str) -> Path:
        """Return the folder of a visitor's training; JobError where there is none of that name."""
        if not _TRAINING.fullmatch(run) or not CONFIG.is_in(self.of(visitor) / run):
            raise JobError(SERVICE_WORDS["runs_gone"])
        return self.of(visitor) / run

    def trainings(self, visitor: str) -> tuple[JobState, ...]:
        """List a visitor's trainings, newest first, damaged ones included."""
        return list_jobs(self.of(visitor))

    def running(self) -> int:
        """Count the trainings that run, of all visitors."""
        claims = (claim for folder in self.everywhere() for claim in folder.glob(f"*/{CLAIM.name}"))
        return sum(CONFIG.is_in(claim.parent) and worker_of(claim.parent) is not None for claim in claims)

    @contextmanager
    def room_for_one(self, most: int) -> Iterator[None]:
        """Reserve room for one training, also against other servers; JobError where `most` run already."""
        with alone(self.root):
            if self.running() >= most:
                raise JobError(SERVICE_WORDS["runs_too_many"].format(most=most))
            yield

    def everywhere(self) -> Iterator[Path]:
        """Yield the folder that all share, and that of each visitor of a hosted page."""
        yield self.root
        yield from (path for path in self.root.glob("*") if valid_visitor(path.name))

    def delete(self, visitor: str, run: str) -> None:
        """Remove a training, and its uploaded images if no other uses them; JobError where it is gone or runs."""
        folder = self.training(visitor, run)
        config = job_state(folder).config
        detached.delete(folder)
        if config is None:  # its images are unknown; `sweep` removes them later
            return
        data = Path(config.data)
        sent = data.parent.parent == self.of(visitor) and data.parent.name.startswith(_DATA)
        if sent and data.parent.name not in self.data_in_use(self.of(visitor)):
            shutil.rmtree(data.parent)

    def sweep(self) -> None:
        """Remove old uploaded images that no training uses, of all visitors."""
        last = time.time() - UNUSED_SECONDS
        for own in self.everywhere():
            old = [folder for folder in own.glob(f"{_DATA}*") if folder.stat().st_mtime < last]
            used = self.data_in_use(own) if old else set()
            for folder in old:
                if folder.name not in used:
                    shutil.rmtree(folder, ignore_errors=True)

    def data_in_use(self, own: Path) -> set[str]:
        """Name the folders of images, within a visitor's, that trainings and surveys use."""
        trained = (Path(job.config.data) for job in list_jobs(own) if job.config)
        return {data.parent.name for data in (*trained, *_surveyed(own))}

    # -------------------------------------------------------------------------------------- tuned models

    def keep_file(self, visitor: str, path: Path, *, sure: bool = True) -> Path:
        """Copy an uploaded model's file or folder into the visitor's folder; the same content is kept once.

        A file is not `sure` while its architecture is unknown; no menu lists it.
        """
        target = self._place(visitor, path, _digest(path), sure)
        folder = target.parent
        with explain_full_disk(self.root):
            folder.mkdir(parents=True, exist_ok=True)
        if not path.is_dir():
            replace_copy(target, path)
            return target
        unfinished = folder / f"{secrets.token_hex(8)}{_UNFINISHED}"
        try:
            with explain_full_disk(self.root):
                shutil.copytree(path, unfinished)
                shutil.rmtree(target, ignore_errors=True)
                unfinished.replace(target)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
        return target

    def link_file(self, visitor: str, path: Path, *, sure: bool = True) -> Path:
        """Link to a file or folder of this machine, which stays in place; copy it where links are impossible."""
        path = path.absolute()
        link = self._place(visitor, path, hashlib.sha256(os.fsencode(path)).hexdigest()[:32], sure)
        link.parent.mkdir(parents=True, exist_ok=True)
        try:
            link.unlink(missing_ok=True)
            link.symlink_to(path)
        except OSError:  # Windows allows links to few users
            return self.keep_file(visitor, path, sure=sure)
        return link

    def _place(self, visitor: str, path: Path, digest: str, sure: bool) -> Path:
        folder = self.of(visitor) / f"{_FILES}{digest}" / ("" if sure else _UNSURE)
        return folder / (safe_name(path.stem) + path.suffix.lower())

    def forget_file(self, visitor: str, file: Path) -> None:
        """Remove a file that a visitor opened; the target of a link stays."""
        shutil.rmtree(next(folder for folder in file.parents if folder.parent == self.of(visitor)), ignore_errors=True)

    def is_of(self, visitor: str, file: Path) -> bool:
        """Return True where this visitor opened the file."""
        return is_sent(file) and file.is_relative_to(self.of(visitor))

    def name_of(self, file: Path) -> str:
        """Name a tuned model's file for the menu; the name cannot be guessed without knowing the folder."""
        return MODEL + hashlib.sha256(os.fsencode(file.relative_to(self.root).as_posix())).hexdigest()[:32]

    def file_of(self, name: str) -> Path | None:
        """Find a tuned model's file by its name; None where there is none."""
        if not name.startswith(MODEL):
            return None
        places = (f"*/runs/*/{TUNED}", f"{_FILES}*/*", f"{_FILES}*/{_UNSURE}/*")
        files = (file for depth in ("", "*/") for place in places for file in self.root.glob(f"{depth}{place}"))
        return next((file for file in files if file.exists() and self.name_of(file) == name), None)

    def tuned(self, visitor: str) -> Iterator[TunedChoice]:
        """Yield a visitor's tuned models that the rooms can show, the newest training first, then uploaded files."""
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
        """Return a model's title: method, images and base model, or the file's name; the name for untuned ones."""
        file = self.file_of(name)
        return name if file is None else _title(file)

    def path_of(self, file: Path) -> str:
        """Return a tuned model's file as a script names it: its path, or on a hosted page its name as a download."""
        if not self.hosted:
            return path_in_script(file.resolve() if file.is_symlink() else file)
        if is_sent(file):
            return file.name
        return stem_of(read_config(_training_of(file)), file.parent.name) + ".safetensors"


def _surveyed(own: Path) -> Iterator[Path]:
    """Yield the images that the page's surveys use."""
    for survey in own.glob(f"{SURVEY}*"):
        for file in (ASKED, f"{ANSWERS}/survey.json"):  # two, since either may be damaged
            with suppress(OSError, ValueError, KeyError, TypeError):
                yield Path(json.loads((survey / file).read_bytes())["source"])


def is_sent(file: Path) -> bool:
    """Return True for a model's file that a person opened; the others lie in their trainings."""
    return any(folder.name.startswith(_FILES) for folder in file.parents[:2])


def _digest(path: Path) -> str:
    """Hash a file's content, or the names and contents in a folder."""
    total = hashlib.sha256()
    for part in sorted(path.iterdir()) if path.is_dir() else [path]:
        with part.open("rb") as content:
            found = hashlib.file_digest(content, "sha256").digest()
        total.update(os.fsencode(part.name) + found if path.is_dir() else found)
    return total.hexdigest()[:32]


def _training_of(file: Path) -> Path:
    """Return the folder of the training that a tuned model's file lies in."""
    return file.parents[2]


def _title(file: Path) -> str:
    if is_sent(file):
        return file.name
    run = file.parent.name
    try:
        config = read_config(_training_of(file))
    except ExplainedError:  # a damaged config; the weights may still be fine
        return run
    return f"{run} · {images_of(config)} · {config.model}"


def safe_name(name: str) -> str:
    """Make a file name from a name that a person gave."""
    return re.sub(r"[^\w.+-]+", "_", name).strip("._")[:60] or "images"
