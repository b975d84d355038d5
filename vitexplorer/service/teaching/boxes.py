"""What a visitor teaches with: boxes of pictures, a class each, on the disk until they are deleted or unused for a day.

    <folder>/boxes.json             keys and names, in their order
    <folder>/<key>/<name>.jpg       pictures

Of a picture what a model needs is kept, upright and without what a camera writes beside it (place, time).
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
from vitexplorer.storage.atomic_writes import replace_file
from vitexplorer.storage.class_folders import HELD_BACK, POOLED
from vitexplorer.storage.record_file import RecordFile

LEAST_BOXES, MOST_BOXES = 2, 8
MOST_PICTURES = 60
"""in a box"""
LONGEST_NAME = 40
"""characters"""
_SIDE, _QUALITY = 768, 95
"""pixels of the longer side; of the JPEG"""
_PICTURE = re.compile("[0-9a-f]{32}")
_alone = threading.Lock()


@dataclass(frozen=True)
class Box:
    """A class."""

    key: str
    name: str
    """empty where nobody gave it one"""
    pictures: tuple[Path, ...] = ()
    """in the order in which they came"""

    def title(self, language: Language) -> str:
        """What it is called, also without a name."""
        return self.name or TEACH_WORDS["teach_class"].format(number=self.key).in_(language)


@dataclass(frozen=True)
class _Names:
    """What the file beside the boxes holds."""

    names: dict[str, str]
    """by key, in their order"""


_NAMES = RecordFile("boxes.json", _Names, TEACH_WORDS["teach_broken"])


def as_jpeg(pixels: UInt8[np.ndarray, "height width 3"], side: int, quality: int) -> bytes:
    """A JPEG of RGB pixels, 0-255, whose longer side has at most `side`, every pixel with its own colour."""
    picture, file = Image.fromarray(pixels), io.BytesIO()
    picture.thumbnail((side, side))
    picture.save(file, "JPEG", quality=quality, subsampling=0)
    return file.getvalue()


def class_files(boxes: tuple[Box, ...], language: Language) -> list[tuple[Path, str]]:
    """Every picture and its name in a folder of its class; classes of the same name are one."""
    return [(path, f"{_folder(box.title(language))}/{path.name}") for box in boxes for path in box.pictures]


def _folder(title: str) -> str:
    """A folder that readers of images take for a class, and not for one side of a split."""
    name = safe_name(title)
    return f"{name}_" if name.lower() in POOLED | HELD_BACK else name


class Boxes:
    """Those of one visitor."""

    def __init__(self, folder: Path):
        """Args: folder: of them alone; it need not be there."""
        self.folder = folder

    def read(self) -> tuple[Box, ...]:
        """All of them; two empty ones where there are none yet. What is read is not swept."""
        with suppress(FileNotFoundError):
            os.utime(self.folder)
        return tuple(Box(key, name, self._pictures(key)) for key, name in self._names().items())

    def box(self, key: str) -> Box:
        """One of them. Raises ExplainedError where there is none of that key."""
        found = next((box for box in self.read() if box.key == key), None)
        if found is None:
            raise ExplainedError(TEACH_WORDS["teach_no_box"])
        return found

    def picture(self, key: str, name: str) -> Path:
        """A picture of a box by its name. Raises ExplainedError where it is not there."""
        found = next((path for path in self.box(key).pictures if path.stem == name), None)
        if found is None:
            raise ExplainedError(TEACH_WORDS["teach_no_picture"])
        return found

    def more(self) -> None:
        """One box more. Raises ExplainedError where there are as many as there may be."""
        with _alone:
            names = self._names()
            if len(names) >= MOST_BOXES:
                raise ExplainedError(TEACH_WORDS["teach_most_boxes"].format(most=MOST_BOXES))
            self._write({**names, str(max(map(int, names)) + 1): ""})

    def rename(self, key: str, name: str) -> None:
        """Call a box otherwise. Raises ExplainedError where there is none of that key."""
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
                self._write({one: name for one, name in names.items() if one != key})

    def add(self, key: str, pixels: UInt8[np.ndarray, "height width 3"]) -> Path:
        """Put a picture into a box, where the same one is kept once. Raises ExplainedError for a full box."""
        if len(self.box(key).pictures) >= MOST_PICTURES:
            raise ExplainedError(TEACH_WORDS["teach_most_pictures"].format(most=MOST_PICTURES))
        content = as_jpeg(pixels, _SIDE, _QUALITY)
        path = self.folder / key / f"{hashlib.sha256(content).hexdigest()[:32]}.jpg"
        with _alone:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._write(self._names())
            if not path.exists():
                replace_file(path, lambda beside: beside.write_bytes(content))
        return path

    def drop(self, key: str, name: str) -> None:
        """Delete a picture. Raises ExplainedError where it is not there."""
        self.picture(key, name).unlink(missing_ok=True)

    def forget(self) -> None:
        """Delete all of it."""
        with _alone:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _names(self) -> dict[str, str]:
        kept = _NAMES.read(self.folder)
        return kept.names if kept else {str(key + 1): "" for key in range(LEAST_BOXES)}

    def _write(self, names: dict[str, str]) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        _NAMES.write(self.folder, _Names(names))

    def _pictures(self, key: str) -> tuple[Path, ...]:
        found = [path for path in (self.folder / key).glob("*.jpg") if _PICTURE.fullmatch(path.stem)]
        return tuple(sorted(found, key=lambda path: (path.stat().st_mtime_ns, path.name)))
