"""Drawn scenes: reproducible, the same at every size, with true masks; only the outline determines the class."""

from __future__ import annotations

import json
from operator import itemgetter

import cv2
import numpy as np
import pytest

from vitexplorer.core.settings import ASSETS
from vitexplorer.scenes import STREAMS, draw_scene
from vitexplorer.scenes.creatures import CLASS_NAMES, Creature
from vitexplorer.scenes.several import draw_several
from vitexplorer.scenes.shapes import LABEL_NAMES, LABEL_NAMES_ZH, SHAPES
from vitexplorer.scenes.worded import COLOURS, draw_worded


@pytest.fixture(scope="module")
def scenes():
    return [draw_scene("validation", i) for i in range(600)]


def test_a_scene_is_a_function_of_stream_and_index():
    once, again = draw_scene("test", 7), draw_scene("test", 7)
    assert np.array_equal(once.image, again.image)
    assert np.array_equal(once.mask, again.mask)
    assert (once.label, once.box) == (again.label, again.box)


def test_streams_and_indices_differ():
    drawn = [draw_scene(stream, i).image.tobytes() for stream in STREAMS for i in range(20)]
    assert len(set(drawn)) == len(drawn)


def test_unknown_stream_is_named():
    with pytest.raises(ValueError, match=r"'valid'.*train, validation, test, examples"):
        draw_scene("valid", 0)


def test_image_mask_label_and_box_are_what_they_say(scenes):
    for scene in scenes[:100]:
        assert scene.image.shape == (192, 192, 3)
        assert scene.image.dtype == np.uint8
        assert scene.mask.shape == (192, 192)
        assert scene.mask.dtype == bool
        top, left, bottom, right = scene.box
        inside = np.zeros_like(scene.mask)
        inside[top:bottom, left:right] = True
        assert not scene.mask[~inside].any()
        assert scene.mask[top].any()
        assert scene.mask[bottom - 1].any()
        assert scene.mask[:, left].any()
        assert scene.mask[:, right - 1].any()


def test_every_class_is_drawn_about_equally_often(scenes):
    counts = np.bincount([scene.label for scene in scenes], minlength=len(LABEL_NAMES))
    assert len(LABEL_NAMES) >= 12
    assert len(LABEL_NAMES_ZH) == len(set(LABEL_NAMES_ZH)) == len(LABEL_NAMES)
    assert counts.min() > 600 / len(LABEL_NAMES) / 2


def test_shapes_stay_in_the_unit_disc_and_fill_a_fair_part_of_it():
    for name, shape in SHAPES.items():
        for seed in range(10):
            specimen = shape(np.random.default_rng(seed))
            for contour in specimen.outline + specimen.details:
                assert np.abs(contour).max() < 1.2, name
            alpha = np.zeros((200, 200), np.uint8)
            cv2.fillPoly(alpha, [np.int32(contour * 80 + 100) for contour in specimen.outline], 1)
            assert 0.1 < alpha.mean() < 0.6, name


def test_the_mask_is_where_the_object_changes_the_picture(scenes):
    """Without the object, pixels of the mask change and pixels far from it and its shadow do not."""
    changed_inside = []
    for i, scene in enumerate(scenes[:60]):
        without = draw_scene("validation", i, with_object=False)
        assert np.array_equal(without.mask, scene.mask)
        difference = np.abs(scene.image.astype(int) - without.image).max(-1)
        changed_inside.append((difference[scene.mask] > 8).mean())
        near = cv2.dilate(scene.mask.astype(np.uint8), np.ones((61, 61))) > 0
        assert difference[~near].max(initial=0) == 0
    # the object lies on clutter of every colour, so that a part of it may by chance be of its ground's colour
    assert np.mean(changed_inside) > 0.9


def test_the_object_is_mostly_seen(scenes):
    areas = np.array([scene.mask.mean() for scene in scenes])
    assert np.mean(areas > 0.02) > 0.99
    assert 0.05 < areas.mean() < 0.15


def test_content_is_the_same_at_every_size():
    moved = []
    for i in range(24):
        small, large = draw_scene("test", i, 192), draw_scene("test", i, 768)
        assert small.label == large.label
        # cv2 fills half a pixel beyond the outline, whatever the size
        assert small.mask.mean() == pytest.approx(large.mask.mean(), abs=0.008)
        moved.append(np.abs(np.array(large.box) / 4 - small.box).max())
        shrunk = cv2.resize(large.image, (192, 192), interpolation=cv2.INTER_AREA).astype(int)
        assert np.abs(shrunk - small.image).mean() < 6
    # a sliver that shows beside an occluder may be thinner than a pixel of the small mask
    assert np.mean(np.array(moved) <= 1.5) > 0.85


def test_neither_colour_nor_place_gives_the_class(scenes):
    """The nearest class mean on colour and place does no better than chance; the same rule on the outline does."""

    def nearest_mean(features: np.ndarray) -> float:
        labels = np.array([scene.label for scene in scenes])
        features = (features - features.mean(0)) / features.std(0)
        known, asked = np.arange(len(labels)) < 400, np.arange(len(labels)) >= 400
        means = np.stack([features[known & (labels == k)].mean(0) for k in range(len(LABEL_NAMES))])
        guess = ((features[asked][:, None] - means) ** 2).sum(-1).argmin(1)
        return float((guess == labels[asked]).mean())

    def easy(scene) -> list[float]:
        mask, (top, left, bottom, right) = scene.mask, scene.box
        inside = scene.image[mask] if mask.any() else scene.image.reshape(-1, 3)
        return [*inside.mean(0), *scene.image.mean((0, 1)), inside.std(), (top + bottom) / 2, (left + right) / 2]

    def outline(scene) -> np.ndarray:
        contours, _ = cv2.findContours(scene.mask.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
        moments = cv2.HuMoments(cv2.moments(max(contours, key=len)))[:, 0]
        return np.sign(moments) * np.log1p(1e4 * np.abs(moments))

    chance = 1 / len(LABEL_NAMES)
    assert nearest_mean(np.array([easy(scene) for scene in scenes])) < chance + 0.09
    seen = [scene for scene in scenes if scene.mask.any()]
    assert len(seen) > 590
    assert nearest_mean(np.array([outline(s) if s.mask.any() else np.zeros(7) for s in scenes])) > 3 * chance


FOLDER = ASSETS / "examples"
ENTRIES = json.loads((FOLDER / "examples.json").read_text(encoding="utf-8"))


def test_examples_are_listed_with_licence_and_source():
    assert len({entry["id"] for entry in ENTRIES}) == len(ENTRIES) >= 9
    for entry in ENTRIES:
        assert all(entry[key] for key in ("file", "title_en", "title_zh", "licence", "source"))
        labels = entry.get("labels", [entry["label"]] if "label" in entry else [])
        known = {"scene": LABEL_NAMES, "creature": CLASS_NAMES, "photograph": ()}[entry["kind"]]
        assert set(labels) <= set(known)
        assert bool(labels) == bool(known)
        assert cv2.imread(str(FOLDER / entry["file"])) is not None
    assert {file.name for file in FOLDER.iterdir()} == {entry["file"] for entry in ENTRIES} | {"examples.json"}
    assert sum(file.stat().st_size for file in FOLDER.iterdir()) < 4e6


@pytest.mark.parametrize("entry", [one for one in ENTRIES if one["kind"] != "photograph"], ids=itemgetter("id"))
def test_example_pictures_are_what_the_code_draws(entry):
    """The files are lossy WebP: equal up to a few levels on average."""
    index = int(entry["source"].split('"examples", ')[1].split(",")[0])
    if entry["kind"] == "creature":
        creature = Creature("examples", index, 768)
        names, drawn = [CLASS_NAMES[creature.label]], creature.render()
    elif "worded" in entry:
        scene = draw_worded("examples", entry["worded"], 768)
        names, drawn = [LABEL_NAMES[thing.shape] for thing in scene.things], scene.image
        assert entry["worded"] == index
        assert [COLOURS[thing.colour] for thing in scene.things] == entry["colours"]
    elif "labels" in entry:
        scene = draw_several("examples", index, 768)
        names, drawn = [LABEL_NAMES[label] for label in scene.labels], scene.image
    else:
        scene = draw_scene("examples", index, 768)
        names, drawn = [LABEL_NAMES[scene.label]], scene.image
    assert names == entry.get("labels", [entry.get("label")])
    saved = cv2.imread(str(FOLDER / entry["file"]))[..., ::-1]
    assert np.abs(saved.astype(int) - drawn).mean() < 3
