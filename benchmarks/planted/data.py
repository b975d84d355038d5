"""Faults in a data set: copies, leaks, imbalance, pictures of another kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from PIL import Image

from benchmarks.planted.case import Case, Fault
from benchmarks.planted.pairs import PHOTOGRAPHS
from vitexplorer.core.settings import ASSETS


def _copied(case: Case, rng: np.random.Generator) -> Case:
    again = rng.choice(len(case.pictures), max(3, len(case.pictures) // 10), replace=False)
    return case.only([*range(len(case.pictures)), *again])


def _leaking(case: Case, rng: np.random.Generator) -> Case:
    """Write the pictures into the class folders of two splits, with some of the first in the second too, as JPEG."""
    folder = TemporaryDirectory()
    split_at = 3 * len(case.pictures) // 4
    again = rng.choice(split_at, 5, replace=False)
    for at, (picture, label) in enumerate(zip(case.pictures, case.labels, strict=True)):
        splits = ["train" if at < split_at else "val", *(["val"] if at in again else [])]
        for number, split in enumerate(splits):
            place = Path(folder.name, split, case.model.class_names[label] if case.model.num_classes else f"{label:02}")
            place.mkdir(parents=True, exist_ok=True)
            Image.fromarray(picture).save(place / (f"{at}.jpg" if number else f"{at}.png"))
    return replace(case, folder=folder)


def _imbalanced(case: Case, rng: np.random.Generator) -> Case:
    """Keep one picture of each class but the commonest, whose pictures are moved to have more of them."""
    common = max(set(case.labels), key=case.labels.count)
    first = {label: case.labels.index(label) for label in set(case.labels) - {common}}
    few = case.only([at for at, label in enumerate(case.labels) if label == common or first[label] == at])
    own = [picture for picture, label in zip(few.pictures, few.labels, strict=True) if label == common]
    more = [np.roll(picture, (41 * times, 67 * times), (0, 1)) for picture in own for times in (1, 2, 3)]
    return replace(few, pictures=(*few.pictures, *more), labels=(*few.labels, *[common] * len(more)))


def _photographed(case: Case, rng: np.random.Generator) -> Case | None:
    """Put parts of photographs in place of the drawn pictures, under the same labels."""
    if case.model.provenance.weights != "bundled":
        return None
    photographs = [np.asarray(Image.open(ASSETS / "examples" / f"{name}.png").convert("RGB")) for name in PHOTOGRAPHS]
    parts = []
    for at, picture in enumerate(case.pictures):
        photograph, side = photographs[at % len(photographs)], picture.shape[0]
        top, left = (int(rng.integers(0, length - side)) for length in photograph.shape[:2])
        parts.append(photograph[top : top + side, left : left + side])
    return replace(case, pictures=tuple(parts))


DATA: Mapping[str, tuple[Fault, ...]] = {
    "leak_between_splits": (_leaking,),
    "duplicates": (_copied,),
    "imbalanced": (_imbalanced,),
    "unlike_training_data": (_photographed,),
}
"""Ways to plant each cause, mild before gross"""
