"""Scenes of several objects: the place of each class is known, and nothing else reveals it."""

from __future__ import annotations

import hashlib
import itertools

import cv2
import numpy as np
import pytest

from training.pool import NOTHING, ScenePool
from vitexplorer.scenes import STREAMS, draw_scene
from vitexplorer.scenes.several import draw_several
from vitexplorer.scenes.shapes import LABEL_NAMES
from vitexplorer.scenes.streams import KINDS, generators

OUTLINES = {
    "train": "47e742422adbe1e2",
    "validation": "ea23bdcbf2d407c6",
    "test": "47cc1110e24194a5",
    "examples": "e0124a6ec39a44b0",
}
"""Outlines of the first six scenes of one object: shipped models were trained on these, and their cards measure them"""
BRIGHTNESS = {
    "train": [82.1, 50.4, 142.3, 113.6, 188.1, 202.6],
    "validation": [108.1, 134.0, 161.2, 132.8, 136.0, 83.0],
    "test": [135.9, 112.1, 160.5, 124.2, 131.1, 99.7],
    "examples": [80.9, 169.5, 99.4, 121.0, 41.6, 158.6],
}
"""Mean level of the same scenes"""


@pytest.fixture(scope="module")
def scenes():
    return [draw_several("validation", i, 96) for i in range(30)]


def test_scenes_of_one_object_are_what_they_were():
    """Outlines are integers and equal to the bit; colours may round differently elsewhere, to one level."""
    for stream in STREAMS:
        drawn = [draw_scene(stream, i, 96) for i in range(6)]
        outlines = b"".join(scene.mask.tobytes() + bytes([scene.label]) for scene in drawn)
        assert hashlib.sha256(outlines).hexdigest()[:16] == OUTLINES[stream]
        assert [scene.image.mean() for scene in drawn] == pytest.approx(BRIGHTNESS[stream], abs=0.5)


def test_every_stream_kind_and_index_has_generators_of_its_own():
    first = {
        (stream, index, kind): generators(stream, index, 1, kind)[0].integers(2**62)
        for stream, index, kind in itertools.product(STREAMS, range(20), KINDS)
    }
    assert len(set(first.values())) == len(first)


def test_a_scene_is_a_function_of_stream_and_index():
    assert np.array_equal(draw_several("test", 3, 96).image, draw_several("test", 3, 96).image)
    assert not np.array_equal(draw_several("test", 3, 96).image, draw_several("train", 3, 96).image)
    with pytest.raises(ValueError, match="'valid'"):
        draw_several("valid", 0)


def test_objects_are_two_to_four_of_different_classes_and_apart(scenes):
    counts = np.bincount([len(scene.labels) for scene in scenes], minlength=5)
    assert counts[:2].sum() == 0
    assert counts[2:].min() > 4
    labels = np.concatenate([scene.labels for scene in scenes])
    assert np.bincount(labels, minlength=len(LABEL_NAMES)).min() >= 2
    for scene in scenes:
        assert len(set(scene.labels)) == len(scene.labels) == len(scene.masks) == len(scene.boxes)
        assert scene.masks.sum(0).max() == 1
        assert scene.largest == max(range(len(scene.labels)), key=lambda n: np.count_nonzero(scene.masks[n]))
        assert (scene.masks.mean((1, 2)) > 0.003).all()
    places = [scene.framed / (len(scene.labels) - 1) for scene in scenes]
    assert 0.3 < np.mean(places) < 0.7


def test_leaving_out_an_object_changes_it_and_its_shadow_only(scenes):
    changed = []
    for index, scene in enumerate(scenes[:12]):
        number = index % len(scene.labels)
        without = draw_several("validation", index, 96, without=[number])
        assert np.array_equal(without.masks, scene.masks)
        assert without.labels == scene.labels
        difference = np.abs(scene.image.astype(int) - without.image).max(-1)
        changed.append((difference[scene.masks[number]] > 8).mean())
        top, left, bottom, right = scene.boxes[number]
        near = np.zeros_like(scene.masks[0])
        near[max(top - 16, 0) : bottom + 16, max(left - 16, 0) : right + 16] = True
        assert difference[~near].max(initial=0) == 0
    assert np.mean(changed) > 0.85


def test_a_frame_lies_about_its_object_and_not_on_the_others(scenes):
    for index, scene in enumerate(scenes[:12]):
        framed = draw_several("validation", index, 96, framed=True)
        difference = np.abs(scene.image.astype(int) - framed.image).max(-1) > 8
        rows, cols = np.nonzero(difference)
        top, left, bottom, right = scene.boxes[scene.framed]
        assert rows.min() <= top + 6
        assert rows.max() >= bottom - 7
        assert cols.min() <= left + 6
        assert cols.max() >= right - 7


def test_every_fourth_scene_of_a_pool_has_several_objects(tmp_path):
    taken = ScenePool("test", 8, several=True, folder=tmp_path).take(range(8))
    again = ScenePool("test", 8, several=True, folder=tmp_path).take(range(8))
    plain = ScenePool("test", 8).take(range(8))
    assert np.array_equal(taken.classes, again.classes)
    for index, known in enumerate(taken.classes):
        classes = set(np.unique(known)) - {NOTHING}
        assert np.array_equal(known != NOTHING, taken.masks[index])
        if index % 4 == 3:
            scene = draw_several("test", index)
            assert classes == set(scene.labels)
            assert taken.labels[index] == scene.labels[scene.largest]
            assert all((known[mask] == label).all() for mask, label in zip(scene.masks, scene.labels, strict=True))
        else:
            assert np.array_equal(taken.images[index], plain.images[index])
            assert np.array_equal(known, plain.classes[index])


def test_the_content_of_a_scene_is_the_same_at_every_size():
    for index in range(3):
        small, large = draw_several("test", index, 96), draw_several("test", index, 192)
        shrunk = cv2.resize(large.image, (96, 96), interpolation=cv2.INTER_AREA).astype(int)
        assert np.abs(shrunk - small.image).mean() < 8
        assert small.labels == large.labels
