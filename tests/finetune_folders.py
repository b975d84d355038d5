"""Small folders of images to train on: squares of a colour for each class, or a number that the brightness tells."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
from PIL import Image

COLOURS = {"blue": (40, 60, 200), "green": (50, 180, 70), "red": (210, 50, 40)}


def class_folder(path: Path, per_class: int = 8, side: int = 48) -> Path:
    """`path`/<colour>/<n>.png: noise around the colour; no two alike."""
    rng = np.random.default_rng(0)
    for name, colour in COLOURS.items():
        (path / name).mkdir(parents=True)
        for n in range(per_class):
            _save(path / name / f"{n}.png", _blocks(rng, side) * 0.4 + np.array(colour) * 0.6)
    return path


def number_folder(path: Path, images: int = 24, side: int = 48) -> Path:
    """`path`/images/<n>.png and `path`/train.csv with the column score: 10 to 90, the brightness."""
    rng = np.random.default_rng(0)
    (path / "images").mkdir(parents=True)
    rows = []
    for n in range(images):
        score = 10 + 80 * n / (images - 1)
        _save(path / "images" / f"{n}.png", _blocks(rng, side) * 0.2 + 2 * score)
        rows.append((f"{n}.png", f"{score:.2f}"))
    with open(path / "train.csv", "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("image", "score"), *rows])
    return path


def _blocks(rng: np.random.Generator, side: int) -> np.ndarray:
    """Coarse noise, so that no two images are near duplicates."""
    return rng.integers(0, 256, (8, 8, 3)).repeat(side // 8, 0).repeat(side // 8, 1).astype(float)


def _save(path: Path, pixels: np.ndarray) -> None:
    Image.fromarray(pixels.clip(0, 255).astype(np.uint8)).save(path)
