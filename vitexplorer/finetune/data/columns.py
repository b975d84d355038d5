"""Columns of a table, with guesses for the image column, the target column and the task."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from vitexplorer.core.text import Text
from vitexplorer.finetune.data.cells import NOTHING, Cells, read_cells
from vitexplorer.finetune.data.lookup import ImageLookup
from vitexplorer.storage.dataset import Task
from vitexplorer.storage.findings import DataError, listed
from vitexplorer.storage.image_files import Listing, list_files

MOST_NUMERIC_CLASSES = 20
"""Most distinct whole numbers that are read as classes; more are a quantity"""
_TARGET_NAMES = ("label", "labels", "class", "class_name", "target", "category", "score", "y")
_SAMPLE = 500


class Pick(NamedTuple):
    """The user's choice of columns and task; None leaves it to `read_table`."""

    image: str | None = None
    """Column of the image names"""
    target: str | None = None
    """Column to learn"""
    task: Task | None = None


ANYTHING = Pick()


@dataclass(frozen=True)
class Columns:
    """Columns of a table and the defaults of `read_table`."""

    examples: Mapping[str, str]
    """Name of each column, with the first cell that names an image of the folder; "" where none does"""
    image: str
    target: str
    task: Task


def table_columns(path: str | os.PathLike) -> Columns:
    """Describe the columns of the table at `path`. Raises DataError if it cannot be read or names no image."""
    return columns_of(*opened(path))


def columns_of(cells: Cells, listing: Listing) -> Columns:
    """Describe the columns of a table that is already read; see `table_columns`."""
    lookup = lookup_of(listing, cells)
    image = image_column(cells, lookup)
    target = target_column(cells, image)
    examples = {name: _example(cells, lookup, name) for name in cells.columns}
    return Columns(examples, image, target, task_of(cells, target))


def _example(cells: Cells, lookup: ImageLookup, column: str) -> str:
    written = cells.column(column)
    matches = zip(written, lookup.find(written), strict=True) if _share_found(cells, lookup, column) else ()
    return next((cell for cell, images in matches if images), "")


def names_images(cells: Cells, listing: Listing) -> float:
    """Return the largest share of rows, 0-1, whose image one column finds; 0 without a second column."""
    lookup = lookup_of(listing, cells)
    return max(_share_found(cells, lookup, name) for name in cells.columns) if len(cells.columns) > 1 else 0.0


def opened(path: str | os.PathLike) -> tuple[Cells, Listing]:
    """Read the table at `path` and list the images of its folder."""
    path = Path(path).expanduser()
    return read_cells(path), list_files(path.parent)


def lookup_of(listing: Listing, cells: Cells) -> ImageLookup:
    """Build the lookup of images for a table."""
    return ImageLookup(listing.images, PurePosixPath(cells.name).stem)  # train.csv means the images of train/


def _share_found(cells: Cells, lookup: ImageLookup, column: str) -> float:
    written = cells.column(column)
    matches = lookup.find(written[:: max(1, len(written) // _SAMPLE)])
    return sum(map(bool, matches)) / len(matches)


def image_column(cells: Cells, lookup: ImageLookup) -> str:
    """Return the column that names most images. Raises DataError if none names any."""
    shares = {name: _share_found(cells, lookup, name) for name in cells.columns}
    best = max(shares, key=shares.__getitem__)
    if not shares[best]:
        raise DataError(_NO_IMAGE_COLUMN.format(name=listed([cells.name]), columns=listed(cells.columns)))
    return best


def target_column(cells: Cells, image: str) -> str:
    """Return the column named like a target, or the last. Raises DataError if the image column is the only one."""
    others = [name for name in cells.columns if name != image]
    if not others:
        raise DataError(_NO_TARGET_COLUMN.format(name=listed([cells.name]), image=image))
    matching = [name for target_name in _TARGET_NAMES for name in others if name.casefold() == target_name]
    return (matching or others[-1:])[0]


def task_of(cells: Cells, target: str) -> Task:
    """Choose regression for numbers with fractions or many distinct values; up to 10 % other cells are tolerated."""
    filled = [cell for cell in cells.column(target) if cell.casefold() not in NOTHING]
    numbers = [number for number in map(cells.number, filled) if not math.isnan(number)]
    if not numbers or len(numbers) < 0.9 * len(filled):
        return "classification"
    many = len(set(numbers)) > MOST_NUMERIC_CLASSES
    return "regression" if many or any(number != int(number) for number in numbers) else "classification"


_NO_IMAGE_COLUMN = Text(
    "No column of {name} names an image of the folder. Its columns: {columns}. Write the file names, or the paths "
    "below the folder, into one of them.",
    "{name} 中没有任何一列是文件夹内图像的名称。现有的列：{columns}。请在其中一列写入文件名或文件夹内的路径。",
)
_NO_TARGET_COLUMN = Text(
    'The table {name} has no column besides "{image}". Add a column with a label or a number for each image.',
    "表格 {name} 除“{image}”外没有其他列。请添加一列，为每幅图像给出标签或数值。",
)
