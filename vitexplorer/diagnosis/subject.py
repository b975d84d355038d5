"""Subject of a check-up: a model, pictures as they are fed to it, and labels as their owner believes them."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Int
from PIL import Image
from torch import Tensor, nn

from vitexplorer.capturing.capture import prepare
from vitexplorer.core.text import SettingError, Text, same
from vitexplorer.diagnosis.answers import Batch
from vitexplorer.finetune.data import read_folder
from vitexplorer.finetune.data.cells import read_cells
from vitexplorer.models.images import AnyImage, ImageError, OpenedImage
from vitexplorer.models.loading import LoadedModel, load_model
from vitexplorer.models.wrapping import wrap
from vitexplorer.storage.class_folders import HELD_BACK, POOLED, wrapping_folder
from vitexplorer.storage.findings import DataError
from vitexplorer.storage.image_files import is_image_name, list_files

MOST_PICTURES = 512
"""Pictures that are run; of more, every n-th"""
Preprocess = Callable[[Image.Image], Tensor]
Labels = Int[np.ndarray, " images"]
UNKNOWN = -(10**6)
"""Label of a picture whose name is no class of the model"""

_NO_PICTURES = Text("There is no picture in the data.", "数据中没有图像。")
_SHAPE = Text(
    "A check-up takes a float tensor of pictures as the model is fed, with the axes (pictures, 3, height, width); this "
    "one has the shape {shape} and the type {dtype}.",
    "体检需要送入模型的浮点张量，轴为（图像、3、高、宽）；该张量的形状为 {shape}，类型为 {dtype}。",
)
_PREPROCESS = Text(
    "A preprocessing must turn a picture into a float tensor (3, height, width), of one size for all; this one gave "
    "{what}.",
    "预处理须把一幅图像变为浮点张量（3、高、宽），且所有图像尺寸一致；实际得到的是 {what}。",
)
_COUNT = Text(
    "{labels:label was/labels were} given for {pictures:picture}: give one for each.",
    "有 {labels} 个标签，却有 {pictures} 幅图像：请为每幅图像给出一个标签。",
)
_LABELS = Text(
    "Labels are numbers of classes, names of classes, or a .csv with a file name and a label in each row.",
    "标签应为类别编号、类别名称，或每行含文件名与标签的 .csv。",
)
_NOT_DATA = Text(
    "Data are a folder, a list of images, or a float tensor (pictures, 3, height, width); this is {what}.",
    "数据应为文件夹、图像列表或浮点张量（图像、3、高、宽）；这里得到的是 {what}。",
)


@dataclass(frozen=True)
class Subject:
    """A model with what it is fed."""

    model: LoadedModel
    fed: Batch | None = None
    """Pictures as they enter the model today, on the CPU; None without pictures"""
    pictures: tuple[AnyImage, ...] = ()
    """The pictures behind `fed`, in its order; empty where only tensors were given"""
    labels: Labels | None = None
    """Class of each row of `fed` as its owner believes, perhaps no class; `UNKNOWN` for a name that is none"""
    classes: tuple[str, ...] = ()
    """Names of the labels, where the model has no classes of its own"""
    preprocess: Preprocess | None = None
    """The caller's own preprocessing; None for the model's"""
    files: tuple[str, ...] = ()
    """All image files of a folder, relative to `root`"""
    root: Path = Path()
    folders: tuple[str, ...] = ()
    """Name of each file's class folder; empty where files lie in none"""
    splits: tuple[str, ...] = ()
    """Part of the data that each file belongs to, "train", "val", ...; empty without splits"""

    @property
    def num_classes(self) -> int:
        """Number of the model's classes; of a model without any, that of the labels."""
        return self.model.num_classes or len(self.classes)

    @property
    def class_texts(self) -> tuple[Text, ...]:
        """Names of these classes."""
        return tuple(map(same, self.classes)) or self.model.class_texts


def subject_of(model: Any, data: Any = None, labels: Any = None, preprocess: Preprocess | None = None) -> Subject:
    """Read the arguments of `vx.diagnose`.

    Raises:
        SettingError: data, labels or preprocess are of a kind or number that cannot be used.
        DataError: a folder without pictures.
        ImageError: none of the pictures can be opened.
    """
    subject = Subject(model_of(model), preprocess=preprocess)
    if data is None:
        return subject
    if isinstance(data, Tensor):
        return _of_tensor(subject, data, labels)
    if isinstance(data, str | os.PathLike):
        path = Path(data).expanduser()
        if path.is_dir():
            return _of_folder(subject, path, labels)
        return _of_images(subject, [path], labels)
    if isinstance(data, np.ndarray) and data.ndim == 3:
        data = [data]
    if not isinstance(data, Iterable):
        raise SettingError(_NOT_DATA.format(what=type(data).__name__))
    entries = _first(data)
    if entries and _is_batch(entries[0]):
        return _of_batches(subject, entries, labels)
    return _of_images(subject, entries, labels)


def model_of(model: Any) -> LoadedModel:
    """Return a loaded model from one, a name, a path or a module; a module in training mode is copied first."""
    if isinstance(model, LoadedModel):
        return model
    if isinstance(model, nn.Module):
        return wrap(copy.deepcopy(model).eval() if model.training else model)
    return load_model(model)


# ----------------------------------------------------------------------------------------------- kinds of data


def _first(data: Iterable[Any]) -> list[Any]:
    """Return the entries of a list, or of a loader until there are enough pictures."""
    if isinstance(data, Sequence | np.ndarray):
        return list(data)
    entries: list[Any] = []
    pictures = 0
    for entry in data:
        entries.append(entry)
        batch = entry[0] if isinstance(entry, tuple | list) else entry
        pictures += len(batch) if isinstance(batch, Tensor) and batch.ndim == 4 else 1
        if pictures >= MOST_PICTURES:
            break
    return entries


def _is_batch(entry: Any) -> bool:
    return isinstance(entry, Tensor) or (
        isinstance(entry, tuple | list) and bool(entry) and isinstance(entry[0], Tensor)
    )


def _of_batches(subject: Subject, batches: list[Any], labels: Any) -> Subject:
    """Join what a loader gives: tensors, or pairs of pictures and labels."""
    pairs = [batch if isinstance(batch, tuple | list) else (batch,) for batch in batches]
    fed = torch.cat([pair[0] if pair[0].ndim == 4 else pair[0][None] for pair in pairs])
    if labels is None and all(len(pair) > 1 for pair in pairs):
        labels = np.concatenate([np.atleast_1d(np.asarray(pair[1])) for pair in pairs])
    return _of_tensor(subject, fed, labels)


def _of_tensor(subject: Subject, fed: Tensor, labels: Any) -> Subject:
    if fed.ndim != 4 or fed.shape[1] != 3 or not fed.is_floating_point() or not len(fed):
        raise SettingError(_SHAPE.format(shape=tuple(fed.shape), dtype=str(fed.dtype).removeprefix("torch.")))
    chosen = _spread(len(fed))
    numbers, classes = _labels(subject.model, labels, len(fed))
    return replace(_labelled(subject, numbers, classes, chosen), fed=fed.detach().float().cpu()[chosen])


def _of_images(subject: Subject, images: Sequence[AnyImage], labels: Any) -> Subject:
    if not images:
        raise SettingError(_NO_PICTURES)
    names = [Path(image).name for image in images if isinstance(image, str | os.PathLike)]
    numbers, classes = _labels(subject.model, labels, len(images), names if len(names) == len(images) else [])
    chosen = _spread(len(images))
    opened: list[int] = []
    fed: list[Tensor] = []
    problem: ImageError | None = None
    for at in chosen:
        try:
            fed.append(_fed(subject, images[at]))
        except ImageError as error:
            problem = problem or error
        else:
            opened.append(at)
    if problem is not None and not opened:
        raise problem
    if len({tensor.shape for tensor in fed}) > 1:
        raise SettingError(_PREPROCESS.format(what=" / ".join(sorted({str(tuple(each.shape)) for each in fed})[:2])))
    return replace(
        _labelled(subject, numbers, classes, opened), fed=torch.stack(fed), pictures=tuple(images[at] for at in opened)
    )


def _fed(subject: Subject, image: AnyImage) -> Tensor:
    """Return one picture as it enters the model, (3, height, width)."""
    if subject.preprocess is None:
        return prepare(subject.model, image).tensor[0].float().cpu()
    given = subject.preprocess(Image.fromarray(OpenedImage.of(image).pixels))
    if not isinstance(given, Tensor):
        raise SettingError(_PREPROCESS.format(what=type(given).__name__))
    if given.ndim == 4 and len(given) == 1:
        given = given[0]
    if given.ndim != 3 or given.shape[0] != 3 or not given.is_floating_point():
        raise SettingError(_PREPROCESS.format(what=f"{tuple(given.shape)} {given.dtype}"))
    return given.detach().float().cpu()


def _of_folder(subject: Subject, root: Path, labels: Any) -> Subject:
    listing = list_files(root)
    if not listing.images:
        raise DataError(_NO_PICTURES)
    folders, splits = _places(listing.images)
    files = listing.images
    if labels is None and folders:
        labels = list(folders)
    elif labels is None and listing.tables:
        dataset = read_folder(root)
        files = tuple(item.path for item in dataset.items)
        labels = [dataset.classes[int(item.target)] for item in dataset.items] if dataset.classes else None
    read = _of_images(subject, [root / file for file in files], labels)
    return replace(read, files=files, root=root, folders=folders, splits=splits)


def _places(files: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the class folder and the split of each file; empty where not every file has one."""
    top = wrapping_folder(tuple(files))
    parts = [file.removeprefix(top).split("/")[:-1] for file in files]
    splits = [each[0] if each and each[0].casefold() in POOLED | HELD_BACK else "" for each in parts]
    below = [each[1:] if split else each for each, split in zip(parts, splits, strict=True)]
    folders = tuple(each[0] for each in below) if all(below) else ()
    return folders, tuple(splits) if all(splits) and len(set(splits)) > 1 else ()


def _spread(count: int) -> list[int]:
    """Return all numbers below `count`, or `MOST_PICTURES` of them at equal distances."""
    if count <= MOST_PICTURES:
        return list(range(count))
    return np.linspace(0, count - 1, MOST_PICTURES).round().astype(int).tolist()


# ----------------------------------------------------------------------------------------------- labels


def _labels(
    model: LoadedModel, labels: Any, count: int, names: Sequence[str] = ()
) -> tuple[Labels | None, tuple[str, ...]]:
    """Return the class of each picture, `UNKNOWN` for a name of no class; None where nothing is known.

    The second value names the classes of a model that has none: the labels themselves, in order.
    """
    if labels is None:
        return None, ()
    if isinstance(labels, str | os.PathLike):
        labels = _from_table(Path(labels), names)
    if isinstance(labels, Tensor):
        labels = labels.tolist()
    if not isinstance(labels, Sequence | np.ndarray):
        raise SettingError(_LABELS)
    entries = [entry.item() if isinstance(entry, np.generic) else entry for entry in labels]
    if len(entries) != count:
        raise SettingError(_COUNT.format(labels=len(entries), pictures=count))
    are_numbers = all(isinstance(entry, int) and not isinstance(entry, bool) for entry in entries)
    if not are_numbers and not all(isinstance(entry, str) for entry in entries):
        raise SettingError(_LABELS)
    if not model.num_classes:
        unique, numbers = np.unique(entries, return_inverse=True)
        return numbers, tuple(map(str, unique.tolist()))
    return np.array(entries, np.int64) if are_numbers else _by_name(model, entries), ()


def _labelled(subject: Subject, labels: Labels | None, classes: tuple[str, ...], rows: list[int]) -> Subject:
    """Add the labels of these rows; where they are the classes themselves, only those that occur."""
    if labels is None:
        return subject
    if not classes:
        return replace(subject, labels=labels[rows])
    present, numbers = np.unique(labels[rows], return_inverse=True)
    return replace(subject, labels=numbers, classes=tuple(classes[number] for number in present))


def _by_name(model: LoadedModel, names: Sequence[str]) -> Labels | None:
    """Match names of classes, in either language, without regard to case, spaces and underscores."""
    classes = {_key(name): number for number, name in enumerate(model.class_names)}
    classes |= {_key(name): number for number, name in enumerate(model.class_names_zh)}
    numbers = np.array([classes.get(_key(name), UNKNOWN) for name in names], np.int64)
    if (numbers == UNKNOWN).all():
        return None
    return numbers


def _key(name: str) -> str:
    return name.casefold().replace("_", " ").replace("-", " ").strip()


def _from_table(path: Path, names: Sequence[str]) -> list[Any]:
    """Read labels from a table with one row for each picture, by file name."""
    cells = read_cells(path)
    column = next((at for at in range(len(cells.columns)) if all(is_image_name(row[at]) for row in cells.rows)), None)
    if column is None or len(cells.columns) < 2 or not names:
        raise SettingError(_LABELS)
    other = next(at for at in range(len(cells.columns)) if at != column)
    by_file = {Path(row[column]).name: row[other].strip() for row in cells.rows}
    given = [by_file.get(name, "") for name in names]
    return [int(label) for label in given] if all(label.lstrip("-").isdigit() for label in given) else given
