"""What visitors keep on the disk (trainings, images, tuned models): so much each, so much in all, and not for ever.

Nothing that is being worked on goes, and images go with the last training that was made of them.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from vitexplorer.core.settings import Settings, settings
from vitexplorer.core.text import Text
from vitexplorer.finetune.job.folder import CONFIG
from vitexplorer.service.cache_folder import FolderUsage
from vitexplorer.service.user_storage import ANSWERS, SURVEY, UserStorage
from vitexplorer.storage.claims import JobError, worker_of

DAY = 24 * 3600.0
"""seconds; what was used within the last one stays, however full it is"""
EVERY = 10.0
"""minutes between two sweeps, each of which looks at every file"""
_MINE_FULL = Text(
    "What you keep here takes {used:,.0f} MB of the {most:,} MB that one visitor has. Delete a training first.",
    "您在此处保存的内容已占 {used:,.0f} MB，每位访客的上限为 {most:,} MB。请先删除一个训练。",
)
_ALL_FULL = Text(
    "The disk for trainings is full: {used:,.0f} MB of {most:,} MB. Try again tomorrow.",
    "存放训练的磁盘已满：{used:,.0f} MB，上限为 {most:,} MB。请明天再试。",
)


@dataclass(frozen=True)
class _Thing:
    """A training, images or a tuned model."""

    path: Path
    used: float
    """seconds since 1970 at which something in it was last written"""
    size: int
    """bytes"""


def check_room(places: UserStorage, visitor: str) -> None:
    """Raises JobError where a visitor, or all of them, have as much as they may."""
    most, of_all = settings().visitor_megabytes, settings().runs_megabytes
    if most and (used := _size(places.of(visitor)) / 1e6) >= most:
        raise JobError(_MINE_FULL.format(used=used, most=most))
    if of_all and (used := _size(places.root) / 1e6) >= of_all:
        raise JobError(_ALL_FULL.format(used=used, most=of_all))


class StorageLimits:
    """What all visitors keep."""

    def __init__(self, places: UserStorage, settings: Settings):
        """Args: places: where; settings: how much, and for how long."""
        self.places = places
        self.keep, self.most = settings.keep_days * DAY, settings.runs_megabytes * 10**6
        self.held = FolderUsage()
        """after the last sweep"""
        self._next = 0.0

    def sweep(self) -> None:
        """Remove what was used too long ago, and the oldest of the rest where there is too much."""
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + 60 * EVERY
        self.places.sweep()
        now, kept = time.time(), 0
        things = sorted(_things(self.places), key=lambda thing: -thing.used)
        total = _size(self.places.root) - sum(thing.size for thing in things)  # images in use, which stay
        for thing in things:
            old = self.keep and now - thing.used > self.keep
            too_much = self.most and total + thing.size > self.most and now - thing.used > DAY
            if (old or too_much) and not _is_worked_on(thing.path):
                shutil.rmtree(thing.path, ignore_errors=True)
            else:
                kept, total = kept + 1, total + thing.size
        self.held = FolderUsage(kept, total)
        for folder in self.places.everywhere():
            if folder != self.places.root and now - folder.stat().st_mtime > DAY:
                with suppress(OSError):  # it is not empty
                    folder.rmdir()


def _things(places: UserStorage) -> Iterator[_Thing]:
    """Each that can go by itself: not images that a training or a survey was made of."""
    for own in places.everywhere():
        of_trainings = places.data_in_use(own)
        for path in own.glob("*"):
            sent = path.name.startswith(("data-", "files-", SURVEY))
            if path.is_dir() and (sent or CONFIG.is_in(path)) and path.name not in of_trainings:
                files = list(_stats(path))
                yield _Thing(path, max((used for used, _ in files), default=0.0), sum(size for _, size in files))


def _is_worked_on(folder: Path) -> bool:
    """Whether a process works on a training, or on a survey and its answers."""
    return any(worker_of(place) is not None for place in (folder, folder / ANSWERS))


def _size(folder: Path) -> int:
    return sum(size for _, size in _stats(folder))


def _stats(folder: Path) -> Iterator[tuple[float, int]]:
    """When each file was last written, and its bytes."""
    for path in folder.rglob("*"):
        with suppress(OSError):
            if path.is_file():
                found = path.stat()
                yield found.st_mtime, found.st_size
