"""Small image folders for training: a colour for each class, or a number encoded as brightness."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
from PIL import Image

COLOURS = {"blue": (40, 60, 200), "green": (50, 180, 70), "red": (210, 50, 40)}


def class_folder(path: Path, per_class: int = 8, side: int = 48) -> Path:
    """Write `path`/<colour>/<n>.png: noise around the colour, all different."""
    rng = np.random.default_rng(0)
    for name, colour in COLOURS.items():
        (path / name).mkdir(parents=True)
        for n in range(per_class):
            _save(path / name / f"{n}.png", _blocks(rng, side) * 0.4 + np.array(colour) * 0.6)
    return path


def number_folder(path: Path, images: int = 24, side: int = 48) -> Path:
    """Write `path`/images/<n>.png and `path`/train.csv; the column score, 10 to 90, is the brightness."""
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


def pawpularity_folder(path: Path, images: int = 30, side: int = 48) -> Path:
    """Write Kaggle's layout: train.csv with Id, twelve binary columns, Pawpularity; train/<Id>.jpg; also for test."""
    rng = np.random.default_rng(0)
    marks = ["Subject Focus", "Eyes", "Face", "Near", "Action", "Accessory"]
    marks += ["Group", "Collage", "Human", "Occlusion", "Info", "Blur"]
    rows: dict[str, list[tuple]] = {"train": [], "test": []}
    for side_of, count in (("train", images), ("test", 4)):
        (path / side_of).mkdir(parents=True)
        for _ in range(count):
            name, score = rng.bytes(16).hex(), int(rng.integers(1, 101))
            _save(path / side_of / f"{name}.jpg", _blocks(rng, side) * 0.2 + 2 * score)
            rows[side_of].append((name, *rng.integers(0, 2, len(marks)).tolist(), score))
    tables = {
        "train": [("Id", *marks, "Pawpularity"), *rows["train"]],
        "test": [("Id", *marks), *(row[:-1] for row in rows["test"])],
        "sample_submission": [("Id", "Pawpularity"), *((row[0], 50.0) for row in rows["test"])],
    }
    for name, lines in tables.items():
        with open(path / f"{name}.csv", "w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(lines)
    return path


def _blocks(rng: np.random.Generator, side: int) -> np.ndarray:
    """Draw coarse noise, so that no two images are near duplicates."""
    return rng.integers(0, 256, (8, 8, 3)).repeat(side // 8, 0).repeat(side // 8, 1).astype(float)


def _save(path: Path, pixels: np.ndarray) -> None:
    Image.fromarray(pixels.clip(0, 255).astype(np.uint8)).save(path)
