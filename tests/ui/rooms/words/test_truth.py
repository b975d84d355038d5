"""Truth of text maps: what a text means on a worded scene, and where a map points."""

from __future__ import annotations

import numpy as np
import pytest

import vitexplorer as vx
from vitexplorer.core.settings import ASSETS
from vitexplorer.scenes.sentences import Phrase
from vitexplorer.ui.rooms.words.suggested import things_of_scene
from vitexplorer.ui.rooms.words.truth import masks_meant, phrase_of, points_rightly


@pytest.fixture(scope="module")
def captured():
    return vx.capture(vx.load_model("scenes_clip", device="cpu"), ASSETS / "examples" / "scene_blue_mug.webp")


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("a red gear", Phrase("gear", "red")),
        ("一个红色的齿轮", Phrase("gear", "red")),
        ("the small striped cog", Phrase("gear", None, "striped", "small")),
        ("红鱼", Phrase("fish", "red")),
        ("rosy", Phrase(None, "pink")),
        ("a red gear and a blue fish", None),
        ("no gear", None),
        ("没有齿轮", None),
        ("an object", None),
        ("scared bluefish", None),
    ],
)
def test_what_a_text_says_of_one_thing(text, phrase):
    assert phrase_of(text) == phrase


def test_a_text_means_the_one_thing_that_fits(captured):
    things = [text.en for text in things_of_scene(captured.input.image_hash)]
    masks = masks_meant([*things, "a thing"], captured)
    assert all(mask is not None for mask in masks[: len(things)])
    assert len(things) == 3
    assert not np.logical_and(*masks[:2]).any()
    assert masks[-1] is None
    inside = np.stack([mask.ravel().astype(float) for mask in masks[:3]])
    assert masks[0].shape == (12, 12)
    assert points_rightly(inside, masks[:3], captured) == [True] * 3
    assert points_rightly(inside[::-1], masks[:3], captured) == [False, True, False]
    assert points_rightly(inside[:1], [None], captured) == [None]


def test_of_other_images_nothing_is_known():
    captured = vx.capture(vx.load_model("scenes_clip", device="cpu"), ASSETS / "examples" / "scene_gear.webp")
    assert masks_meant(["a gear", "red"], captured) == [None, None]
