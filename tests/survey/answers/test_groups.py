"""Groups of alike images: found, named by what most of them are, and their middle image by its slow twin."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from tests.helpers.survey_folder import synthetic_survey, with_columns
from vitexplorer.core.text import SettingError
from vitexplorer.survey.answers import groups as group_module
from vitexplorer.survey.answers import image_groups, in_group
from vitexplorer.survey.opened import Survey, open_survey

SIZES = (20, 12, 8)
"""Images of each group; after them `ALONE` images far from everything"""
ALONE = 3


def features() -> np.ndarray:
    """Draw three tight groups around axes of the space, and images each alone on an axis of its own."""
    rng = np.random.default_rng(0)
    axes = np.eye(8)[[*np.repeat(np.arange(3), SIZES), *range(3, 3 + ALONE)]]
    return axes * 10 + rng.normal(size=axes.shape) * 0.3


def grouped(folder: Path) -> Survey:
    """Make a survey of these images; the first group is predicted as one class, the second has one label."""
    count = sum(SIZES) + ALONE
    synthetic_survey(folder, count, rows_per_shard=128, failed=0)
    predicted = [2] * 15 + [0] * 5 + [number % 4 for number in range(count - 20)]
    labels = ["star"] * 20 + ["gear"] * 9 + ["leaf"] * 3 + [f"odd {number}" for number in range(count - 32)]
    with_columns(
        folder,
        feature_cls=pa.array(features().astype(np.float16).tolist(), pa.list_(pa.float16())),
        predicted=pa.array(predicted, pa.int32()),
        label=pa.array(labels),
    )
    return open_survey(folder)


def middle_of(rows: tuple[int, ...]) -> int:
    """Return the row with the largest cosine to the mean of the unit features."""
    units = []
    for vector in features().astype(np.float16)[list(rows)].astype(float).tolist():
        length = math.sqrt(sum(value * value for value in vector))
        units.append([value / length for value in vector])
    mean = [sum(column) / len(units) for column in zip(*units, strict=True)]
    cosines = [sum(a * b for a, b in zip(unit, mean, strict=True)) for unit in units]
    return rows[cosines.index(max(cosines))]


def test_groups_are_the_dense_regions(tmp_path: Path) -> None:
    survey = grouped(tmp_path / "survey")
    found = image_groups(survey)
    ends = np.cumsum((0, *SIZES))
    assert [group.rows for group in found.groups] == [
        tuple(range(low, high)) for low, high in itertools.pairwise(ends.tolist())
    ]
    assert found.alone == tuple(range(40, 43))
    assert found.compared == 43
    assert [group.middle for group in found.groups] == [middle_of(group.rows) for group in found.groups]
    assert [group.predicted for group in found.groups] == [2, None, None]
    assert [group.label for group in found.groups] == ["star", "gear", None]
    assert in_group(survey, 1).values == tuple(range(20, 32))
    assert in_group(survey, None).values == (40, 41, 42)
    with pytest.raises(SettingError, match="Group 3 does not exist; the number of groups is 3"):
        in_group(survey, 3)


def test_few_images_have_no_groups(tmp_path: Path) -> None:
    for count in (1, 2, 9):
        found = image_groups(open_survey(synthetic_survey(tmp_path / str(count), count, failed=0)))
        assert (found.groups, found.alone, found.compared) == ((), (), count)


def test_a_sample_has_a_note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group_module, "MOST_READ", 30)
    (note,) = image_groups(grouped(tmp_path / "survey")).notes
    assert note.en == "Read from 30 images that were drawn at random out of 43."
