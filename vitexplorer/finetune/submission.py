"""What a tuned model says of images that nobody has labelled, as a table to hand in, written like the one it learned.

Kaggle's tables name an image without folder and ending (`Id`), others by its path: whoever trained on a table gets its
columns and its way of writing back.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import numpy as np
import torch

from vitexplorer.core.settings import settings
from vitexplorer.core.text import Progress, Text
from vitexplorer.finetune.attaching import TunedModel
from vitexplorer.finetune.data import Columns, DataError, Dataset, Item, folder_columns, table_columns
from vitexplorer.finetune.job.images import images_root
from vitexplorer.finetune.job.plan import JobConfig
from vitexplorer.finetune.storing import objective_in
from vitexplorer.finetune.training.objective import Objective
from vitexplorer.finetune.training.pixels import PLAIN, PixelFeed
from vitexplorer.models.images import ImageError, open_shrunk
from vitexplorer.storage.image_files import is_image_name, is_table_name, list_files

_BATCH = 16
_SHORT_SIDE = 64  # enough to see whether an image can be read


@dataclass(frozen=True)
class Naming:
    """How a table is headed and how it names an image."""

    image: str = "image"
    """heading of the images"""
    label: str = "label"
    """heading of the classes; a number's is its own name"""
    example: str = "folder/image.jpg"
    """an image as the table writes it"""

    def names(self, paths: Sequence[str]) -> list[str]:
        """Paths, with slashes, as the example is written: with or without folders and ending.

        Whole paths where two would otherwise have one name.
        """
        names = list(paths) if "/" in self.example else [PurePosixPath(path).name for path in paths]
        if not is_image_name(self.example):
            names = [str(PurePosixPath(name).with_suffix("")) for name in names]
        return names if len(set(names)) == len(names) else list(paths)


def naming_of(config: JobConfig, folder: Path) -> Naming:
    """As the table of a training is written; images by their paths where there is none, or where it is gone.

    Args:
        config: of the training.
        folder: its own.
    """
    try:
        columns = _columns(config, folder)
    except DataError:
        columns = None
    if columns is None:
        return Naming()
    image, label = config.image_column or columns.image, config.target_column or columns.target
    example = next((column.example for column in columns.columns if column.name == image), "")
    return Naming(image, label, example or Naming.example)


def _columns(config: JobConfig, folder: Path) -> Columns | None:
    if is_table_name(config.data):
        return table_columns(config.data)
    return folder_columns(images_root(config, folder))


def submission(
    tuned: TunedModel,
    file: str | os.PathLike,
    folder: str | os.PathLike,
    progress: Progress,
    naming: Naming = Naming(),
) -> str:
    """A .csv with a row for each image below `folder` that can be read, sorted by path.

    Classes: image, label, probability. A number: image, and a column named as the one that was learned.

    Args:
        tuned: the model.
        file: where it is stored: its recipe says what its outputs mean.
        folder: of images.
        progress: told images done and in all; what it raises stops the work.
        naming: headings, and how an image is named.

    Raises DataError where not one image can be read, WeightsError for a file without a recipe.
    """
    root = Path(folder).expanduser().absolute()
    paths = [path for path in sorted(list_files(root).images) if _readable(root / path)]
    if not paths:
        raise DataError(Text("Not one image can be read.", "没有一幅可读取的图像。"))
    objective = objective_in(file)
    outputs = _outputs(tuned, objective, Dataset(root, tuple(Item(path, 0) for path in paths), "regression"), progress)
    table = io.StringIO(newline="")
    writer = csv.writer(table, lineterminator="\n")
    names, classes = naming.names(paths), tuned.class_names
    if objective.task == "regression":
        writer.writerow([naming.image, classes[0] if classes and classes[0] else "prediction"])
        writer.writerows([name, f"{value:.6g}"] for name, value in zip(names, outputs.tolist(), strict=True))
    else:
        writer.writerow([naming.image, naming.label, "probability"])
        for name, shares in zip(names, outputs, strict=True):
            best = int(shares.argmax())
            writer.writerow([name, classes[best] if classes else best, f"{shares[best]:.6f}"])
    return table.getvalue()


def _readable(path: Path) -> bool:
    try:
        open_shrunk(path, _SHORT_SIDE, max_megapixels=settings().max_megapixels)
    except ImageError:
        return False
    return True


def _outputs(tuned: TunedModel, objective: Objective, dataset: Dataset, progress: Progress) -> np.ndarray:
    """Probabilities (images, classes), or numbers (images,), of the plain pictures in their order."""
    facts, device = tuned.preprocessing, tuned.device
    feed = PixelFeed(dataset, range(len(dataset)), facts, "none", 0)
    pieces = np.array_split(np.arange(len(dataset)), -(-len(dataset) // _BATCH))
    mean, std = (torch.tensor(x, device=device).view(1, -1, 1, 1) for x in (facts.mean, facts.std))
    found, done = [], 0
    with torch.inference_mode():
        for piece, images in zip(pieces, feed.batches(pieces, PLAIN), strict=True):
            progress(done, len(dataset))
            pixels = images.to(device).float().div_(255).sub_(mean).div_(std)
            found.append(objective.readable(tuned.module(pixels)).cpu().numpy())
            done += len(piece)
    return np.concatenate(found)
