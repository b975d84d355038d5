"""A file of a job that holds one record as JSON: how it is called, what it must hold, what to do where it does not."""

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
    """One kind of file."""

    name: str
    holds: type[T]
    """a dataclass"""
    remedy: Text
    """what can still be done where it is broken"""
    indent: int | None = None
    """for files that people look into"""

    def is_in(self, folder: Path) -> bool:
        """Whether it is there, in whatever state."""
        return (folder / self.name).exists()

    def read(self, folder: Path) -> T | None:
        """What it holds; None where it is not there. Raises BrokenFileError."""
        path = folder / self.name
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise broken(path, remedy=self.remedy) from error
        return parsed(self.holds, content, path, self.remedy)

    def write(self, folder: Path, record: T) -> None:
        """Put it in the place of what is there. Raises DiskFullError."""
        replace_text(folder / self.name, json.dumps(asdict(record), ensure_ascii=False, indent=self.indent))
