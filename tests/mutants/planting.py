"""A copy of the working tree in which a fault may be planted; the tree itself is never touched."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.helpers.tree import ROOT
from tests.mutants.mutant import Mutant, find, planted

LEFT_OUT = shutil.ignore_patterns(".git", ".venv*", "__pycache__", "*_cache", "node_modules", "runs", "assets")


class Copy:
    """A copy of everything but what is made; weights and images are linked."""

    def __init__(self, folder: Path):
        """Copy the tree to a folder that is not there yet."""
        self.folder = folder
        shutil.copytree(ROOT, folder, ignore=LEFT_OUT)
        (folder / "assets").symlink_to(ROOT / "assets")
        self._changes = 0

    @contextmanager
    def with_fault(self, mutant: Mutant) -> Iterator[None]:
        """Inside, the fault is in the copy."""
        place = find(mutant)
        file = self.folder / place.path
        was, when = file.read_bytes(), file.stat()
        self._changes += 1
        try:
            file.write_text(planted(mutant, place), encoding="utf-8")
            # compiled files are told by whole seconds and sizes: each fault gets a second of its own
            os.utime(file, (when.st_atime, int(when.st_mtime) + self._changes))
            yield
        finally:
            file.write_bytes(was)
            os.utime(file, ns=(when.st_atime_ns, when.st_mtime_ns))
