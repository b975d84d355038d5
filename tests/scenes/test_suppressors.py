"""Suppressor scenes: the square sheet has no class information and yet improves the answer; the round one has it."""

from __future__ import annotations

import numpy as np
import pytest

from vitexplorer.scenes.suppressors import LAMP, SIGNAL, draw_suppressed


@pytest.fixture(scope="module")
def scenes():
    return [draw_suppressed("validation", index, 48) for index in range(120)]


def levels(scene) -> tuple[float, float]:
    return tuple(float(scene.image[mask].mean()) for mask in (inside(scene.informative), inside(scene.suppressor)))


def inside(mask: np.ndarray) -> np.ndarray:
    """Return the mask without its rim, whose pixels are partly ground."""
    return mask & np.roll(mask, 1, 0) & np.roll(mask, -1, 0) & np.roll(mask, 1, 1) & np.roll(mask, -1, 1)


def right(guess: np.ndarray, labels: np.ndarray) -> float:
    return float(((guess > 0) == labels).mean())


def test_only_the_round_sheet_depends_on_the_class():
    for index in range(6):
        dark, light = (draw_suppressed("test", index, 96, label=label) for label in (0, 1))
        differs = (dark.image != light.image).any(-1)
        assert np.array_equal(dark.informative, light.informative)
        assert not (differs & ~dark.informative).any()
        assert (inside(dark.informative) <= differs).all()
        rise = light.image[dark.informative].astype(int) - dark.image[dark.informative]
        assert np.median(rise) == rise.max() == 2 * SIGNAL  # less at the rim, which is partly ground


def test_only_the_sheets_depend_on_the_lamp():
    one, other = (draw_suppressed("test", 3, 96, lamp=lamp) for lamp in (-20, 20))
    differs = (one.image != other.image).any(-1)
    assert not (one.informative & one.suppressor).any()
    assert not (differs & ~(one.informative | one.suppressor)).any()
    assert (inside(one.suppressor) <= differs).all()


def test_the_square_sheet_says_nothing_alone_and_mends_the_answer(scenes):
    """By the two levels alone, against the normal distribution worked out: P(noise < signal) = 0.716."""
    labels = np.array([scene.label for scene in scenes], bool)
    round_, square = np.array([levels(scene) for scene in scenes]).T
    assert 0.4 < labels.mean() < 0.6
    assert abs(np.corrcoef(labels, square)[0, 1]) < 0.2
    assert right(square - 128, labels) == pytest.approx(0.5, abs=0.13)
    assert right(round_ - 128, labels) == pytest.approx(0.716, abs=0.13)
    assert right(round_ - square, labels) == 1.0
    assert np.std([scene.lamp for scene in scenes]) == pytest.approx(LAMP, rel=0.2)


def test_a_scene_is_a_function_of_stream_and_index(scenes):
    assert np.array_equal(draw_suppressed("validation", 3, 48).image, scenes[3].image)
    assert not np.array_equal(draw_suppressed("test", 3, 48).image, scenes[3].image)
