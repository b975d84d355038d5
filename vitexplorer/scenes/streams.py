"""Streams of numbered scenes: no two numbers, and no two streams, give the same scene.

A scene's generators are seeded with (version, stream, index, kind) through numpy's SeedSequence, so that the scenes of
two streams, or of two kinds, have nothing in common but the law that they are drawn by.
"""

from __future__ import annotations

import numpy as np

STREAMS = ("train", "validation", "test", "examples")
VERSION = 2
"""Raise it with every change in drawing one object; model cards state the version that they were trained on"""
KINDS = ("one object", "several objects", "creature", "worded")
"""Kinds of scenes, each with generators of its own; append new ones"""


def generators(stream: str, index: int, count: int, kind: str = KINDS[0]) -> list[np.random.Generator]:
    """Make one generator for each part of a scene, so that no part's draws shift another's.

    Raises:
        ValueError: no such stream.
    """
    if stream not in STREAMS:
        raise ValueError(f"Unknown stream {stream!r}. Streams are: {', '.join(STREAMS)}.")
    # a trailing 0 is what SeedSequence would fill up with itself: the scenes of one object are seeded as by three words
    seed = np.random.SeedSequence((VERSION, STREAMS.index(stream), index, KINDS.index(kind)))
    return [np.random.default_rng(part) for part in seed.spawn(count)]
