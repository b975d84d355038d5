"""Class folders: the class of an image is the name of its folder.

Deeper folders count for the class they lie in. Three things that people have on their disks are understood: one folder
around everything (what a zip makes), `train` and `val` above the classes (pooled: the split is made here, once and
seeded) and `test` beside them (left alone).
"""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from vitexplorer.core.text import Text
from vitexplorer.storage.dataset import Dataset, Item
from vitexplorer.storage.findings import DataError, Finding, finding, readable_name
from vitexplorer.storage.image_files import Listing

POOLED = {"train", "training", "val", "valid", "validation", "dev"}
HELD_BACK = {"test", "testing"}


def class_dataset(listing: Listing) -> Dataset:
    """Read the images below class folders; DataError where no folder can be a class."""
    if not listing.images:
        raise DataError(_NO_IMAGES)
    layout = _layout(listing.images)
    labelled, loose = [], []
    for path in listing.images:
        if path.startswith(layout.held_back):
            continue
        top = next((top for top in layout.tops if path.startswith(top)), None)
        folder, inside, _ = path.removeprefix(top or "").partition("/")
        (labelled if inside and top is not None else loose).append((path, readable_name(folder)))
    if not labelled:
        raise DataError(_NO_CLASSES)
    classes = tuple(sorted({name for _, name in labelled}))
    index = {name: i for i, name in enumerate(classes)}
    items = tuple(Item(path, index[name]) for path, name in labelled)
    findings = [*listing.findings, *layout.notes, *_similar(classes), *_empty(listing, layout.tops, index)]
    if loose:
        findings.append(finding("outside_classes", "warning", _LOOSE, [path for path, _ in loose]))
    return Dataset(listing.root, items, "classification", classes, findings=tuple(findings))


def wrapping_folder(images: tuple[str, ...]) -> str:
    """Find the folder, with its slash, that wraps all class folders; "" where there is none."""
    top = ""
    while True:
        parts = [path[len(top) :].split("/") for path in images]
        if len({part[0] for part in parts}) != 1 or any(len(part) < 3 for part in parts):
            return top
        top += parts[0][0] + "/"


_NO_IMAGES = Text(
    "There is no image in the folder. Put the images of each class into a folder of its name.",
    "文件夹中没有图像。请把每个类别的图像放入以类别命名的文件夹。",
)
_NO_CLASSES = Text(
    "The images lie in no class folders, and no table says what they are. Put the images of each class into a folder "
    "of its name, or add a .csv with a column of file names and a column of labels or numbers.",
    "图像不在类别文件夹中，也没有表格说明它们是什么。请把每个类别的图像放入以类别命名的文件夹，或添加一个 .csv，"
    "其中一列为文件名，一列为标签或数值。",
)
_ONLY_SPLITS = Text(
    "The folders {names} look like parts of a split, not like classes, and contain no class folders. Add a .csv with "
    "the label of each image, or name the folders after the classes.",
    "文件夹 {names} 像是数据集的划分，而不是类别，其中也没有类别文件夹。请添加一个含每幅图像标签的 .csv，"
    "或用类别名称命名文件夹。",
)
_POOL = Text(
    "The folders {names} are read together: the validation set is split off here.",
    "文件夹 {names} 合并读取：验证集由本程序划分。",
)
_TEST = Text(
    "The folder {names} is not used: it is left for a test at the end.", "文件夹 {names} 未使用，留作最后的测试。"
)
_SIMILAR = Text(
    "Names of classes that differ only in capitals or spaces: {names}. Are they the same class?",
    "仅大小写或空格不同的类别名称：{names}。它们是同一类别吗？",
)
_EMPTY = Text(
    "Class folders without images are left out: {count} ({names}).",
    "没有图像的类别文件夹已忽略：{count} 个（{names}）。",
)
_LOOSE = Text(
    "Images outside the class folders are left out: {count} ({names}).",
    "类别文件夹之外的图像已忽略：{count} 幅（{names}）。",
)


class _Layout(NamedTuple):
    """Folders with their slashes, relative to the root."""

    tops: tuple[str, ...]
    """Folders that hold the class folders"""
    held_back: tuple[str, ...] = ()
    notes: tuple[Finding, ...] = ()


def _layout(images: tuple[str, ...]) -> _Layout:
    top = wrapping_folder(images)
    parts = [path.removeprefix(top).split("/") for path in images]
    folders = sorted({part[0] for part in parts if len(part) > 1})
    pooled = [name for name in folders if name.casefold() in POOLED]
    held_back = [name for name in folders if name.casefold() in HELD_BACK]
    if not pooled or len(pooled) + len(held_back) < len(folders):
        return _Layout((top,))
    if not any(len(part) > 2 for part in parts if part[0] in pooled):
        raise DataError(finding("only_splits", "stops", _ONLY_SPLITS, folders).text)
    notes = [finding("pooled", "note", _POOL, pooled)] if len(pooled) > 1 else []
    notes += [finding("held_back", "note", _TEST, held_back)] if held_back else []
    return _Layout(
        tuple(f"{top}{name}/" for name in pooled), tuple(f"{top}{name}/" for name in held_back), tuple(notes)
    )


def _similar(classes: tuple[str, ...]) -> list[Finding]:
    alike = defaultdict(list)
    for name in classes:
        alike["".join(name.casefold().split())].append(name)
    pairs = [" = ".join(names) for names in alike.values() if len(names) > 1]
    return [finding("similar_names", "warning", _SIMILAR, pairs)] if pairs else []


def _empty(listing: Listing, tops: tuple[str, ...], filled: dict[str, int]) -> list[Finding]:
    inside = [folder.removeprefix(top) for top in tops for folder in listing.folders if folder.startswith(top)]
    empty = sorted({readable_name(name) for name in inside if "/" not in name} - set(filled))
    return [finding("empty_classes", "warning", _EMPTY, empty)] if empty else []
