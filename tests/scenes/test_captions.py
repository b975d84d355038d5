"""Captions of worded scenes: true of them, in one order, with words that the captioner has."""

from __future__ import annotations

import pytest

from vitexplorer.models.texts.word_list import WordList
from vitexplorer.scenes.captions import caption_of
from vitexplorer.scenes.vocabulary import vocabulary
from vitexplorer.scenes.worded import Thing, draw_worded


@pytest.mark.parametrize("index", range(24))
def test_a_caption_is_true_and_names_every_thing(index):
    things = draw_worded("validation", index).things
    caption = caption_of(things)
    assert caption.true_of(things)
    assert len(caption.phrases) == len(things)
    known = WordList(vocabulary(), first=0)
    for language in ("en", "zh"):
        assert known.tokens(caption.text.in_(language))


GEAR, FISH, STAR = (
    {"shape": shape, "colour": colour, "pattern": pattern}
    for shape, colour, pattern in ((8, 0, 0), (10, 4, 1), (3, 2, 0))
)


@pytest.mark.parametrize(
    ("places", "caption"),
    [
        ([], "nothing"),
        ([(GEAR, 0.5, 0.5)], "a red gear"),
        ([(GEAR, 0.8, 0.5), (FISH, 0.2, 0.4)], "a striped blue fish left of a red gear"),
        ([(GEAR, 0.5, 0.8), (FISH, 0.4, 0.2)], "a striped blue fish above a red gear"),
        ([(GEAR, 0.5, 0.5), (FISH, 0.45, 0.45)], "a striped blue fish and a red gear"),
        (
            [(GEAR, 0.9, 0.5), (STAR, 0.5, 0.1), (FISH, 0.1, 0.2)],
            "a striped blue fish and a yellow star and a red gear",
        ),
    ],
)
def test_things_are_named_from_left_to_right(places, caption):
    things = [Thing(**facts, x=x, y=y, area=0.05) for facts, x, y in places]
    assert caption_of(things).text.en == caption
