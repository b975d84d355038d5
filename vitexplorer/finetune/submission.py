"""What a tuned model says of a folder of images that nobody has labelled, as a table to hand in."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

from vitexplorer.finetune.attaching import TunedModel
from vitexplorer.finetune.data import DataError, Dataset, Item
from vitexplorer.finetune.data.files import list_files
from vitexplorer.finetune.storing import recipe_in
from vitexplorer.finetune.trainer.objective import Objective
from vitexplorer.finetune.trainer.pixels import PLAIN, PixelFeed
from vitexplorer.models.images import ImageError, open_shrunk
from vitexplorer.settings import settings
from vitexplorer.words import Text

_BATCH = 16
_SHORT_SIDE = 64  # enough to see whether an image can be read

Progress = Callable[[int, int], None]


def submission(tuned: TunedModel, file: str | os.PathLike, folder: str | os.PathLike, progress: Progress) -> str:
    """A .csv with a row for each image below `folder` that can be read, sorted by path.

    Classes: image, label, probability. A number: image, and a column named as the one that was learned.

    Args:
        tuned: the model.
        file: where it is stored: its recipe says what its outputs mean.
        folder: of images.
        progress: told images done and in all; what it raises stops the work.

    Raises DataError where not one image can be read, WeightsError for a file without a recipe.
    """
    root = Path(folder).expanduser().absolute()
    paths = [path for path in sorted(list_files(root).images) if _readable(root / path)]
    if not paths:
        raise DataError(Text("Not one image can be read.", "没有一幅可读取的图像。"))
    objective = Objective(**recipe_in(file)["objective"])
    outputs = _outputs(tuned, objective, Dataset(root, tuple(Item(path, 0) for path in paths), "regression"), progress)
    table = io.StringIO(newline="")
    writer = csv.writer(table, lineterminator="\n")
    names = tuned.class_names
    if objective.task == "regression":
        writer.writerow(["image", names[0] if names and names[0] else "prediction"])
        writer.writerows([path, f"{value:.6g}"] for path, value in zip(paths, outputs.tolist(), strict=True))
    else:
        writer.writerow(["image", "label", "probability"])
        for path, shares in zip(paths, outputs, strict=True):
            best = int(shares.argmax())
            writer.writerow([path, names[best] if names else best, f"{shares[best]:.6f}"])
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
