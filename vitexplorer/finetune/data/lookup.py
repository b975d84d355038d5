"""Finds the image that a table means: by path, by name or by name without its ending, only below one folder.

What is written has to be the end of an image's path, with or without the file's ending: "train/a.jpg", "a.jpg" and
"a" all lead to train/a.jpg. "dogs/1" never leads to cats/1.jpg. Only where no row fits, the folders that all rows
share are dropped first: absolute paths of another machine. Nothing outside the listed files can be reached.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Sequence
from pathlib import PurePosixPath


class ImageLookup:
    """From what a table writes to the images of a folder; capitals do not matter."""

    def __init__(self, images: Sequence[str], preferred: str = ""):
        """Args: images: relative paths; preferred: name of the folder that wins where two images share a name."""
        self._preferred = preferred.casefold()
        self._ends: dict[str, list[str]] = defaultdict(list)
        self._stems: dict[str, list[str]] = defaultdict(list)
        for path in images:
            parts = _parts(path)
            for start in range(len(parts)):
                end = "/".join(parts[start:])
                self._ends[end].append(path)
                self._stems[str(PurePosixPath(end).with_suffix(""))].append(path)

    def find(self, written: Sequence[str]) -> list[tuple[str, ...]]:
        """For each row the images it can mean: one where all is well, none or several where it is not."""
        rows = [_parts(cell) for cell in written]
        found = [self._find(parts, cell) for parts, cell in zip(rows, written, strict=True)]
        if any(found):
            return found
        shared = _shared([parts[:-1] for parts in rows if parts])
        return [self._find(parts[shared:], cell) for parts, cell in zip(rows, written, strict=True)]

    def _find(self, parts: list[str], written: str) -> tuple[str, ...]:
        end = "/".join(parts)
        paths = self._ends.get(end) or self._stems.get(end, [])
        if len(paths) > 1:
            exact = [path for path in paths if path == written]
            paths = exact or [path for path in paths if self._is_preferred(path)] or paths
        return tuple(paths)

    def _is_preferred(self, path: str) -> bool:
        return PurePosixPath(path).parent.name.casefold() == self._preferred


def _shared(folders: Sequence[list[str]]) -> int:
    """How many folders all paths begin with."""
    first, last = min(folders, default=[]), max(folders, default=[])  # all others lie between them
    pairs = list(zip(first, last, strict=False))
    return next((i for i, (a, b) in enumerate(pairs) if a != b), len(pairs))


def _parts(path: str) -> list[str]:
    """Folders and name, composed and without capitals."""
    key = unicodedata.normalize("NFC", path).casefold().replace("\\", "/")
    return [part for part in key.split("/") if part not in ("", ".")]
