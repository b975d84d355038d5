"""Untrusted zips: `zipfile` reads a zip's directory in one piece, however large; here that read has a limit."""

from __future__ import annotations

import io
import zipfile


class ByteLimitError(Exception):
    """Raised when reading a file would exceed its byte limit."""


def open_bounded(file: io.BufferedReader, most: int) -> zipfile.ZipFile:
    """Open the zip in `file`, reading at most `most` bytes at once.

    Raises:
        ByteLimitError: its directory is larger.
        zipfile.BadZipFile: it is damaged.
    """
    return zipfile.ZipFile(_Bounded(file, most))  # type: ignore[arg-type]


class _Bounded:
    def __init__(self, file: io.BufferedReader, most: int):
        self._file, self._most = file, most
        self.seek, self.tell, self.seekable = file.seek, file.tell, file.seekable

    def read(self, size: int = -1) -> bytes:
        if size > self._most:
            raise ByteLimitError
        return self._file.read(size)
