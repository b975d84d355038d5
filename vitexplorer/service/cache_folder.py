"""Cache folder for uploads and drawn figures: files are removed after some hours, and the oldest when it is full.

gradio removes only files that it remembers; those of a killed server, broken-off uploads and empty folders would stay
for ever. So the folder is for this purpose alone, and everything in it is removed by age.
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
"""Seconds after the last use"""
YOUNG = 60.0
"""Seconds in which a new file is never removed: it is being written, or about to be read"""


@dataclass(frozen=True)
class FolderUsage:
    """Content of a folder on the disk."""

    files: int = 0
    size: int = 0
    """Bytes"""


def files_folder() -> Path:
    """Return the folder of uploaded and served files; gradio reads the same variable."""
    return Path(os.environ.get("GRADIO_TEMP_DIR") or (Path(tempfile.gettempdir()) / "gradio").resolve())


class CacheFolder:
    """gradio's folder for files."""

    def __init__(self, path: Path, most: int):
        """Manage a folder, which need not exist yet and may hold `most` bytes after a sweep."""
        self.path = path
        self.most = most
        self.held = FolderUsage()
        """Usage after the last sweep"""
        self._since = 0  # bytes that visitors sent after it

    @classmethod
    def of_settings(cls, settings: Settings) -> CacheFolder:
        """Make the folder of the settings; always a subfolder, in which nothing else lies."""
        above = Path(settings.cache_folder or tempfile.gettempdir()).expanduser().absolute()
        return cls(above / f"vitexplorer-{_user()}", settings.cache_megabytes * 10**6)

    def make(self) -> Path:
        """Create the folder; OSError where that is impossible, or where it is another user's."""
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        stat_result = self.path.lstat()
        if stat.S_ISLNK(stat_result.st_mode) or stat_result.st_uid != _user():
            raise PermissionError(errno.EPERM, f"{self.path} belongs to somebody else")
        return self.path

    def is_full(self, coming: int) -> bool:
        """Return True where more bytes would go far beyond the limit before the next sweep."""
        return self.held.size + self._since + coming > 2 * self.most

    def take(self, size: int) -> None:
        """Count bytes that were added."""
        self._since += size

    def sweep(self) -> None:
        """Remove old files, then the oldest until the rest fits, and empty folders."""
        now = time.time()
        self._since = 0
        remaining, total = [], 0
        for used, size, path in sorted(files_in(self.path), reverse=True):
            total += size
            if now - used > YOUNG and (now - used > AGE or total > self.most) and _removed(path, used):
                total -= size
            else:
                remaining.append(size)
        self.held = FolderUsage(len(remaining), sum(remaining))
        for folder in (path for path in self.path.glob("*/*") if path.is_dir()):
            if now - folder.stat().st_mtime > YOUNG:
                with suppress(OSError):  # it is not empty
                    folder.rmdir()


def _user() -> int:
    return os.getuid() if hasattr(os, "getuid") else 0


def _removed(path: str, used: float) -> bool:
    """Remove a file unless a visitor has used it after `used`, while the folder was being listed."""
    with suppress(FileNotFoundError):
        if os.stat(path).st_mtime > used:
            return False
        os.unlink(path)
    return True


def files_in(folder: Path) -> Iterator[tuple[float, int, str]]:
    """Yield for each file the time of its last write or use, its bytes and its path."""
    for above, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(above, name)
            with suppress(OSError):  # another server has just removed it
                found = os.stat(path)
                if stat.S_ISREG(found.st_mode):
                    yield found.st_mtime, found.st_size, path
