"""Texts that the room Words begins with and suggests; of a drawn scene they are known to be true, or not to be."""

from __future__ import annotations

from functools import cache
from itertools import zip_longest
from typing import TYPE_CHECKING

from vitexplorer.core.text import Language, Text
from vitexplorer.models.examples import examples
from vitexplorer.ui.rooms.words.text_maps import MOST
from vitexplorer.ui.rooms.words.words import BACKGROUND, EXAMPLE, NO_THING, OBJECT

if TYPE_CHECKING:
    from vitexplorer.capturing.capture import Capture
    from vitexplorer.scenes.sentences import Phrase


def example_texts(capture: Capture, language: Language) -> tuple[str, ...]:
    """Return texts to try: those of a drawn scene, names of the model's classes, otherwise the first texts."""
    names = capture.model.class_texts[:MOST]
    texts = (
        texts_of_scene(capture.input.image_hash)
        or [EXAMPLE.format(name=name) for name in names]
        or (OBJECT, BACKGROUND)
    )
    return tuple(text.in_(language) for text in texts[:MOST])


def first_texts(capture: Capture, language: Language) -> tuple[str, ...]:
    """Return the texts that the room begins with: a drawn scene's things, or an object, and the background."""
    things = things_of_scene(capture.input.image_hash)
    return tuple(text.in_(language) for text in ((*things, NO_THING) if things else (OBJECT, BACKGROUND)))


@cache
def things_of_scene(image_hash: str) -> tuple[Text, ...]:
    """Return a text for each thing of an example that is a drawn scene; none for other images."""
    from vitexplorer.scenes.sentences import with_article

    return tuple(with_article(phrase) for phrase in _phrases(image_hash))


@cache
def texts_of_scene(image_hash: str) -> tuple[Text, ...]:
    """Return texts to try on a drawn scene: each thing, two words of a coloured one, and one that is not true."""
    from vitexplorer.scenes.sentences import Phrase, with_article, word
    from vitexplorer.scenes.shapes import LABEL_NAMES

    phrases = _phrases(image_hash)
    if not phrases:
        return ()
    absent = next(name for name in reversed(LABEL_NAMES) if all(name != phrase.shape for phrase in phrases))
    words = [word(part, getattr(phrases[0], part)) for part in ("colour", "shape") if phrases[0].colour]
    return (*things_of_scene(image_hash), *words, with_article(Phrase(absent)))


def _phrases(image_hash: str) -> list[Phrase]:
    from vitexplorer.scenes.sentences import Phrase

    example = next((each for each in examples().values() if each.kind == "scene" and each.hash == image_hash), None)
    return [Phrase(*known) for known in zip_longest(example.labels, example.colours)] if example else []
