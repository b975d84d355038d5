"""The one caption of a worded scene: every thing with its colour and pattern, from left to right.

Two things are put in relation: the upper one above the other where they lie apart more from top to bottom than from
left to right, otherwise the left one left of the other.
"""

from __future__ import annotations

from collections.abc import Sequence

from vitexplorer.scenes.sentences import Phrase, Sentence, lies, listed, of_nothing, related
from vitexplorer.scenes.shapes import LABEL_NAMES
from vitexplorer.scenes.worded import COLOURS, PATTERNS, Thing


def caption_of(things: Sequence[Thing]) -> Sentence:
    """Return the caption of a scene of these things, "a red gear left of a striped blue fish"."""
    if not things:
        return of_nothing()
    things = sorted(things, key=lambda thing: thing.x)
    if len(things) == 2:
        left, right = things
        upper, lower = sorted(things, key=lambda thing: thing.y)
        is_wide = right.x - left.x >= lower.y - upper.y
        first, relation, second = (left, "left", right) if is_wide else (upper, "above", lower)
        if lies(first, second, relation):
            return related(_phrase(first), relation, _phrase(second))
    return listed([_phrase(thing) for thing in things])


def _phrase(thing: Thing) -> Phrase:
    pattern = PATTERNS[thing.pattern]
    return Phrase(LABEL_NAMES[thing.shape], COLOURS[thing.colour], None if pattern == "plain" else pattern)
