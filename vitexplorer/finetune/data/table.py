"""Dataset from a table of images and targets; `columns.py` guesses the columns that are not chosen.

Kaggle's Pawpularity can be read as downloaded: train.csv with the column Id and the images train/<Id>.jpg.
"""

from __future__ import annotations

import math
import os
from collections import defaultdict
from collections.abc import Sequence

from vitexplorer.core.text import Text
from vitexplorer.finetune.data.cells import NOTHING, Cells
from vitexplorer.finetune.data.columns import ANYTHING, Pick, image_column, lookup_of, opened, target_column, task_of
from vitexplorer.finetune.data.lookup import ImageLookup
from vitexplorer.storage.dataset import Dataset, Item, Task
from vitexplorer.storage.findings import DataError, Finding, finding, findings_of, listed
from vitexplorer.storage.image_files import Listing


def read_table(path: str | os.PathLike, pick: Pick = ANYTHING) -> Dataset:
    """Read the images that the table at `path` lists, below its own folder.

    By default the image column is the one that names most images; the target is a column called "label", "class",
    "target", ... or else the last; the task is regression if the target holds numbers with fractions or more than
    `MOST_NUMERIC_CLASSES` distinct numbers. Unusable rows are left out and named in `findings`.
    Raises DataError if no row can be used, UnknownNameError for a column that does not exist.
    """
    return table_dataset(*opened(path), pick)


def table_dataset(cells: Cells, listing: Listing, pick: Pick = ANYTHING) -> Dataset:
    """Build the dataset of a table that is already read; see `read_table`."""
    lookup = lookup_of(listing, cells)
    image = pick.image or image_column(cells, lookup)
    target = pick.target or target_column(cells, image)
    task = pick.task or task_of(cells, target)
    usable, findings = _usable(cells, lookup, image, target, task)
    if not usable:
        raise DataError(_NO_ROWS.format(name=listed([cells.name]), image=image, target=target))
    unlisted = sorted(set(listing.images) - set(usable))
    if unlisted:
        findings.append(finding("unlisted", "note", _UNLISTED, unlisted))
    names = sorted({value for value in usable.values() if isinstance(value, str)}, key=_by_number)
    index = {name: i for i, name in enumerate(names)}
    items = tuple(Item(path, index.get(value, value)) for path, value in sorted(usable.items()))
    return Dataset(listing.root, items, task, tuple(names), target, (*listing.findings, *findings))


# ------------------------------------------------------------------------------------------------- the sentences

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


def _usable(
    cells: Cells, lookup: ImageLookup, image: str, target: str, task: Task
) -> tuple[dict[str, str | float], list[Finding]]:
    """Return the label or number of every usable image, and findings about the other rows."""
    written, raw = cells.column(image), cells.column(target)
    blanks = NOTHING if _is_numeric(cells, raw) else {"", "nan"}
    values: dict[str, list[str | float | None]] = defaultdict(list)
    missing, ambiguous = [], []
    for name, images, cell in zip(written, lookup.find(written), raw, strict=True):
        if len(images) == 1:
            values[images[0]].append(_value(cells, cell, task, blanks))
        else:
            (ambiguous if images else missing).append(name)
    known = {path: [value for value in given if value is not None] for path, given in values.items()}
    contradicting = {path for path, given in known.items() if len(set(given)) > 1}
    valueless = [path for path, given in known.items() if not given]
    repeated = [path for path, given in known.items() for _ in given[1:] if path not in contradicting]
    troubles = (
        ("missing_files", "warning", _MISSING, missing),
        ("ambiguous_files", "warning", _AMBIGUOUS, ambiguous),
        ("no_target", "warning", _NO_TARGET, sorted(valueless)),
        ("duplicate_rows", "note", _REPEATED, sorted(repeated)),
        ("contradicting_rows", "warning", _CONTRADICTING, sorted(contradicting)),
    )
    usable = {path: given[0] for path, given in known.items() if len(set(given)) == 1}
    return usable, findings_of(troubles, target=target)


def _is_numeric(cells: Cells, raw: Sequence[str]) -> bool:
    """Return True if all filled cells are numbers; among words, "NA" and "none" may be classes."""
    return all(not math.isnan(cells.number(cell)) for cell in raw if cell.casefold() not in NOTHING)


def _value(cells: Cells, cell: str, task: Task, blanks: set[str]) -> str | float | None:
    if task == "classification":
        return None if cell.casefold() in blanks else cell
    number = cells.number(cell)
    return None if math.isnan(number) else number


def _by_number(name: str) -> tuple[float, str]:
    """Return a sort key that puts numbers in numeric order before words."""
    try:
        return float(name), name
    except ValueError:
        return math.inf, name
