"""Entry point for all kinds of data: a folder, a zip of a folder, or a table beside its images."""

from __future__ import annotations

import os
from pathlib import Path

from vitexplorer.finetune.data.archive import read_zip
from vitexplorer.finetune.data.columns import ANYTHING, Pick
from vitexplorer.finetune.data.folder import read_folder
from vitexplorer.finetune.data.table import read_table
from vitexplorer.storage.dataset import Dataset
from vitexplorer.storage.image_files import is_table_name


def read_data(path: str | os.PathLike, into: str | os.PathLike, pick: Pick = ANYTHING) -> Dataset:
    """Read the dataset at `path` with `read_folder`, `read_table` or, unpacked to `into`, `read_zip`.

    A zip that was already unpacked to `into` is read from there, because that folder appears whole or not at all.
    Raises DataError for data that cannot be used, UnknownNameError for a column that does not exist.
    """
    path, into = Path(path).expanduser(), Path(into).expanduser()
    if not path.is_file():
        return read_folder(path, pick)
    if is_table_name(path.name):
        return read_table(path, pick)
    if into.is_dir() and any(into.iterdir()):
        return read_folder(into, pick)
    return read_zip(path, into, pick)
