"""Sentences drawn at random that are true of a scene; short ones more often."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vitexplorer.scenes.sentences import (
    Phrase,
    Sentence,
    counted,
    is_at,
    lies,
    listed,
    of_nothing,
    one_of,
    placed,
    related,
    size_of,
    with_article,
    without,
    word,
)
from vitexplorer.scenes.several import MOST
from vitexplorer.scenes.shapes import LABEL_NAMES
from vitexplorer.scenes.vocabulary import PLACES, RELATIONS
from vitexplorer.scenes.worded import COLOURS, PATTERNS, Thing

_KINDS = {"word": 0.22, "things": 0.43, "place": 0.1, "relation": 0.1, "number": 0.1, "absence": 0.05}
"""Probability of each kind of sentence; one that the scene does not allow becomes one of things"""


def drawn_sentence(things: Sequence[Thing], rng: np.random.Generator) -> Sentence:
    """Draw a sentence that is true of a scene of these things."""
    things = [things[at] for at in rng.permutation(len(things))]
    if not things:
        return of_nothing(rng)
    kind = rng.choice(list(_KINDS), p=list(_KINDS.values()))
    if kind == "word":
        return _word(things[0], rng)
    if kind == "place":
        phrase, places = _phrase(things[0], rng), [place for place in PLACES if is_at(things[0], place)]
        return placed(phrase, one_of(places, rng), rng) if places else listed([phrase], rng)
    if kind == "relation" and len(things) > 1:
        phrases = [_phrase(thing, rng) for thing in things[:2]]
        relations = [relation for relation in RELATIONS if lies(things[0], things[1], relation)]
        return related(phrases[0], one_of(relations, rng), phrases[1], rng) if relations else listed(phrases, rng)
    if kind == "number" and len(things) <= MOST:
        return counted(len(things), rng)
    if kind == "absence" and len(things) <= MOST:
        missing = [shape for number, shape in enumerate(LABEL_NAMES) if all(thing.shape != number for thing in things)]
        return without(_phrase(things[0], rng), Phrase(shape=one_of(missing, rng)), rng)
    some = things[: int(rng.integers(1, min(len(things), MOST) + 1))]
    return listed([_phrase(thing, rng) for thing in some], rng)


def _word(thing: Thing, rng: np.random.Generator) -> Sentence:
    """Draw a single word for the shape, the colour or, rarely, the pattern."""
    part = rng.choice(["shape", "colour", "pattern"], p=(0.45, 0.45, 0.1))
    values = {"shape": LABEL_NAMES[thing.shape], "colour": COLOURS[thing.colour], "pattern": PATTERNS[thing.pattern]}
    phrase = Phrase(**{part: values[part]})
    with_noun = part == "shape" and rng.uniform() < 0.4
    return Sentence(with_article(phrase, rng) if with_noun else word(part, values[part], rng), (phrase,))


def _phrase(thing: Thing, rng: np.random.Generator) -> Phrase:
    shape, colour, pattern, size = rng.uniform(size=4) < (0.85, 0.8, 0.25, 0.25)
    return Phrase(
        LABEL_NAMES[thing.shape] if shape or not (colour or pattern) else None,
        COLOURS[thing.colour] if colour else None,
        PATTERNS[thing.pattern] if pattern else None,
        size_of(thing) if size else None,
    )
