"""The streams of numbered scenes: what is drawn for one number of one stream is drawn for no other.

A scene's generators are seeded with (version, stream, index, kind) through numpy's SeedSequence, so that the scenes of
two streams, or of two kinds, have nothing in common but the law that they are drawn by.
"""

from __future__ import annotations

import numpy as np

STREAMS = ("train", "validation", "test", "examples")
VERSION = 2
"""Raise it with every change of the drawing of one object: what was trained on the old scenes says so."""
KINDS = ("one object", "several objects", "creature", "suppressor")
"""what can be drawn, each from generators of its own; new kinds come last"""


def generators(stream: str, index: int, count: int, kind: str = KINDS[0]) -> list[np.random.Generator]:
    """One generator for each part of a scene: what one part consumes does not move the others.

    Raises:
        ValueError: no such stream.
    """
    if stream not in STREAMS:
        raise ValueError(f"Unknown stream {stream!r}. Streams are: {', '.join(STREAMS)}.")
    # a trailing 0 is what SeedSequence would fill up with itself: the scenes of one object are seeded as by three words
    seed = np.random.SeedSequence((VERSION, STREAMS.index(stream), index, KINDS.index(kind)))
    return [np.random.default_rng(part) for part in seed.spawn(count)]
