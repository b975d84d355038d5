"""Paper creatures: any three parts determine the class, and removing a part changes nothing else."""

from __future__ import annotations

import itertools
from dataclasses import replace

import cv2
import numpy as np
import pytest

from training.creature_pool import KINDS, NOTHING, CreaturePool, missing_parts, shared_label
from training.recipes.creatures import RECIPE, windows
from vitexplorer.evaluation.parted import Parted, opposed_classes, shared_parts, sufficient_parts
from vitexplorer.scenes.creatures import CLASSES, PARTS, Creature
from vitexplorer.scenes.paper import fill

SIZE = 96


@pytest.fixture(scope="module")
def creatures():
    return [Creature("validation", index, SIZE) for index in range(8)]


def test_a_creature_is_a_picture_with_parts(creatures):
    for creature in creatures:
        assert isinstance(creature, Parted)
        image = creature.render()
        assert (image.shape, image.dtype) == ((SIZE, SIZE, 3), np.uint8)
        assert list(creature.masks()) == [*creature.background, *PARTS]
        assert 3 <= len(creature.background) <= 6
    assert np.array_equal(creatures[3].render(), Creature("validation", 3, SIZE).render())
    assert not np.array_equal(creatures[3].render(), Creature("test", 3, SIZE).render())


def test_classes_are_words_of_a_code():
    """Two classes share at most two parts; each kind is in three classes; every class has two opposed ones."""
    for one, other in itertools.combinations(range(len(CLASSES)), 2):
        assert len(shared_parts(CLASSES, one, other)) <= 2
    for part, kinds in PARTS.items():
        assert {kind: sum(known[part] == kind for known in CLASSES) for kind in kinds} == dict.fromkeys(kinds, 3)
    for label in range(len(CLASSES)):
        assert opposed_classes(CLASSES, label) is not None
        assert max(map(len, sufficient_parts(CLASSES, label))) <= 3


def test_every_class_is_drawn_about_equally_often():
    counts = np.bincount([Creature("train", index).label for index in range(240)], minlength=len(CLASSES))
    assert counts.min() > 8


def test_the_kinds_of_a_part_look_different():
    """No two outlines of one part overlap by more than nine tenths of their union."""
    for kinds in PARTS.values():
        drawn = [fill([(contour + 1.2) / 2.4 for contour in kind], 200) > 127 for kind in kinds.values()]
        for one, other in itertools.combinations(drawn, 2):
            assert (one & other).sum() < 0.9 * (one | other).sum()


def test_what_is_taken_away_takes_its_shadow_and_nothing_else(creatures):
    changed = []
    for creature in creatures[:4]:
        image, masks = creature.render(), creature.masks()
        assert sum(mask.astype(int) for mask in masks.values()).max() == 1
        for name, mask in masks.items():
            difference = np.abs(image.astype(int) - creature.render(without=[name])).max(-1)
            layer = creature._layers()[name]
            reach = fill(layer.outline, SIZE) > 0
            if layer.shadow:
                reach = cv2.dilate(reach.astype(np.uint8), np.ones((19, 19))) > 0
            assert difference[~reach].max(initial=0) == 0
            if name in PARTS:
                changed.append((difference[mask] > 4).mean())
                assert mask.sum() > 12
    assert np.mean(changed) > 0.85


def test_parts_taken_away_in_any_order_leave_the_same(creatures):
    creature = creatures[0]
    assert np.array_equal(creature.render(["eye", "tail"]), creature.render(["tail", "eye"]))
    empty = creature.render([*PARTS, *creature.background])
    alone = creature.render(creature.background)
    here = np.any([mask for name, mask in creature.masks().items() if name in PARTS], axis=0)
    assert (np.abs(alone.astype(int) - empty).max(-1) > 4)[here].mean() > 0.9


def test_an_unknown_part_is_named(creatures):
    with pytest.raises(ValueError, match=r"no beak\. It has: .*tail, body, pattern, wing, eye"):
        creatures[0].render(["beak"])


# ---------------------------------------------------------------------------------------------- for training


def test_about_half_of_the_creatures_lack_parts():
    gone = [missing_parts(index) for index in range(400)]
    assert 0.3 < np.mean([bool(parts) for parts in gone]) < 0.5
    assert {len(parts) for parts in gone} == set(range(len(PARTS) + 1))


def test_what_is_left_shares_the_label():
    """Labels are shared by all classes that the remaining parts fit: one without a part, all without any."""
    for label, parts in enumerate(CLASSES):
        for part in PARTS:
            assert shared_label(parts, [part]).tolist() == np.eye(len(CLASSES))[label].tolist()
        for left in itertools.combinations(PARTS, 2):
            fits = [all(known[part] == parts[part] for part in left) for known in CLASSES]
            assert shared_label(parts, set(PARTS) - set(left)) == pytest.approx(np.array(fits) / sum(fits))
    assert shared_label(CLASSES[0], PARTS) == pytest.approx(np.full(len(CLASSES), 1 / len(CLASSES)))


def test_the_pool_shows_what_its_pictures_show():
    drawn = CreaturePool("train", 12).take(range(12))
    for index in range(12):
        creature, gone = Creature("train", index, 192), missing_parts(index)
        assert np.array_equal(drawn.images[index], creature.render(gone))
        kinds = {KINDS.index((part, CLASSES[creature.label][part])) for part in PARTS if part not in gone}
        assert set(np.unique(drawn.kinds[index])) == kinds | {NOTHING}


def test_windows_of_creatures_say_what_their_cells_show():
    """Kinds as brightness: the mean of a cell's share-weighted brightness is that of its pixels, up to the gain."""
    drawn = CreaturePool("train", 8).take([1, 4, 5, 6])
    bright = np.where(drawn.kinds == NOTHING, 0, 120).astype(np.uint8)
    images, shares = windows(replace(drawn, images=np.stack([bright] * 3, -1)), np.random.default_rng(0), 16)
    assert shares.shape == (4, 144, len(KINDS) + 1)
    assert np.allclose(shares.sum(-1), 1)
    seen = images.unflatten(2, (12, 16)).unflatten(4, (12, 16)).mean((3, 5)).flatten(2)
    gain = images.amax((2, 3))[..., None]
    assert float((seen / gain - (1 - shares[:, None, :, -1])).abs().max()) < 0.1


def test_the_names_tell_the_classes():
    assert len(set(RECIPE.label_names)) == len(set(RECIPE.label_names_zh)) == len(CLASSES)
    assert (RECIPE.label_names[0], RECIPE.label_names_zh[0]) == ("zigzag round fantail", "锯齿圆身扇尾")
