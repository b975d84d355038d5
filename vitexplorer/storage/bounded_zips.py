"""Zips of strangers: `zipfile` reads the directory of one in a single go, however large it is; here it has a bound."""

from __future__ import annotations

import io
import zipfile


class ByteLimitError(Exception):
    """More was asked of a file than it is worth."""


def open_bounded(file: io.BufferedReader, most: int) -> zipfile.ZipFile:
    """The zip in `file`, of which at most `most` bytes are read at once.

    Raises ByteLimitError for a larger directory, and what `zipfile.ZipFile` raises for a damaged one.
    """
    return zipfile.ZipFile(_Bounded(file, most))  # type: ignore[arg-type]


class _Bounded(io.RawIOBase):
    def __init__(self, file: io.BufferedReader, most: int):
        self._file, self._most = file, most

    def read(self, size: int = -1) -> bytes:
        if size > self._most:
            raise ByteLimitError
        return self._file.read(size)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True
