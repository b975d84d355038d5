"""Reader of a folder of images, labelled by class folders or by a table among its files."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from vitexplorer.core.text import Text
from vitexplorer.finetune.data.cells import Cells, read_cells
from vitexplorer.finetune.data.columns import ANYTHING, Columns, Pick, columns_of, names_images
from vitexplorer.finetune.data.table import table_dataset
from vitexplorer.storage.class_folders import class_dataset, wrapping_folder
from vitexplorer.storage.dataset import Dataset
from vitexplorer.storage.findings import DataError, finding
from vitexplorer.storage.image_files import Listing, list_files

_LEAST_FOUND = 0.5
"""Share of its rows with an image that a table needs to take precedence over class folders"""


def read_folder(path: str | os.PathLike, pick: Pick = ANYTHING) -> Dataset:
    """Read the images below `path` with their classes or numbers; a table that names them wins over class folders.

    `pick` chooses among the columns of that table, see `folder_columns`. Raises DataError if there is nothing to
    learn from (no folder, no image, neither classes nor a table), UnknownNameError for a column that does not exist.
    """
    listing = list_files(Path(path))
    cells = _table(listing)
    if cells is not None:
        dataset = table_dataset(cells, listing, pick)
        note = finding("table_chosen", "note", _CHOSEN, [cells.name], column=dataset.target_name)
        return replace(dataset, findings=(note, *dataset.findings))
    try:
        if pick != ANYTHING:
            raise DataError(_NO_TABLE)
        return class_dataset(listing)
    except DataError:
        if listing.images and listing.tables:  # the table's own error is more helpful
            return table_dataset(read_cells(listing.root / listing.tables[0]), listing, pick)
        raise


def folder_columns(path: str | os.PathLike) -> Columns | None:
    """Describe the columns of the table that `read_folder` uses; None if it reads class folders."""
    listing = list_files(Path(path))
    cells = _table(listing)
    return None if cells is None else columns_of(cells, listing)


_CHOSEN = Text(
    'The table {names} says what the images show; its column "{column}" is learned.',
    "图像内容由表格 {names} 给出；学习的是其中的“{column}”列。",
)

_NO_TABLE = Text(
    "A column was picked, but no table in the folder names its images.", "已选择列，但文件夹中没有列出图像的表格。"
)


def _table(listing: Listing) -> Cells | None:
    """Find the table beside or above the image folders that names images: train.csv, or the one with most images."""
    top = wrapping_folder(listing.images)
    usable = []
    for name in listing.tables:
        folder, slash, _ = name.rpartition("/")
        if not top.startswith(folder + slash):
            continue
        try:
            cells = read_cells(listing.root / name)
        except DataError:
            continue
        share = names_images(cells, listing)
        if share >= _LEAST_FOUND:
            usable.append((not cells.name.casefold().startswith("train"), -share * len(cells.rows), name, cells))
    return min(usable, key=lambda table: table[:3])[-1] if usable else None
