"""Splits keep groups and classes whole, and follow their seed and names."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.helpers.image_folders import refused
from vitexplorer.core.text import SettingError
from vitexplorer.finetune.data import Dataset, Item, split


def random_dataset(seed: int) -> Dataset:
    """Classes or numbers, groups of one to four, in random order."""
    random = np.random.default_rng(seed)
    count, classes = int(random.integers(4, 120)), int(random.integers(1, 9))
    if seed % 2:
        items = tuple(Item(f"{i}.png", int(random.integers(classes))) for i in range(count))
        names = tuple(map(str, range(classes)))
    else:
        items, names = tuple(Item(f"{i}.png", float(random.normal())) for i in range(count)), ()
    groups = tuple(int(g) for g in random.integers(0, count, count)) if random.random() < 0.7 else None
    return Dataset(Path(), items, "classification" if seed % 2 else "regression", names, groups=groups)


@pytest.mark.parametrize("seed", range(40))
def test_a_split_holds_what_it_promises(seed):
    dataset, share = random_dataset(seed), (0.1, 0.2, 0.5)[seed % 3]
    sides = split(dataset, seed, share)
    assert sorted(sides.train + sides.validation) == list(range(len(dataset)))
    assert sides == split(dataset, seed, share)
    assert min(len(sides.train), len(sides.validation)) > 0
    groups = dataset.groups or range(len(dataset))
    assert not {groups[i] for i in sides.train} & {groups[i] for i in sides.validation}
    if dataset.groups is None and dataset.classes:
        held = np.bincount(dataset.targets[list(sides.validation)], minlength=len(dataset.classes))
        for all_of_class, held_of_class in zip(dataset.counts, held, strict=True):
            expected = min(max(round(share * all_of_class), 1), all_of_class - 1) if all_of_class else 0
            assert held_of_class == expected


def test_a_split_follows_its_seed_and_its_names_not_their_order():
    dataset = random_dataset(1)
    assert len({split(dataset, seed).validation for seed in range(5)}) == 5
    order = np.random.default_rng(0).permutation(len(dataset)).tolist()
    names = {dataset.items[i].path for i in split(dataset, 3).validation}
    shuffled = dataset.only(order)
    if dataset.groups is None:
        assert {shuffled.items[i].path for i in split(shuffled, 3).validation} == names
    assert len({shuffled.digest, dataset.digest}) == 2


def test_the_numbers_of_a_regression_are_alike_on_both_sides():
    numbers = np.random.default_rng(0).gamma(1.0, 20.0, 1000)
    dataset = Dataset(Path(), tuple(Item(f"{i}.png", float(n)) for i, n in enumerate(numbers)), "regression")
    for seed in range(10):
        held = dataset.targets[list(split(dataset, seed).validation)]
        assert len(held) == 200
        assert np.abs(np.quantile(held, [0.1, 0.3, 0.5, 0.7, 0.9]) / np.quantile(numbers, [0.1, 0.3, 0.5, 0.7, 0.9]) - 1).max() < 0.25  # fmt: skip  # noqa: E501


@pytest.mark.parametrize("share", [0, 1, -0.1, 20])
def test_a_share_that_is_none_is_refused(share):
    with pytest.raises(SettingError, match=str(share)):
        split(random_dataset(1), 0, share)


def test_images_that_are_all_one_group_cannot_be_split():
    items = tuple(Item(f"{i}.png", i % 2) for i in range(6))
    refused(split, Dataset(Path(), items, "classification", ("a", "b"), groups=(0,) * 6))
    refused(split, Dataset(Path(), (Item("a.png", 0), Item("b.png", 1)), "classification", ("a", "b")))
