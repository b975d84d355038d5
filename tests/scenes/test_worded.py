"""Worded scenes and the sentences about them: what is drawn is what is said, and no sentence is true by accident."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest

from vitexplorer.models.texts.word_list import WordList
from vitexplorer.scenes.drawn_sentences import drawn_sentence
from vitexplorer.scenes.named_colours import CONTRAST, NAMED_COLOURS
from vitexplorer.scenes.sentences import (
    Phrase,
    Sentence,
    counted,
    is_at,
    lies,
    listed,
    placed,
    related,
    size_of,
    with_article,
    without,
)
from vitexplorer.scenes.shapes import LABEL_NAMES
from vitexplorer.scenes.vocabulary import PLACES, RELATIONS, TABLES, vocabulary
from vitexplorer.scenes.worded import COLOURS, PATTERNS, Thing, draw_worded

GEAR, FISH = LABEL_NAMES.index("gear"), LABEL_NAMES.index("fish")
RED, BLUE = COLOURS.index("red"), COLOURS.index("blue")
STRIPED = PATTERNS.index("striped")
TWO = (Thing(GEAR, RED, STRIPED, 0.2, 0.3, 0.02), Thing(FISH, BLUE, 0, 0.7, 0.3, 0.1))
"""A small striped red gear left of a big plain blue fish"""


@pytest.fixture(scope="module")
def scenes():
    return [draw_worded("validation", index, 96) for index in range(60)]


# ------------------------------------------------------------------------------------------------ scenes


def test_a_scene_is_a_function_of_stream_and_index():
    assert np.array_equal(draw_worded("test", 3, 48).image, draw_worded("test", 3, 48).image)
    assert not np.array_equal(draw_worded("test", 3, 48).image, draw_worded("train", 3, 48).image)
    with pytest.raises(ValueError, match="'valid'"):
        draw_worded("valid", 0)


def test_things_differ_in_shape_and_colour_and_do_not_overlap(scenes):
    assert {len(scene.things) for scene in scenes} == {0, 1, 2, 3, 4}
    for scene in scenes:
        for part in ("shape", "colour"):
            values = [getattr(thing, part) for thing in scene.things]
            assert len(set(values)) == len(values)
        assert scene.masks.sum(0).max(initial=0) <= 1


@pytest.mark.parametrize("count", range(5))
def test_the_number_of_things_can_be_chosen(count):
    assert len(draw_worded("test", 5, 48, count=count).things) == count


def test_facts_are_those_of_the_masks(scenes):
    for scene in scenes:
        for thing, mask in zip(scene.things, scene.masks, strict=True):
            rows, cols = np.nonzero(mask)
            assert thing.area == pytest.approx(len(rows) / 96**2)
            assert (thing.x, thing.y) == pytest.approx(((cols.mean() + 0.5) / 96, (rows.mean() + 0.5) / 96), abs=1e-4)


def test_the_named_colour_is_the_nearest_of_all_on_the_thing(scenes):
    """The median pixel of a plain thing, freed of the lamp by its largest channel, is nearest to its own name's."""
    middles = np.stack([colour.middle for colour in NAMED_COLOURS.values()])
    right = []
    for scene in scenes:
        for thing, mask in zip(scene.things, scene.masks, strict=True):
            if PATTERNS[thing.pattern] == "plain" and mask.sum() > 150:
                distance = np.linalg.norm(middles - np.median(scene.image[mask], 0), axis=1)
                right.append(distance.argmin() == thing.colour)
    assert len(right) > 30
    assert np.mean(right) > 0.85


def test_named_colours_do_not_touch():
    """Every corner of a colour's ranges is nearer to its own middle than to another's, as colours look (OKLab)."""

    def lab(lightness: float, chroma: float, hue: float) -> np.ndarray:
        return np.array([lightness, chroma * np.cos(np.radians(hue)), chroma * np.sin(np.radians(hue))])

    middles = {
        name: lab(*map(np.mean, (colour.lightness, colour.chroma, colour.hue)))
        for name, colour in NAMED_COLOURS.items()
    }
    for name, colour in NAMED_COLOURS.items():
        for corner in itertools.product(colour.lightness, colour.chroma, colour.hue):
            assert min(middles, key=lambda other: np.linalg.norm(middles[other] - lab(*corner))) == name


def test_things_stand_out_from_the_ground(scenes):
    for scene in scenes:
        ground = np.median(scene.image[~scene.masks.any(0)], 0) if len(scene.things) else None
        for thing in scene.things:
            colour = NAMED_COLOURS[COLOURS[thing.colour]].middle
            assert np.linalg.norm(colour - ground) > 0.4 * CONTRAST


# ------------------------------------------------------------------------------------------------ sentences


@pytest.mark.parametrize(
    ("sentence", "en", "zh", "true"),
    [
        (listed([Phrase("gear", "red")]), "a red gear", "一个红色的齿轮", True),
        (listed([Phrase("fish", "red")]), "a red fish", "一条红色的鱼", False),
        (
            listed([Phrase("gear", "red", "striped", "small"), Phrase("fish")]),
            "a small striped red gear and a fish",
            "一个条纹红色的小齿轮和一条鱼",
            True,
        ),
        (listed([Phrase("gear"), Phrase("gear")]), "a gear and a gear", "一个齿轮和一个齿轮", False),
        (listed([Phrase(colour="orange")]), "an orange thing", "一个橙色的东西", False),
        (placed(Phrase("fish"), "right"), "a fish on the right", "右边有一条鱼", True),
        (placed(Phrase("fish"), "top left"), "a fish at the top left", "左上角有一条鱼", False),
        (
            related(Phrase("gear"), "left", Phrase(colour="blue")),
            "a gear left of a blue thing",
            "蓝色的东西左边有一个齿轮",
            True,
        ),
        (related(Phrase("fish"), "left", Phrase("gear")), "a fish left of a gear", "齿轮左边有一条鱼", False),
        (related(Phrase("gear"), "near", Phrase("fish")), "a gear near a fish", "鱼附近有一个齿轮", False),
        (counted(2), "two things", "两个物体", True),
        (counted(1), "one thing", "一个物体", False),
        (without(Phrase("gear"), Phrase("mug")), "a gear and no mug", "一个齿轮，没有杯子", True),
        (without(Phrase("gear"), Phrase("fish")), "a gear and no fish", "一个齿轮，没有鱼", False),
    ],
)
def test_sentences_and_their_truth(sentence: Sentence, en, zh, true):
    assert sentence.text == (en, zh)
    assert sentence.true_of(TWO) is true


@pytest.mark.parametrize(("area", "size"), [(0.02, "small"), (0.05, None), (0.2, "big")])
def test_sizes(area, size):
    assert size_of(Thing(0, 0, 0, 0.5, 0.5, area)) == size


def test_places_and_relations_by_hand():
    thing, other = TWO
    assert [place for place in PLACES if is_at(thing, place)] == ["left", "top", "top left"]
    assert [place for place in PLACES if is_at(Thing(0, 0, 0, 0.55, 0.45, 0.1), place)] == ["middle"]
    assert [relation for relation in RELATIONS if lies(thing, other, relation)] == ["left"]
    assert [relation for relation in RELATIONS if lies(other, thing, relation)] == ["right"]


def test_drawn_sentences_are_true_of_their_scene_and_mostly_false_of_others(scenes):
    rng = np.random.default_rng(0)
    sentences = [drawn_sentence(scene.things, rng) for scene in scenes for _ in range(4)]
    true = np.array([[sentence.true_of(scene.things) for sentence in sentences] for scene in scenes])
    own = np.arange(len(sentences)) // 4
    assert true[own, np.arange(len(sentences))].all()
    assert 0.03 < true.mean() < 0.2


def test_every_word_of_a_drawn_sentence_is_in_the_vocabulary(scenes):
    words, rng = set(vocabulary()), np.random.default_rng(1)
    known = WordList(vocabulary(), first=0)
    used = set()
    for scene in scenes:
        for _ in range(40):
            text = drawn_sentence(scene.things, rng).text
            assert known.split(text.en) == re.findall("[a-z]+", text.en)
            assert "".join(known.split(text.zh)) == re.sub("[，：]", "", text.zh)
            used |= {*known.split(text.en), *known.split(text.zh)}
    assert used <= words
    assert len(used) > 0.95 * len(words)


def test_words_of_a_table_are_different_ones():
    words = [word for table in TABLES.values() for pair in table.values() for language in pair for word in language]
    assert len(set(words)) == len(words)


def test_articles():
    assert with_article(Phrase("arrow")).en == "an arrow"
    assert with_article(Phrase("arrow", "green")).en == "a green arrow"
