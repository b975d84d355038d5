"""Teaching boxes: a visitor's pictures, one box a class, on the disk until deleted or unused for a day.

    <folder>/boxes.json             keys and names, in their order
    <folder>/<key>/<name>.jpg       pictures

Pictures are shrunk to what a model needs, upright, without the camera's metadata (place, time).
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import shutil
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import UInt8
from PIL import Image

from vitexplorer.core.text import ExplainedError, Language
from vitexplorer.service.teaching.words import TEACH_WORDS
from vitexplorer.service.user_storage import safe_name
from vitexplorer.storage.atomic_writes import replace_bytes
from vitexplorer.storage.class_folders import HELD_BACK, POOLED
from vitexplorer.storage.record_file import RecordFile

LEAST_BOXES, MOST_BOXES = 2, 8
MOST_PICTURES = 60
"""Most pictures in a box"""
LONGEST_NAME = 40
"""Characters"""
_SIDE, _QUALITY = 768, 95
"""Longer side in pixels; quality of the JPEG"""
_PICTURE = re.compile("[0-9a-f]{32}")
_alone = threading.Lock()


@dataclass(frozen=True)
class Box:
    """A class and its pictures."""

    key: str
    name: str
    """Empty where the visitor gave none"""
    pictures: tuple[Path, ...] = ()
    """Oldest first"""

    def title(self, language: Language) -> str:
        """Return its name, or a default one."""
        return self.name or TEACH_WORDS["teach_class"].format(number=self.key).in_(language)


@dataclass(frozen=True)
class _Names:
    """Content of `boxes.json`."""

    names: dict[str, str]
    """Name of each box by key, in their order"""


_NAMES = RecordFile("boxes.json", _Names, TEACH_WORDS["teach_broken"])


def as_jpeg(pixels: UInt8[np.ndarray, "height width 3"], side: int, quality: int) -> bytes:
    """Encode RGB pixels, 0-255, as a JPEG with a longer side of at most `side`, without colour subsampling."""
    picture, file = Image.fromarray(pixels), io.BytesIO()
    picture.thumbnail((side, side))
    picture.save(file, "JPEG", quality=quality, subsampling=0)
    return file.getvalue()


def class_files(boxes: tuple[Box, ...], language: Language) -> list[tuple[Path, str]]:
    """List every picture with its path in class folders; boxes of the same name share a class."""
    return [(path, f"{_folder(box.title(language))}/{path.name}") for box in boxes for path in box.pictures]


def _folder(title: str) -> str:
    """Name a class folder so that readers do not take it for part of a split."""
    name = safe_name(title)
    return f"{name}_" if name.lower() in POOLED | HELD_BACK else name


@dataclass(frozen=True)
class Boxes:
    """The boxes of one visitor, in a folder for nothing else that need not exist."""

    folder: Path

    def read(self) -> tuple[Box, ...]:
        """Read all boxes, two empty ones if there are none yet, and mark them as used."""
        with suppress(FileNotFoundError):
            os.utime(self.folder)
        return tuple(Box(key, name, self._pictures(key)) for key, name in self._names().items())

    def box(self, key: str) -> Box:
        """Return one box; ExplainedError where there is none of that key."""
        found = next((box for box in self.read() if box.key == key), None)
        if found is None:
            raise ExplainedError(TEACH_WORDS["teach_no_box"])
        return found

    def picture(self, key: str, name: str) -> Path:
        """Return a picture of a box by its name; ExplainedError where there is none."""
        found = next((path for path in self.box(key).pictures if path.stem == name), None)
        if found is None:
            raise ExplainedError(TEACH_WORDS["teach_no_picture"])
        return found

    def more(self) -> None:
        """Add a box; ExplainedError where there are as many as allowed."""
        with _alone:
            names = self._names()
            if len(names) >= MOST_BOXES:
                raise ExplainedError(TEACH_WORDS["teach_most_boxes"].format(most=MOST_BOXES))
            self._write({**names, str(max(map(int, names)) + 1): ""})

    def rename(self, key: str, name: str) -> None:
        """Rename a box; ExplainedError where there is none of that key."""
        self.box(key)
        with _alone:
            self._write({**self._names(), key: " ".join(name.split())[:LONGEST_NAME]})

    def remove(self, key: str) -> None:
        """Delete a box and its pictures; the last two are emptied instead."""
        self.box(key)
        with _alone:
            names = self._names()
            shutil.rmtree(self.folder / key, ignore_errors=True)
            if len(names) > LEAST_BOXES:
                self._write({other: name for other, name in names.items() if other != key})

    def add(self, key: str, pixels: UInt8[np.ndarray, "height width 3"]) -> Path:
        """Add a picture to a box, the same one only once; ExplainedError for a full box."""
        if len(self.box(key).pictures) >= MOST_PICTURES:
            raise ExplainedError(TEACH_WORDS["teach_most_pictures"].format(most=MOST_PICTURES))
        content = as_jpeg(pixels, _SIDE, _QUALITY)
        path = self.folder / key / f"{hashlib.sha256(content).hexdigest()[:32]}.jpg"
        with _alone:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._write(self._names())
            if not path.exists():
                replace_bytes(path, content)
        return path

    def drop(self, key: str, name: str) -> None:
        """Delete a picture; ExplainedError where there is none."""
        self.picture(key, name).unlink(missing_ok=True)

    def forget(self) -> None:
        """Delete all boxes."""
        with _alone:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _names(self) -> dict[str, str]:
        record = _NAMES.read(self.folder)
        return record.names if record else {str(key + 1): "" for key in range(LEAST_BOXES)}

    def _write(self, names: dict[str, str]) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        _NAMES.write(self.folder, _Names(names))

    def _pictures(self, key: str) -> tuple[Path, ...]:
        found = []
        for path in (self.folder / key).glob("*.jpg"):
            with suppress(FileNotFoundError):  # another request may delete it meanwhile
                if _PICTURE.fullmatch(path.stem):
                    found.append((path.stat().st_mtime_ns, path.name, path))
        return tuple(path for *_, path in sorted(found))
