"""Example data for fine-tuning: a folder of drawn scenes, in class folders or with a table of numbers."""

from __future__ import annotations

import csv
import os
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image

from vitexplorer.finetune.data.fresh_folder import fresh_folder
from vitexplorer.scenes.shapes import LABEL_NAMES
from vitexplorer.storage.dataset import Task

if TYPE_CHECKING:
    from vitexplorer.scenes import Scene

NUMBER = "area_percent"
"""Target column of the example table: percentage of the image that the object covers, 0-100"""
_FIRST = 10_000  # earlier scenes serve as example images elsewhere
_QUALITY = 95


def example_folder(
    path: str | os.PathLike, per_class: int = 20, size: int = 192, *, task: Task = "classification"
) -> Path:
    """Write `per_class` scenes of every class, `size` x `size` pixels, into a new folder and return its path.

    Classification: `<class>/<number>.jpg`. Regression: `images/<number>.jpg` and `train.csv` with the columns `image`
    and `NUMBER`. The same arguments give the same files. Raises DataError if the folder cannot be written.
    """
    path = Path(path).expanduser().absolute()
    with fresh_folder(path) as folder:
        rows = []
        for number, scene in scenes_of(LABEL_NAMES, per_class, size, first=_FIRST):
            name = f"{number}.jpg"
            place = LABEL_NAMES[scene.label] if task == "classification" else "images"
            (folder / place).mkdir(exist_ok=True)
            Image.fromarray(scene.image).save(folder / place / name, quality=_QUALITY, subsampling=0)
            rows.append((name, f"{100 * scene.mask.mean():.2f}"))
        if task == "regression":
            with (folder / "train.csv").open("w", encoding="utf-8", newline="") as file:
                csv.writer(file).writerows([("image", NUMBER), *rows])
    return path


def scenes_of(classes: Collection[str], per_class: int, size: int, *, first: int) -> Iterator[tuple[int, Scene]]:
    """Draw scenes in the order of their numbers from `first` until every class is full; surplus scenes are skipped."""
    from vitexplorer.scenes import draw_scene  # imported late: the page starts without OpenCV

    drawn: Counter[str] = Counter()
    number = first
    while drawn.total() < per_class * len(classes):
        scene = draw_scene("examples", number, size)
        name = LABEL_NAMES[scene.label]
        if name in classes and drawn[name] < per_class:
            drawn[name] += 1
            yield number, scene
        number += 1
