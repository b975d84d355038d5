"""Storage limits for visitors' trainings, images and tuned models: per visitor, in all, and in time.

Nothing that a process works on is removed, and images go with the last training that uses them.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from vitexplorer.core.settings import Settings, settings
from vitexplorer.core.text import Text
from vitexplorer.finetune.job.folder import CONFIG
from vitexplorer.service.cache_folder import FolderUsage, files_in
from vitexplorer.service.user_storage import ANSWERS, SURVEY, UserStorage
from vitexplorer.storage.claims import JobError, worker_of

DAY = 24 * 3600.0
"""Seconds; whatever was used within the last day stays, however full the disk"""
EVERY = 10.0
"""Minutes between two sweeps, each of which stats every file"""
_MINE_FULL = Text(
    "Your saved trainings take {used:,.0f} MB of the {most:,} MB for each visitor. Delete one first.",
    "您保存的训练已占 {used:,.0f} MB，每位访客的上限为 {most:,} MB。请先删除一个。",
)
_ALL_FULL = Text(
    "The disk for trainings is full: {used:,.0f} MB of {most:,} MB. Try again tomorrow.",
    "存放训练的磁盘已满：{used:,.0f} MB，上限为 {most:,} MB。请明天再试。",
)


def check_room(places: UserStorage, visitor: str) -> None:
    """Raise JobError where a visitor, or all together, have reached their limit."""
    most, of_all = settings().visitor_megabytes, settings().runs_megabytes
    if most and (used := _size(places.of(visitor)) / 1e6) >= most:
        raise JobError(_MINE_FULL.format(used=used, most=most))
    if of_all and (used := _size(places.root) / 1e6) >= of_all:
        raise JobError(_ALL_FULL.format(used=used, most=of_all))


@contextmanager
def new_images(places: UserStorage, visitor: str, name: str) -> Iterator[Path]:
    """Yield a folder for images, not made yet; nothing is kept after an error. JobError where there is no room."""
    check_room(places, visitor)
    into = places.new_data(visitor, name)
    into.parent.mkdir(parents=True, exist_ok=True)
    try:
        yield into
    except BaseException:
        with suppress(OSError):
            shutil.rmtree(into.parent)
        raise


class StorageLimits:
    """The limits on what all visitors store."""

    def __init__(self, places: UserStorage, settings: Settings):
        """Read the bytes and days that may be kept in `places` from the settings."""
        self.places = places
        self.keep = settings.keep_days * DAY
        self.most = settings.runs_megabytes * 10**6
        self.held = FolderUsage()
        """Usage after the last sweep"""
        self._next = 0.0

    def sweep(self) -> None:
        """Remove what was not used for too long, and the oldest of the rest where there is too much."""
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + 60 * EVERY
        self.places.sweep()
        now, count = time.time(), 0
        entries = sorted(_removable(self.places), reverse=True)
        total = _size(self.places.root) - sum(size for _, size, _ in entries)  # images in use stay
        for used, size, path in entries:
            old = self.keep and now - used > self.keep
            too_much = self.most and total + size > self.most and now - used > DAY
            if (old or too_much) and not _is_worked_on(path):
                shutil.rmtree(path, ignore_errors=True)
            else:
                count, total = count + 1, total + size
        self.held = FolderUsage(count, total)
        for folder in self.places.everywhere():
            if folder != self.places.root and now - folder.stat().st_mtime > DAY:
                with suppress(OSError):  # it is not empty
                    folder.rmdir()


def _removable(places: UserStorage) -> Iterator[tuple[float, int, Path]]:
    """Yield last write, bytes and folder of what can be removed: not images that a training or a survey uses."""
    for own in places.everywhere():
        of_trainings = places.data_in_use(own)
        for path in own.glob("*"):
            sent = path.name.startswith(("data-", "files-", SURVEY))
            if path.is_dir() and (sent or CONFIG.is_in(path)) and path.name not in of_trainings:
                files = list(files_in(path))
                yield max((used for used, _, _ in files), default=0.0), sum(size for _, size, _ in files), path


def _is_worked_on(folder: Path) -> bool:
    """Return True where a process works on a training, or on a survey and its answers."""
    return any(worker_of(place) is not None for place in (folder, folder / ANSWERS))


def _size(folder: Path) -> int:
    return sum(size for _, size, _ in files_in(folder))
