"""Core function of a survey: images of a shard in, one Parquet file out.

Threads open and fit pictures a few batches ahead of the model, also across the end of a shard, so that neither waits
for the other and memory stays bounded. A batch never mixes shards, so a file depends on its shard alone and is
reproducible. The file is written aside, flushed and renamed: a shard is done if and only if its file exists.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import groupby
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from vitexplorer.capturing.capture import ModelInput, prepare
from vitexplorer.core.out_of_memory import explain_full_memory
from vitexplorer.core.settings import settings
from vitexplorer.core.text import ExplainedError, Text
from vitexplorer.models.images import ImageError, OpenedImage
from vitexplorer.models.loading import LoadedModel
from vitexplorer.storage.atomic_writes import replace_file
from vitexplorer.survey.card import Card, read_card
from vitexplorer.survey.labels import class_of
from vitexplorer.survey.manifest import Planned, read_manifest, rows_file, write_rows
from vitexplorer.survey.question import Values
from vitexplorer.survey.schema import Schema, schema_of

_T = TypeVar("_T")
_U = TypeVar("_U")
BATCHES_AHEAD = 2
"""Batches of images opened ahead of the model; as many may wait for others of their size"""


@dataclass(frozen=True)
class Work:
    """Everything needed to do a shard."""

    folder: Path
    card: Card
    model: LoadedModel
    schema: Schema
    batch_size: int
    threads: int
    """Number of threads that open images"""
    killers: dict[int, dict[int, Text]] = field(default_factory=dict)
    """Shard -> row -> reason, for images that ended a process and are not opened again"""

    @classmethod
    def of(cls, folder: Path, model: LoadedModel, batch_size: int, threads: int, schema: Schema | None = None) -> Work:
        """Make the work of the survey in a folder; `model` is at the survey's size, `schema` is derived if None."""
        card = read_card(folder)
        schema = schema or schema_of(model, tuple(card.questions), card.fit)
        return cls(folder, card, model, schema, batch_size, threads)


def survey_shards(work: Work, numbers: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Do shards one after another; yield (shard, rows) after each batch and (shard, 0) once its file is written.

    Closing the generator stops the work; a half-done shard is then done again later. Raises DiskFullError, and
    BrokenFileError if the manifest is missing or damaged.
    """
    target = lru_cache(2**16)(partial(class_of, model=work.model))
    threads = ThreadPoolExecutor(work.threads, "survey")
    try:
        places = (
            (shard, row, image) for shard in numbers for row, image in enumerate(read_manifest(work.folder, shard))
        )
        opened = _ahead(threads, partial(_open, work), places, BATCHES_AHEAD * work.batch_size)
        for number, images in groupby(opened, key=lambda image: image.shard):
            rows: dict[int, dict[str, Any]] = {}
            for batch in of_one_size(images, work.batch_size, BATCHES_AHEAD):
                targets = [target(image.planned.label) for image in batch]
                for image, values in zip(batch, _answers(work, batch, targets), strict=True):
                    rows[image.row] = image.filled(values)
                yield number, len(batch)
            _write(work, number, [rows[row] for row in sorted(rows)])
            yield number, 0
    finally:
        threads.shutdown(cancel_futures=True)


def try_row(work: Work, number: int, row: int, planned: Planned) -> None:
    """Process one image in this thread and discard the result, to see if the process survives it."""
    _answers(work, [_open(work, (number, row, planned))], [class_of(planned.label, work.model)])


# ------------------------------------------------------------------------------------------------- opening


@dataclass(frozen=True)
class _Opened:
    """Image of the plan, opened and fitted, or the reason why it cannot be."""

    shard: int
    row: int
    planned: Planned
    opened: tuple[int, int, str] | None = None
    """Width and height in pixels and hash of the whole picture"""
    given: ModelInput | None = None
    reason: Text | None = None

    @property
    def size(self) -> tuple[int, ...] | None:
        """Shape of the model's input."""
        return None if self.given is None else tuple(self.given.tensor.shape)

    def filled(self, values: Values | ExplainedError) -> dict[str, Any]:
        """Return the row with the given values."""
        reason = values.text if isinstance(values, ExplainedError) else None
        width, height, digest = self.opened or (None, None, None)
        row = {"path": self.planned.path, "label": self.planned.label, "width": width, "height": height, "hash": digest}
        if reason is not None:
            return row | {"reason": reason.en, "reason_zh": reason.zh}
        return row | dict(values)


def _open(work: Work, place: tuple[int, int, Planned]) -> _Opened:
    shard, row, planned = place
    seen = None
    if row in work.killers.get(shard, ()):
        return _Opened(*place, reason=work.killers[shard][row])
    try:
        with explain_full_memory():
            path = planned.place(Path(work.card.root), inside=work.card.is_of_folder)
            opened = OpenedImage.of(path, max_megapixels=settings().max_megapixels)
            height, width = opened.pixels.shape[:2]
            seen = width, height, opened.hash
            return _Opened(*place, seen, given=prepare(work.model, opened, work.card.fit))
    except ExplainedError as error:
        return _Opened(*place, seen, reason=error.text)


def _ahead(threads: ThreadPoolExecutor, function: Callable[[_T], _U], items: Iterable[_T], count: int) -> Iterator[_U]:
    """Yield `function` of each item in order, computing at most `count` items ahead."""
    begun: deque[Future[_U]] = deque()
    for item in items:
        begun.append(threads.submit(function, item))
        if len(begun) > count:
            yield begun.popleft().result()
    while begun:
        yield begun.popleft().result()


# ------------------------------------------------------------------------------------------------- asking


def of_one_size(images: Iterable[Any], most: int, waiting: int) -> Iterator[list[Any]]:
    """Yield batches of at most `most` images of equal `size`; unreadable ones, of size None, form their own.

    Under fit "native" sizes differ: images of at most `waiting` batches wait for others of their size.
    """
    sizes: dict[tuple[int, ...] | None, list[Any]] = defaultdict(list)
    for image in images:
        sizes[image.size].append(image)
        if len(sizes[image.size]) == most:
            yield sizes.pop(image.size)
        elif sum(map(len, sizes.values())) >= most * waiting:
            yield sizes.pop(max(sizes, key=lambda size: len(sizes[size])))
    yield from sizes.values()


def _answers(work: Work, batch: Sequence[_Opened], targets: Sequence[int | None]) -> Sequence[Values | ExplainedError]:
    """Return the values of images of one size; if memory runs out, process halves of the batch."""
    if batch[0].given is None:
        return [ImageError(image.reason) for image in batch]
    try:
        with explain_full_memory():
            return work.schema.answers(work.schema.captures(work.model, [image.given for image in batch]), targets)
    except ExplainedError as error:
        if len(batch) == 1:
            return [error]
    half = len(batch) // 2
    return [*_answers(work, batch[:half], targets[:half]), *_answers(work, batch[half:], targets[half:])]


def _write(work: Work, number: int, rows: Sequence[dict[str, Any]]) -> None:
    schema = work.schema.arrow
    columns = [pa.array([row.get(field.name) for row in rows], field.type) for field in schema]
    table = pa.table(columns, schema=schema)
    replace_file(rows_file(work.folder, number), lambda beside: write_rows(table, beside))
