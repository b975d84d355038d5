"""Sentences about worded scenes in English and Chinese, each with its meaning, so that it can be held against a scene.

A sentence is true of a scene if each of its phrases fits a thing of its own and what it says of place, relation, number
and absence holds. Functions that make sentences take the usual words, or with `rng` any of the words for a thing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from vitexplorer.core.text import Text
from vitexplorer.scenes.shapes import LABEL_NAMES
from vitexplorer.scenes.vocabulary import ABSENCES, EMPTY, FRAMES, MEASURES, NUMBERS, PLACES, RELATIONS, TABLES, THINGS
from vitexplorer.scenes.worded import BIG, COLOURS, PATTERNS, SMALL, Thing

T = TypeVar("T")
Rng = np.random.Generator | None
_LEFT, _RIGHT = 0.42, 0.58
"""x of what is left and right, y of what is at the top and at the bottom"""
_MIDDLE = 0.14
"""Largest distance from the middle, in x and in y, of what is in the middle"""
_NEAR = 0.35
"""Largest difference of x and of y between two things that are near"""
_APART = 0.1
"""Least difference of x or y between two things of which one is beside or above the other"""


@dataclass(frozen=True)
class Phrase:
    """Attributes of one thing; None leaves one open."""

    shape: str | None = None
    colour: str | None = None
    pattern: str | None = None
    size: str | None = None

    def fits(self, thing: Thing) -> bool:
        """Return True if the thing is as it says."""
        return (
            self.shape in (None, LABEL_NAMES[thing.shape])
            and self.colour in (None, COLOURS[thing.colour])
            and self.pattern in (None, PATTERNS[thing.pattern])
            and self.size in (None, size_of(thing))
        )


@dataclass(frozen=True)
class Sentence:
    """A sentence and its meaning."""

    text: Text
    phrases: tuple[Phrase, ...] = ()
    place: str | None = None
    """Place of the first phrase's thing, of `PLACES`"""
    relation: str | None = None
    """Relation of the first phrase's thing to the second's, of `RELATIONS`"""
    count: int | None = None
    """Number of things in the whole picture"""
    absent: Phrase | None = None
    """Attributes that no thing of the picture has"""

    def true_of(self, things: Sequence[Thing]) -> bool:
        """Return True if it holds for a scene of these things."""
        if self.count is not None and len(things) != self.count:
            return False
        if self.absent is not None and any(self.absent.fits(thing) for thing in things):
            return False
        return any(
            (self.place is None or is_at(chosen[0], self.place))
            and (self.relation is None or lies(chosen[0], chosen[1], self.relation))
            for chosen in _chosen(things, self.phrases)
        )


def _chosen(things: Sequence[Thing], phrases: Sequence[Phrase]) -> Iterator[tuple[Thing, ...]]:
    """Yield every choice of one thing for each phrase that it fits, no thing twice."""
    if not phrases:
        yield ()
        return
    for at, thing in enumerate(things):
        if phrases[0].fits(thing):
            rest = [*things[:at], *things[at + 1 :]]
            yield from ((thing, *others) for others in _chosen(rest, phrases[1:]))


def size_of(thing: Thing) -> str | None:
    """Return "small", "big" or, in between, None."""
    return "small" if thing.area < SMALL else "big" if thing.area > BIG else None


def is_at(thing: Thing, place: str) -> bool:
    """Return True if a thing's middle is at a place of `PLACES`."""
    if place == "middle":
        return max(abs(thing.x - 0.5), abs(thing.y - 0.5)) < _MIDDLE
    sides = {"left": thing.x < _LEFT, "right": thing.x > _RIGHT, "top": thing.y < _LEFT, "bottom": thing.y > _RIGHT}
    return all(sides[side] for side in place.split())


def lies(thing: Thing, other: Thing, relation: str) -> bool:
    """Return True if a thing lies as `RELATIONS` says to another one."""
    if relation == "near":
        return max(abs(thing.x - other.x), abs(thing.y - other.y)) < _NEAR
    beyond = {"left": other.x - thing.x, "right": thing.x - other.x}
    beyond |= {"above": other.y - thing.y, "below": thing.y - other.y}
    return beyond[relation] > _APART


# ------------------------------------------------------------------------------------------------ making


def one_of(words: Sequence[T], rng: Rng) -> T:
    """Draw one of the words; the first without `rng`."""
    return words[0] if rng is None else words[int(rng.integers(len(words)))]


def word(part: str, value: str, rng: Rng = None) -> Text:
    """Return a word for a value of a phrase's part."""
    return Text(*(one_of(words, rng) for words in TABLES[part][value]))


def noun_phrase(phrase: Phrase, rng: Rng = None) -> Text:
    """Say a phrase without an article, "small striped red gear"."""
    values = {part: getattr(phrase, part) for part in TABLES}
    words = {part: word(part, value, rng) for part, value in values.items() if value is not None}
    words.setdefault("shape", Text("thing", "东西"))
    english = [words[part].en for part in ("size", "pattern", "colour", "shape") if part in words]
    before, after = (
        "".join(words[part].zh for part in parts if part in words)
        for parts in (("pattern", "colour"), ("size", "shape"))
    )
    return Text(" ".join(english), f"{before}的{after}" if before else after)


def with_article(phrase: Phrase, rng: Rng = None) -> Text:
    """Say a phrase with "a" or "an" before it, in Chinese with a number and the noun's measure word."""
    text = noun_phrase(phrase, rng)
    measure = MEASURES.get(phrase.shape, "个")
    return Text(f"{'an' if text.en[0] in 'aeiou' else 'a'} {text.en}", f"一{measure}{text.zh}")


def _in(frame: Text, text: Text) -> Text:
    return Text(frame.en.replace("{}", text.en), frame.zh.replace("{}", text.zh))


def of_nothing(rng: Rng = None) -> Sentence:
    """Say that nothing is in the picture."""
    return Sentence(one_of(EMPTY, rng), count=0)


def listed(phrases: Sequence[Phrase], rng: Rng = None) -> Sentence:
    """Say "a red gear and a blue fish"; with `rng` within a frame such as "a photo of"."""
    frame = one_of(FRAMES, rng)
    things = Text(" and ", "和").join(with_article(phrase, rng) for phrase in phrases)
    return Sentence(_in(frame, things), tuple(phrases))


def placed(phrase: Phrase, place: str, rng: Rng = None) -> Sentence:
    """Say "a red gear on the left"."""
    where = one_of(PLACES[place], rng)
    text = with_article(phrase, rng)
    return Sentence(Text(f"{text.en} {where.en}", f"{where.zh}有{text.zh}"), (phrase,), place=place)


def related(phrase: Phrase, relation: str, other: Phrase, rng: Rng = None) -> Sentence:
    """Say "a red gear left of a blue fish"."""
    where = one_of(RELATIONS[relation], rng)
    first, second = with_article(phrase, rng), with_article(other, rng)
    text = Text(f"{first.en} {where.en} {second.en}", f"{second.zh[2:]}{where.zh}有{first.zh}")
    return Sentence(text, (phrase, other), relation=relation)


def counted(number: int, rng: Rng = None) -> Sentence:
    """Say "two things"."""
    noun = one_of(range(len(THINGS[0])), rng)
    english, chinese = (words[noun] for words in THINGS)
    text = Text(f"{NUMBERS[number].en} {english if number != 1 else english[:-1]}", f"{NUMBERS[number].zh}{chinese}")
    return Sentence(text, count=number)


def without(phrase: Phrase, absent: Phrase, rng: Rng = None) -> Sentence:
    """Say "a red gear and no fish"."""
    frame = one_of(ABSENCES, rng)
    text, rest = with_article(phrase, rng), _in(frame, noun_phrase(absent, rng))
    return Sentence(Text(f"{text.en} {rest.en}", f"{text.zh}，{rest.zh}"), (phrase,), absent=absent)
