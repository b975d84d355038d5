"""Prediction table of a tuned model for unlabelled images, with the columns of the table it was trained on.

Kaggle's tables name an image without folder and suffix (`Id`), others by its path: the predictions follow the headings
and the naming of the training table.
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
from vitexplorer.finetune.data import DataError, Dataset, Item, folder_columns, table_columns
from vitexplorer.finetune.job.images import images_root
from vitexplorer.finetune.job.plan import JobConfig
from vitexplorer.finetune.storing import objective_in
from vitexplorer.finetune.training.objective import Objective
from vitexplorer.finetune.training.pixels import PLAIN, PixelFeed, normaliser
from vitexplorer.models.images import ImageError, open_shrunk
from vitexplorer.storage.image_files import is_image_name, is_table_name, list_files

_BATCH = 16
_SHORT_SIDE = 64  # enough to see whether an image can be read


@dataclass(frozen=True)
class Naming:
    """Headings of a table and its way of naming images."""

    image: str = "image"
    """Heading of the image column"""
    label: str = "label"
    """Heading of the class column; a regression uses the name of its target"""
    example: str = "folder/image.jpg"
    """Example of an image name in the table"""

    def names(self, paths: Sequence[str]) -> list[str]:
        """Write paths (with slashes) like the example: with or without folders and suffix.

        Whole paths if two images would otherwise share a name.
        """
        names = list(paths) if "/" in self.example else [PurePosixPath(path).name for path in paths]
        if not is_image_name(self.example):
            names = [str(PurePosixPath(name).with_suffix("")) for name in names]
        return names if len(set(names)) == len(names) else list(paths)


def naming_of(config: JobConfig, folder: Path) -> Naming:
    """Return the naming of a training's table; images by their paths if there is no table or it is gone."""
    try:
        is_table = is_table_name(config.data)
        columns = table_columns(config.data) if is_table else folder_columns(images_root(config, folder))
    except DataError:
        columns = None
    if columns is None:
        return Naming()
    image, label = config.image_column or columns.image, config.target_column or columns.target
    return Naming(image, label, columns.examples.get(image) or Naming.example)


def submission(
    tuned: TunedModel, file: str | os.PathLike, folder: str | os.PathLike, progress: Progress, naming: Naming = Naming()
) -> str:
    """Write a .csv with a row for each readable image below `folder`, sorted by path.

    Classification: image, label, probability. Regression: image and a column named like the training target.

    The recipe in the model's `file` holds the objective. An exception from `progress` stops the work.

    Raises DataError if no image can be read, WeightsError for a file without an objective.
    """
    root = Path(folder).expanduser().absolute()
    paths = [path for path in sorted(list_files(root).images) if _readable(root / path)]
    if not paths:
        raise DataError(Text("Not one image can be read.", "没有一幅可读取的图像。"))
    objective = objective_in(file)
    outputs = _outputs(tuned, objective, Dataset(root, tuple(Item(path, 0) for path in paths), "regression"), progress)
    table = io.StringIO(newline="")
    writer = csv.writer(table, lineterminator="\n")
    names = naming.names(paths)
    classes = tuned.class_names
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
    """Compute probabilities (images, classes) or predicted values (images,) of the unaugmented images, in order."""
    feed = PixelFeed(dataset, range(len(dataset)), tuned.preprocessing, "none", 0)
    normalise = normaliser(tuned.preprocessing, tuned.device)
    pieces = np.array_split(np.arange(len(dataset)), -(-len(dataset) // _BATCH))
    outputs = []
    done = 0
    with torch.inference_mode():
        for piece, images in zip(pieces, feed.batches(pieces, PLAIN), strict=True):
            progress(done, len(dataset))
            outputs.append(objective.readable(tuned.module(normalise(images))).cpu().numpy())
            done += len(piece)
    return np.concatenate(outputs)
