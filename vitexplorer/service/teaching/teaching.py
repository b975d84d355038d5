"""Teaching: a linear probe on the pictures in a visitor's boxes.

Features are computed once for each picture and model, and the probe is fitted when the boxes have changed. Each picture
takes one turn on the model; a picture that is only asked about is not kept.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from vitexplorer.core.cache import BytesCache
from vitexplorer.core.settings import settings
from vitexplorer.core.text import Text
from vitexplorer.service.engine import Engine, Picture
from vitexplorer.service.jobs import Report, Waiting, waiting
from vitexplorer.service.teaching.boxes import Box

if TYPE_CHECKING:
    from vitexplorer.capturing.capture import Capture
    from vitexplorer.core.types import MapResult
    from vitexplorer.finetune.results.baseline import LinearHead
    from vitexplorer.models.loading import LoadedModel

AT_ONCE = 0.7
"""Seconds of work on examples between two progress messages"""
_FEATURES, _PROBES = 32 << 20, 16 << 20
"""Bytes of the two caches"""


class Taught(NamedTuple):
    """The boxes and the model of one request."""

    boxes: tuple[Box, ...]
    model: Picture
    """Name and weights of the model"""

    @property
    def filled(self) -> tuple[Box, ...]:
        """Boxes with pictures: the classes."""
        return tuple(box for box in self.boxes if box.pictures)

    @property
    def examples(self) -> list[Path]:
        """All pictures, box by box."""
        return [path for box in self.filled for path in box.pictures]

    @property
    def labels(self) -> Int[ndarray, " images"]:
        """Index of each example's filled box."""
        return np.repeat(np.arange(len(self.filled)), [len(box.pictures) for box in self.filled])

    def key_of(self, path: Path) -> tuple[str, str, str]:
        """Return the cache key of a picture's feature; the picture's name is a hash of its content."""
        return path.stem, self.model.model, self.model.weights


@dataclass(frozen=True)
class Seen:
    """A picture as the model read it, with its feature and attention."""

    pixels: ndarray
    """uint8 RGB (height, width, 3)"""
    feature: Float[ndarray, " dim"]
    attention: MapResult | None
    """Attention map of the last block; None where it cannot be shown"""
    reading: Text
    """Reading of the attention map, or the reason why there is none"""
    model: Text
    """Name and weights of the model"""


class Teaching:
    """Features and probes for all visitors.

    Its coroutines raise ExplainedError for a model or a picture that cannot be used, and StoppedError where the visitor
    asked for something else.
    """

    def __init__(self, engine: Engine):
        self.engine = engine
        self._features = BytesCache[tuple[str, str, str], ndarray](_FEATURES, lambda feature: feature.nbytes)
        self._probes: BytesCache[tuple, LinearHead] = BytesCache(
            _PROBES, lambda head: sum(part.nbytes for part in vars(head).values())
        )

    async def learn(self, visitor: str, taught: Taught) -> int:
        """Compute features of examples for a while and return how many are left."""
        waiting.set(Waiting(f"teaching {visitor}"))
        until = time.monotonic() + AT_ONCE
        missing = [path for path in taught.examples if self._features.get(taught.key_of(path)) is None]
        for done, path in enumerate(missing, 1):
            key, work = taught.key_of(path), partial(self._look_at_example, taught, path)
            await self.engine.with_model(("example", *key), taught.model, work)
            if time.monotonic() > until:
                return len(missing) - done
        return 0

    def features(self, taught: Taught) -> Float[ndarray, "images dim"]:
        """Stack the features of all examples, which `learn` has computed."""
        return np.stack([self._features.get(taught.key_of(path)) for path in taught.examples])

    def probe(self, taught: Taught) -> LinearHead:
        """Fit the probe for two classes or more, or return the cached one; `learn` has computed the features."""
        from vitexplorer.finetune.probe import fit_probe

        key = tuple(tuple(path.stem for path in box.pictures) for box in taught.filled), taught.model
        return self._probes.get_or_make(key, lambda: fit_probe(self.features(taught), taught.labels))

    async def see(self, visitor: str, model: Picture, path: Path) -> Seen:
        """Run the model on a picture that is asked about."""
        waiting.set(Waiting(f"teaching {visitor}"))
        return await self.engine.with_model(object(), model, partial(_see, path))

    async def left_out(self, visitor: str, taught: Taught) -> Int[ndarray, " images"]:
        """Predict each example by a probe of the others; `learn` has computed the features."""
        from vitexplorer.finetune.probe import leave_one_out

        features, labels = self.features(taught), taught.labels
        self.engine.long.leave(f"scoring {visitor}")
        waiting.set(Waiting(f"scoring {visitor}"))
        return await self.engine.long.run(object(), partial(leave_one_out, features, labels))

    def _look_at_example(self, taught: Taught, path: Path, model: LoadedModel, report: Report) -> None:
        from vitexplorer.finetune.probe import feature_of

        self._features.put(taught.key_of(path), feature_of(_capture(model, path)))


def _capture(model: LoadedModel, path: Path) -> Capture:
    from vitexplorer.capturing.capture import capture
    from vitexplorer.models.images import OpenedImage

    return capture(model, OpenedImage.of(path, max_megapixels=settings().max_megapixels))


def _see(path: Path, model: LoadedModel, report: Report) -> Seen:
    from vitexplorer.core.text import UnsupportedError
    from vitexplorer.finetune.probe import feature_of
    from vitexplorer.views import VIEWS, compute

    capture = _capture(model, path)
    try:
        attention = compute("attention_map", capture)
        reading = VIEWS[attention.view].reading(attention)
    except UnsupportedError as error:
        attention, reading = None, error.text
    name = Text("{model} · {weights}", "{model} · {weights}").format(
        model=capture.model.title, weights=capture.provenance.weights_text
    )
    return Seen(capture.input.pixels, feature_of(capture), attention, reading, name)


def wrong_ones(taught: Taught, predicted: Sequence[int]) -> list[tuple[Box, Path, Box]]:
    """List misclassified examples: true box, picture, predicted box."""
    boxes = taught.filled
    asked = zip(taught.labels, taught.examples, predicted, strict=True)
    return [(boxes[true], path, boxes[int(other)]) for true, path, other in asked if true != other]
