"""Images and a table of what they show: which column names the image, which one is to be learned, and how.

Kaggle's Pawpularity is read as it is downloaded: train.csv with the column Id and the images train/<Id>.jpg.
"""

from __future__ import annotations

import math
import os
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from vitexplorer.finetune.data.cells import NOTHING, Cells, read_cells
from vitexplorer.finetune.data.dataset import Dataset, Item, Task
from vitexplorer.finetune.data.files import Listing, list_files
from vitexplorer.finetune.data.findings import DataError, Finding, finding, listed
from vitexplorer.finetune.data.lookup import ImageLookup
from vitexplorer.words import Text

MOST_NUMERIC_CLASSES = 20
"""whole numbers of more different values than that are read as a quantity, not as classes"""
_TARGET_NAMES = ("label", "labels", "class", "class_name", "target", "category", "score", "y")
_SAMPLE = 500


class Pick(NamedTuple):
    """What a person chose of a table; None leaves it to `read_table`."""

    image: str | None = None
    """column of the file names"""
    target: str | None = None
    """column to learn"""
    task: Task | None = None


ANYTHING = Pick()


@dataclass(frozen=True)
class Column:
    """One column of a table, for the person who picks."""

    name: str
    found: float
    """share of the rows, 0-1, in which it names an image of the folder"""
    numeric: float
    """share of the rows, 0-1, in which it holds a finite number"""
    distinct: int
    """different values"""
    example: str = ""
    """the first cell that names an image of the folder, as it is written; empty where none does"""


@dataclass(frozen=True)
class Columns:
    """The columns of a table and what `read_table` takes where nothing is picked."""

    table: str
    """the table's name"""
    columns: tuple[Column, ...]
    image: str
    target: str
    task: Task


def table_columns(path: str | os.PathLike, images: str | os.PathLike | None = None) -> Columns:
    """What can be picked from the table at `path` with the images of the folder `images`, by default the table's own.

    Raises DataError where the table or the folder cannot be read or no column names an image.
    """
    return columns_of(*_opened(path, images))


def columns_of(cells: Cells, listing: Listing) -> Columns:
    """`table_columns` of what was read already."""
    lookup = _lookup(listing, cells)
    image = _image_column(cells, lookup)
    target = _target_column(cells, image)
    columns = tuple(_column(cells, lookup, name) for name in cells.columns)
    return Columns(cells.name, columns, image, target, _task(cells, target))


def _column(cells: Cells, lookup: ImageLookup, name: str) -> Column:
    written, share = cells.column(name), _share_found(cells, lookup, name)
    found = zip(written, lookup.find(written), strict=True) if share else ()
    example = next((cell for cell, images in found if images), "")
    return Column(name, share, _share_numeric(cells, name), len(set(written)), example)


def read_table(path: str | os.PathLike, images: str | os.PathLike | None = None, pick: Pick = ANYTHING) -> Dataset:
    """The images that the table at `path` lists, below the folder `images`, by default the table's own.

    Where `pick` leaves it open, the image column is the one that names most images, the target one called "label",
    "class", "target", ... or else the last, and the task regression where the target is numbers with fractions or more
    than `MOST_NUMERIC_CLASSES` different ones. Rows that cannot be used are left out and named in `findings`.
    Raises DataError where no row can be used, UnknownNameError for a column that is not there.
    """
    return table_dataset(*_opened(path, images), pick)


def table_dataset(cells: Cells, listing: Listing, pick: Pick = ANYTHING) -> Dataset:
    """`read_table` of what was read already."""
    lookup = _lookup(listing, cells)
    image = pick.image or _image_column(cells, lookup)
    target = pick.target or _target_column(cells, image)
    task = pick.task or _task(cells, target)
    wanted, findings = _wanted(cells, lookup, image, target, task)
    if not wanted:
        raise DataError(_NO_ROWS.format(name=listed([cells.name]), image=image, target=target))
    unlisted = sorted(set(listing.images) - set(wanted))
    if unlisted:
        findings.append(finding("unlisted", "note", _UNLISTED, unlisted))
    names = sorted({value for value in wanted.values() if isinstance(value, str)}, key=_by_number)
    index = {name: i for i, name in enumerate(names)}
    items = tuple(Item(path, index.get(value, value)) for path, value in sorted(wanted.items()))
    return Dataset(listing.root, items, task, tuple(names), target, (*listing.findings, *findings))


def names_images(cells: Cells, listing: Listing) -> float:
    """Share of the rows, 0-1, whose image is found by the column that finds most; 0 without a second column."""
    lookup = _lookup(listing, cells)
    return max(_share_found(cells, lookup, name) for name in cells.columns) if len(cells.columns) > 1 else 0.0


# ------------------------------------------------------------------------------------------------- the sentences

_NO_IMAGE_COLUMN = Text(
    "No column of {name} names an image of the folder. Its columns: {columns}. Write the file names, or the paths "
    "below the folder, into one of them.",
    "{name} 中没有任何一列是文件夹内图像的名称。现有的列：{columns}。请在其中一列写入文件名或文件夹内的路径。",
)
_NO_TARGET_COLUMN = Text(
    'The table {name} has no column beside "{image}". Add one with a label or a number for each image.',
    "表格 {name} 除“{image}”外没有其他列。请添加一列，为每幅图像给出标签或数值。",
)
_NO_ROWS = Text(
    'No row of {name} can be used: none has both an image of the folder in "{image}" and a value in "{target}".',
    "{name} 中没有可用的行：没有一行同时在“{image}”列有文件夹中的图像、在“{target}”列有值。",
)
_MISSING = Text(
    "Rows whose image is not in the folder are left out: {count} ({names}).",
    "图像不在文件夹中的行已忽略：{count} 行（{names}）。",
)
_AMBIGUOUS = Text(
    "Rows that could mean several images are left out: {count} ({names}). Write the folder before the name.",
    "可能指多幅图像的行已忽略：{count} 行（{names}）。请在文件名前写上文件夹。",
)
_NO_TARGET = Text(
    'Images without a usable value in "{target}" (empty, NaN, infinite, no number) are left out: {count} ({names}).',
    "“{target}”列没有可用值（空、NaN、无穷大或非数值）的图像已忽略：{count} 幅（{names}）。",
)
_REPEATED = Text(
    "Rows that repeat another one are counted once: {count} ({names}).", "重复的行只计一次：{count} 行（{names}）。"
)
_CONTRADICTING = Text(
    'Images that the table lists with different values of "{target}" are left out: {count} ({names}). Nobody can know '
    "which one is right.",
    "表格中“{target}”取值互相矛盾的图像已忽略：{count} 幅（{names}）。无法判断哪个值正确。",
)
_UNLISTED = Text(
    "Images that the table does not list are left out: {count} ({names}).",
    "表格未列出的图像已忽略：{count} 幅（{names}）。",
)


# ------------------------------------------------------------------------------------------------- rows


def _opened(path: str | os.PathLike, images: str | os.PathLike | None) -> tuple[Cells, Listing]:
    path = Path(path).expanduser()
    return read_cells(path), list_files(path.parent if images is None else Path(images))


def _lookup(listing: Listing, cells: Cells) -> ImageLookup:
    return ImageLookup(listing.images, PurePosixPath(cells.name).stem)  # train.csv means the images of train/


def _wanted(
    cells: Cells, lookup: ImageLookup, image: str, target: str, task: Task
) -> tuple[dict[str, str | float], list[Finding]]:
    """The label or number of every usable image, and what is wrong with the other rows."""
    written, raw = cells.column(image), cells.column(target)
    blanks = NOTHING if _is_numeric(cells, raw) else {"", "nan"}
    values: dict[str, list[str | float | None]] = defaultdict(list)
    missing, ambiguous = [], []
    for name, found, cell in zip(written, lookup.find(written), raw, strict=True):
        if len(found) == 1:
            values[found[0]].append(_value(cells, cell, task, blanks))
        else:
            (ambiguous if found else missing).append(name)
    known = {path: [value for value in several if value is not None] for path, several in values.items()}
    contradicting = {path for path, several in known.items() if len(set(several)) > 1}
    valueless = [path for path, several in known.items() if not several]
    repeated = [path for path, several in known.items() for _ in several[1:] if path not in contradicting]
    troubles = (
        ("missing_files", "warning", _MISSING, missing),
        ("ambiguous_files", "warning", _AMBIGUOUS, ambiguous),
        ("no_target", "warning", _NO_TARGET, sorted(valueless)),
        ("duplicate_rows", "note", _REPEATED, sorted(repeated)),
        ("contradicting_rows", "warning", _CONTRADICTING, sorted(contradicting)),
    )
    findings = [finding(kind, level, text, names, target=target) for kind, level, text, names in troubles if names]
    return {path: several[0] for path, several in known.items() if len(set(several)) == 1}, findings


def _is_numeric(cells: Cells, raw: Sequence[str]) -> bool:
    """Whether all that is written is numbers: "NA" and "none" among words may be classes."""
    return all(not math.isnan(cells.number(cell)) for cell in raw if cell.casefold() not in NOTHING)


def _value(cells: Cells, cell: str, task: Task, blanks: set[str]) -> str | float | None:
    if task == "classification":
        return None if cell.casefold() in blanks else cell
    number = cells.number(cell)
    return None if math.isnan(number) else number


def _by_number(name: str) -> tuple[float, str]:
    """Numbers in their order, before and apart from words."""
    try:
        return float(name), name
    except ValueError:
        return math.inf, name


# ------------------------------------------------------------------------------------------------- columns


def _sampled(cells: Sequence[str]) -> Sequence[str]:
    return cells[:: max(1, len(cells) // _SAMPLE)]


def _share_found(cells: Cells, lookup: ImageLookup, column: str) -> float:
    found = lookup.find(_sampled(cells.column(column)))
    return sum(map(bool, found)) / len(found)


def _share_numeric(cells: Cells, column: str) -> float:
    sample = _sampled(cells.column(column))
    return sum(not math.isnan(cells.number(cell)) for cell in sample) / len(sample)


def _image_column(cells: Cells, lookup: ImageLookup) -> str:
    shares = {name: _share_found(cells, lookup, name) for name in cells.columns}
    best = max(shares, key=shares.__getitem__)
    if not shares[best]:
        raise DataError(_NO_IMAGE_COLUMN.format(name=listed([cells.name]), columns=listed(cells.columns)))
    return best


def _target_column(cells: Cells, image: str) -> str:
    others = [name for name in cells.columns if name != image]
    if not others:
        raise DataError(_NO_TARGET_COLUMN.format(name=listed([cells.name]), image=image))
    named = [name for wanted in _TARGET_NAMES for name in others if name.casefold() == wanted]
    return (named or others[-1:])[0]


def _task(cells: Cells, target: str) -> Task:
    """Regression for numbers that have fractions or many different values; a lone word among them is a mistake."""
    given = [cell for cell in cells.column(target) if cell.casefold() not in NOTHING]
    numbers = [number for number in map(cells.number, given) if not math.isnan(number)]
    if not numbers or len(numbers) < 0.9 * len(given):
        return "classification"
    many = len(set(numbers)) > MOST_NUMERIC_CLASSES
    return "regression" if many or any(number != int(number) for number in numbers) else "classification"
