"""Which images are the same or almost the same, so that a split never has one on each side.

Almost the same is a difference hash of 128 bits (after N. Krawetz, "Kind of Like That", 2013: is each of 8 x 8 cells
brighter than its left neighbour, and here also than its upper one) that differs in at most `MOST_DIFFERENT_BITS`.
Measured on 500 drawn scenes: different ones differ in 23 bits and more; copies at a third of the size, in another
aspect, of JPEG quality 50 or with another gamma in at most 5. Of copies that lost 3 % at each edge only a tenth is
found; turned and mirrored ones are not. Flat pictures, where noise alone decides the bits, have no hash.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence

import numpy as np

MOST_DIFFERENT_BITS = 8
_SIDE = 8
_BRIGHTER = 0.5  # of 255: less is rounding
_LEAST_CONTRAST = 2.0  # standard deviation of the cells, of 255

Group = tuple[int, ...]
"""indices of images that belong together, ascending"""


def difference_hash(pixels: np.ndarray) -> bytes:
    """16 bytes of a picture, uint8 RGB (height, width, 3); none for a flat one."""
    import cv2  # here, because the page need not wait for it

    grey = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY).astype(np.float32)
    wide = cv2.resize(grey, (_SIDE + 1, _SIDE), interpolation=cv2.INTER_AREA)
    tall = cv2.resize(grey, (_SIDE, _SIDE + 1), interpolation=cv2.INTER_AREA)
    if wide.std() < _LEAST_CONTRAST:
        return b""
    return np.packbits([np.diff(wide, axis=1) > _BRIGHTER, np.diff(tall, axis=0) > _BRIGHTER]).tobytes()


def exact_groups(digests: Sequence[Hashable]) -> tuple[Group, ...]:
    """Groups of two and more images with the same digest, in the order of their first ones."""
    same = defaultdict(list)
    for i, digest in enumerate(digests):
        same[digest].append(i)
    return tuple(tuple(group) for group in same.values() if len(group) > 1)


def near_groups(hashes: Sequence[bytes]) -> tuple[Group, ...]:
    """Groups of two and more images that hashes of at most `MOST_DIFFERENT_BITS` difference link to each other.

    Every hash is held against every later one, row by row: the memory grows with the images, however alike they are.
    """
    hashed = [i for i, value in enumerate(hashes) if value]
    words, place = np.unique(np.frombuffer(b"".join(hashes), np.uint64).reshape(-1, 2), axis=0, return_inverse=True)
    high, low = np.ascontiguousarray(words.T)
    label = np.arange(len(words))
    for i in range(len(words)):
        bits = np.bitwise_count(high[i:] ^ high[i]) + np.bitwise_count(low[i:] ^ low[i])
        met = np.unique(label[i:][bits <= MOST_DIFFERENT_BITS])
        if len(met) > 1:
            label[np.isin(label, met)] = met[0]
    groups = exact_groups(label[place.ravel()].tolist())
    return tuple(tuple(hashed[i] for i in group) for group in groups)


def together(count: int, links: Sequence[tuple[int, int]]) -> tuple[Group, ...]:
    """All of 0 ... `count` - 1 in groups that `links` tie together, in the order of their first ones."""
    first = list(range(count))

    def root(i: int) -> int:
        while first[i] != i:
            first[i] = first[first[i]]
            i = first[i]
        return i

    for i, j in links:
        low, high = sorted((root(i), root(j)))
        first[high] = low
    groups = defaultdict(list)
    for i in range(count):
        groups[root(i)].append(i)
    return tuple(map(tuple, groups.values()))
