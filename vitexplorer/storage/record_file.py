"""Record files: one dataclass as JSON in a job's folder, checked when it is read."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Generic, TypeVar

from vitexplorer.core.text import Text
from vitexplorer.storage.atomic_writes import replace_text
from vitexplorer.storage.checked_reading import broken, parsed

T = TypeVar("T")


@dataclass(frozen=True)
class RecordFile(Generic[T]):
    """A kind of record file: its name, its dataclass and the remedy for a damaged one."""

    name: str
    holds: type[T]
    """A dataclass"""
    remedy: Text
    """Sentence on what can still be done when it is damaged"""
    indent: int | None = None
    """Indentation, for files that people read"""

    def is_in(self, folder: Path) -> bool:
        """Return True where the file exists, damaged or not."""
        return (folder / self.name).exists()

    def read(self, folder: Path) -> T | None:
        """Read the record; None where there is no file, BrokenFileError where it is damaged."""
        path = folder / self.name
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise broken(path, remedy=self.remedy) from error
        return parsed(self.holds, content, path, self.remedy)

    def write(self, folder: Path, record: T) -> None:
        """Write the record in place of the old one; DiskFullError where there is no room."""
        replace_text(folder / self.name, json.dumps(asdict(record), ensure_ascii=False, indent=self.indent))
