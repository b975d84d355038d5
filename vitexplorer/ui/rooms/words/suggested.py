"""Texts that the room Words begins with and suggests; of a worded scene they are known to be true, or not to be."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from vitexplorer.core.text import Language, Text
from vitexplorer.ui.rooms.words.text_maps import MOST
from vitexplorer.ui.rooms.words.truth import worded_scene
from vitexplorer.ui.rooms.words.words import BACKGROUND, EXAMPLE, NO_THING, OBJECT

if TYPE_CHECKING:
    from vitexplorer.capturing.capture import Capture
    from vitexplorer.scenes.sentences import Phrase


def example_texts(capture: Capture, language: Language) -> tuple[str, ...]:
    """Return texts to try: those of a worded scene, names of the model's classes, otherwise the first texts."""
    names = capture.model.class_texts[:MOST]
    texts = (
        texts_of_scene(capture.input.image_hash)
        or [EXAMPLE.format(name=name) for name in names]
        or (OBJECT, BACKGROUND)
    )
    return tuple(text.in_(language) for text in texts[:MOST])


def first_texts(capture: Capture, language: Language) -> tuple[str, ...]:
    """Return the texts that the room begins with: a worded scene's things, or an object, and the background."""
    things = things_of_scene(capture.input.image_hash)
    return tuple(text.in_(language) for text in ((*things, NO_THING) if things else (OBJECT, BACKGROUND)))


@cache
def things_of_scene(image_hash: str) -> tuple[Text, ...]:
    """Return a text for each thing of an example that is a worded scene; none for other images."""
    from vitexplorer.scenes.sentences import with_article

    return tuple(with_article(phrase) for phrase in _phrases(image_hash))


@cache
def texts_of_scene(image_hash: str) -> tuple[Text, ...]:
    """Return texts to try on a worded scene: each thing, two words of the first, and one that is not true."""
    from vitexplorer.scenes.sentences import Phrase, with_article, word
    from vitexplorer.scenes.shapes import LABEL_NAMES

    phrases = _phrases(image_hash)
    if not phrases:
        return ()
    absent = next(name for name in reversed(LABEL_NAMES) if all(name != phrase.shape for phrase in phrases))
    words = [word(part, getattr(phrases[0], part)) for part in ("colour", "shape")]
    return (*things_of_scene(image_hash), *words, with_article(Phrase(absent)))


def _phrases(image_hash: str) -> list[Phrase]:
    from vitexplorer.scenes.sentences import Phrase
    from vitexplorer.scenes.shapes import LABEL_NAMES
    from vitexplorer.scenes.worded import COLOURS

    scene = worded_scene(image_hash)
    return [Phrase(LABEL_NAMES[thing.shape], COLOURS[thing.colour]) for thing in scene.things] if scene else []
