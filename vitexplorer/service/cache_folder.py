"""Files that visitors sent and figures that were drawn for them: for some hours on the disk, and never without bound.

gradio removes those that it remembers; what a killed server left behind, what broke off and empty folders stay with it
for ever. So the folder is ours alone, and all that is in it goes by its age, the oldest first where there is too much.
"""

from __future__ import annotations

import errno
import os
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from vitexplorer.core.settings import Settings

AGE = 2 * 3600.0
"""seconds after the last use"""
YOUNG = 60.0
"""seconds in which nothing is touched: it is being written, or about to be read"""


@dataclass(frozen=True)
class FolderUsage:
    """What is on the disk."""

    files: int = 0
    size: int = 0
    """bytes"""


def files_folder() -> Path:
    """Return the folder of files that are sent and served; gradio reads the same variable for its own."""
    return Path(os.environ.get("GRADIO_TEMP_DIR") or (Path(tempfile.gettempdir()) / "gradio").resolve())


class CacheFolder:
    """gradio's folder for files."""

    def __init__(self, path: Path, most: int):
        """Args: path: of the folder; most: bytes that it may hold after a sweep."""
        self.path, self.most = path, most
        self.held = FolderUsage()
        """after the last sweep"""
        self._since = 0  # bytes that visitors sent after it

    @classmethod
    def of_settings(cls, settings: Settings) -> CacheFolder:
        """As the installation says; always a folder below it, in which nobody keeps anything else."""
        above = Path(settings.cache_folder or tempfile.gettempdir()).expanduser().absolute()
        return cls(above / f"vitexplorer-{_user()}", settings.cache_megabytes * 10**6)

    def make(self) -> Path:
        """The folder, made. Raises OSError where that cannot be, or where it is another user's."""
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = self.path.lstat()
        if stat.S_ISLNK(found.st_mode) or found.st_uid != _user():
            raise PermissionError(errno.EPERM, f"{self.path} belongs to somebody else")
        return self.path

    def is_full(self, coming: int) -> bool:
        """Whether so many bytes more would be far more than there may be, until the next sweep."""
        return self.held.size + self._since + coming > 2 * self.most

    def take(self, size: int) -> None:
        """So many bytes more are there."""
        self._since += size

    def sweep(self) -> None:
        """Remove what is old, then the oldest until the rest has room, and folders that are empty."""
        now, self._since = time.time(), 0
        files = sorted(_files(self.path))
        kept, total = [], 0
        for used, size, path in reversed(files):
            total += size
            if now - used > YOUNG and (now - used > AGE or total > self.most):
                with suppress(FileNotFoundError):
                    os.unlink(path)
                total -= size
            else:
                kept.append(size)
        self.held = FolderUsage(len(kept), sum(kept))
        for folder in (path for path in self.path.glob("*/*") if path.is_dir()):
            if now - folder.stat().st_mtime > YOUNG:
                _remove_if_empty(folder)


def _user() -> int:
    return os.getuid() if hasattr(os, "getuid") else 0


def _files(folder: Path) -> Iterator[tuple[float, int, str]]:
    """When each file was last used, its bytes, where it is."""
    for above, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(above, name)
            with suppress(FileNotFoundError):  # another server has just swept it
                found = os.stat(path)
                if stat.S_ISREG(found.st_mode):
                    yield found.st_mtime, found.st_size, path


def _remove_if_empty(folder: Path) -> None:
    with suppress(OSError):
        folder.rmdir()
