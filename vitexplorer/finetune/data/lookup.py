"""Lookup of the image that a table cell names: by path, name or name without suffix, below one folder.

A cell must equal the end of an image's path, with or without suffix: "train/a.jpg", "a.jpg" and "a" all find
train/a.jpg. "dogs/1" never finds cats/1.jpg. If no row matches, the folders that all rows share are dropped first, as
in absolute paths of another machine. Files outside the listing cannot be reached.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Sequence
from pathlib import PurePosixPath


class ImageLookup:
    """Index from table cells to the images of a folder; letter case is ignored."""

    def __init__(self, images: Sequence[str], preferred: str = ""):
        """Index relative paths; the folder called `preferred` wins if two images share a name."""
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
        """Return the images that each row can mean: one normally, none if missing, several if ambiguous."""
        rows = [_parts(cell) for cell in written]
        matches = [self._find(parts, cell) for parts, cell in zip(rows, written, strict=True)]
        if any(matches):
            return matches
        shared = _shared([parts[:-1] for parts in rows if parts])
        return [self._find(parts[shared:], cell) for parts, cell in zip(rows, written, strict=True)]

    def _find(self, parts: list[str], written: str) -> tuple[str, ...]:
        end = "/".join(parts)
        paths = self._ends.get(end) or self._stems.get(end, [])
        if len(paths) > 1:
            exact = [path for path in paths if path == written]
            preferred = [path for path in paths if PurePosixPath(path).parent.name.casefold() == self._preferred]
            paths = exact or preferred or paths
        return tuple(paths)


def _shared(folders: Sequence[list[str]]) -> int:
    """Count the leading folders that all paths share."""
    first, last = min(folders, default=[]), max(folders, default=[])  # all others sort between them
    pairs = list(zip(first, last, strict=False))
    return next((i for i, (a, b) in enumerate(pairs) if a != b), len(pairs))


def _parts(path: str) -> list[str]:
    """Split into folders and name, in Unicode NFC and lower case."""
    key = unicodedata.normalize("NFC", path).casefold().replace("\\", "/")
    return [part for part in key.split("/") if part not in ("", ".")]
