"""Paper creatures for training: half of them whole, half without some parts, with a label of the classes left.

Protocols that remove parts test a model on pictures unlike whole creatures, so training includes such pictures too
(FunnyBirds, Hesse et al. 2023, arXiv 2308.06248). Their label is shared evenly by all classes that have the remaining
parts.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from training.pool import SIZE, Pool
from vitexplorer.scenes import VERSION
from vitexplorer.scenes.creatures import CLASSES, PARTS, Creature

KINDS = tuple((part, kind) for part, kinds in PARTS.items() for kind in kinds)
"""Kinds of pixels of a creature: (part, kind of the part)"""
NOTHING = len(KINDS)
"""Index for pixels without a creature"""
TAKEN_APART = 0.5
"""Share of the creatures that lack parts"""


@dataclass(frozen=True)
class Creatures:
    """Some creatures at 192 x 192 pixels."""

    images: np.ndarray
    """(creatures, height, width, 3) uint8 RGB"""
    kinds: np.ndarray
    """(creatures, height, width) uint8, index into `KINDS` of the part seen at each pixel, or `NOTHING`"""
    labels: np.ndarray
    """(creatures, classes) float32, rows sum to 1"""

    def __len__(self) -> int:
        """Count the creatures."""
        return len(self.labels)


class CreaturePool(Pool):
    """Creatures 0 ... count - 1 of a stream."""

    def __init__(self, stream: str, count: int, *, folder: Path | None = None):
        """Use the creatures of a `stream`, stored in a `folder` (None: memory)."""
        super().__init__(f"creatures_v{VERSION}_{stream}_{count}", stream, count, folder)
        self._images = self.room("images", (SIZE, SIZE, 3), np.uint8)
        self._kinds = self.room("shown", (SIZE, SIZE), np.uint8)
        self._labels = self.room("labels", (len(CLASSES),), np.float32)

    def take(self, chosen: np.ndarray | Sequence[int]) -> Creatures:
        """Copy the chosen creatures."""
        chosen = self.drawn(chosen)
        return Creatures(self._images[chosen], self._kinds[chosen], self._labels[chosen])

    def draw(self, index: int) -> None:
        """Draw one creature, without the parts that this number lacks."""
        creature = Creature(self.stream, index, SIZE)
        gone = missing_parts(index)
        self._images[index] = creature.render(gone)
        self._kinds[index] = visible_kinds(creature, gone)
        self._labels[index] = shared_label(CLASSES[creature.label], gone)


def missing_parts(index: int) -> frozenset[str]:
    """Choose the parts that creature number `index` lacks: half of them lack each part with one random chance."""
    rng = np.random.default_rng((index, 0xC4EA))
    chance = rng.uniform() if rng.uniform() < TAKEN_APART else 0.0
    return frozenset(part for part in PARTS if rng.uniform() < chance)


def visible_kinds(creature: Creature, gone: Collection[str]) -> np.ndarray:
    """Compute the index into `KINDS` of the part at each pixel, (size, size) uint8; `NOTHING` where there is none."""
    kinds = np.full((creature.size, creature.size), NOTHING, np.uint8)
    for part, mask in creature.masks(gone).items():
        if part in PARTS:
            kinds[mask] = KINDS.index((part, creature.classes[creature.label][part]))
    return kinds


def shared_label(parts: Mapping[str, str], gone: Collection[str]) -> np.ndarray:
    """Compute the label, (classes,) float32: equal for all classes with the remaining parts, 0 for the others."""
    left = {part: kind for part, kind in parts.items() if part not in gone}
    fits = np.array([left.items() <= dict(known).items() for known in CLASSES], np.float32)
    return fits / fits.sum()
