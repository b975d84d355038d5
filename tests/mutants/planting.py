"""Copy of the working tree in which a fault may be planted; the tree itself is never changed."""

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
    """Copy of the tree without generated files; weights and images are linked."""

    def __init__(self, folder: Path):
        """Copy the tree to a new folder."""
        self.folder = folder
        shutil.copytree(ROOT, folder, ignore=LEFT_OUT)
        (folder / "assets").symlink_to(ROOT / "assets")
        self._changes = 0

    @contextmanager
    def with_fault(self, mutant: Mutant) -> Iterator[None]:
        """Plant the fault in the copy inside the context."""
        place = find(mutant)
        file = self.folder / place.path
        original, stat = file.read_bytes(), file.stat()
        self._changes += 1
        try:
            file.write_text(planted(mutant, place), encoding="utf-8")
            # Python checks compiled files by size and whole seconds, so each fault gets a second of its own.
            os.utime(file, (stat.st_atime, int(stat.st_mtime) + self._changes))
            yield
        finally:
            file.write_bytes(original)
            os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))
