"""Which image stands in which row: small Parquet files, written before the first image is opened.

The plan of a survey never changes, whatever happens to the folder meanwhile: an image that vanishes is a row with a
reason, and one that comes later belongs to another survey.
"""

from __future__ import annotations

import logging
import os
import secrets
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from vitexplorer.core.text import Text
from vitexplorer.storage.atomic_writes import permitted, replace_file
from vitexplorer.storage.checked_reading import broken
from vitexplorer.storage.findings import DataError, readable_name
from vitexplorer.survey.card import CARD, Card

MANIFEST, ROWS = "manifest", "rows"
_READERS = 4
"""threads that look at finished files"""
_SMALL = 2**16
"""bytes of a file that is written again to be compared"""
_log = logging.getLogger(__name__)
_SCHEMA = pa.schema([("path", pa.string()), ("label", pa.string()), ("raw", pa.binary())])


class Planned(NamedTuple):
    """One image of the plan."""

    path: str
    """relative to the survey's root where it lies below it, otherwise absolute; as text that can be stored"""
    label: str | None
    raw: bytes | None = None
    """the path's own bytes where they are no UTF-8"""

    def place(self, root: Path, *, inside: bool) -> Path:
        """Where the image lies.

        Args:
            root: that paths are relative to.
            inside: whether it may lie nowhere else, also where a link has taken its place since it was planned.

        Raises DataError where it does.
        """
        place = root / (self.path if self.raw is None else os.fsdecode(self.raw))
        if inside and not os.path.realpath(place).startswith(os.path.join(os.path.realpath(root), "")):
            raise DataError(_OUTSIDE)
        return place


def planned(path: str, label: str | None) -> Planned:
    """A row for a path as the system names it."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return Planned(readable_name(path), label, os.fsencode(path))
    return Planned(path, label)


def shard_name(number: int) -> str:
    """What the files of a shard are called."""
    return f"shard-{number:05d}.parquet"


def rows_file(folder: Path, number: int) -> Path:
    """The file of a shard's rows: it exists as soon as the shard is done."""
    return folder / ROWS / shard_name(number)


def write_manifest(folder: Path, rows: Iterable[Planned], rows_per_shard: int) -> int:
    """Plan a survey: the number of its rows. Raises DiskFullError."""
    for part in (MANIFEST, ROWS):
        (folder / part).mkdir(parents=True, exist_ok=True)
    with permitted(folder):
        for path in (folder / MANIFEST).glob("shard-*.parquet"):  # of a plan that was killed before it was whole
            path.unlink()
    count, waiting = 0, iter(rows)
    for number, shard in enumerate(iter(lambda: list(islice(waiting, rows_per_shard)), [])):
        columns = [list(column) for column in zip(*shard, strict=True)]
        table = pa.table(columns, schema=_SCHEMA)
        replace_file(folder / MANIFEST / shard_name(number), lambda beside, table=table: pq.write_table(table, beside))
        count += len(shard)
    return count


def read_manifest(folder: Path, number: int) -> list[Planned]:
    """The images of a shard in the order of its rows. Raises BrokenFileError where the file is gone or damaged."""
    path = folder / MANIFEST / shard_name(number)
    try:
        columns = pq.read_table(path, schema=_SCHEMA).to_pydict()
    except (OSError, pa.ArrowException):
        raise broken(path, remedy=_REMEDY) from None
    return [Planned(*row) for row in zip(*columns.values(), strict=True)]


def unfinished(folder: Path, card: Card) -> list[int]:
    """The shards of which there is no whole file yet; a damaged one is named in the log and done again."""
    done = {entry.name for entry in os.scandir(folder / ROWS)}
    there = [number for number in range(card.shards) if shard_name(number) in done]
    with ThreadPoolExecutor(_READERS, "check") as threads:
        damaged = {
            number
            for number, whole in zip(there, threads.map(partial(_is_whole, folder, card), there), strict=True)
            if not whole
        }
    for number in sorted(damaged):
        _log.warning("%s", _AGAIN.format(file=shard_name(number), images=card.rows_of(number)).en)
        _make_way(folder, rows_file(folder, number))
    return sorted({*range(card.shards)} - {*there} | damaged)


def _is_whole(folder: Path, card: Card, number: int) -> bool:
    """Whether a file of rows has the rows and columns that were planned, and nothing in it is other than written.

    Parquet's checksums leave out headers and footers. Of a small file these are much: what was read is written again,
    and must give the same bytes where the same library wrote it. A large one would take far longer to write than to
    read.
    """
    try:
        content = rows_file(folder, number).read_bytes()
        with pq.ParquetFile(pa.BufferReader(content), page_checksum_verification=True) as file:
            table, writer = file.read(), file.metadata.created_by
    except (OSError, pa.ArrowException):
        return False
    if len(table) != card.rows_of(number) or table.column_names != [column.key for column in card.columns]:
        return False
    if len(content) > _SMALL:
        return True
    again = _written(table, checksums=True)
    if pq.read_metadata(pa.BufferReader(again)).created_by != writer:
        return True
    return content in (again, _written(table, checksums=False))  # as earlier versions wrote


def write_rows(table: pa.Table, place: Path | pa.NativeFile, *, checksums: bool = True) -> None:
    """A file of rows; each of its pages has a checksum, for a bit that flips in a number shows in nothing else."""
    pq.write_table(table, place, compression="zstd", write_page_checksum=checksums)


def _written(table: pa.Table, *, checksums: bool) -> bytes:
    table = table.cast(pa.schema([field.with_type(_unnamed(field.type)) for field in table.schema]))
    stream = pa.BufferOutputStream()
    write_rows(table, stream, checksums=checksums)
    return stream.getvalue().to_pybytes()


def _unnamed(kind: pa.DataType) -> pa.DataType:
    """A type of lists as it was made: Parquet calls their entries otherwise."""
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(kind.value_type, kind.list_size)
    return pa.list_(kind.value_type) if pa.types.is_list(kind) else kind


def _make_way(folder: Path, path: Path) -> None:
    """A folder in the place of a file keeps its content under another name; a file is replaced as it is."""
    if path.is_dir():
        with permitted(folder):
            path.rename(path.with_name(f"{path.name}.{secrets.token_hex(4)}"))


def clear_halves(folder: Path) -> None:
    """Remove the files that a killed process was writing; one that stands still finds that it may not go on."""
    with permitted(folder):
        for pattern in (*(f"{part}/.*-shard-*.parquet" for part in (MANIFEST, ROWS)), f".*-{CARD}", ".model-*.pt"):
            for path in folder.glob(pattern):
                path.unlink(missing_ok=True)


_AGAIN = Text(
    "rows/{file} is damaged: its {images} images are asked again.",
    "rows/{file} 已损坏：其中 {images} 张图像会重新测量。",
)
_OUTSIDE = Text("It leads out of the folder of the survey.", "该文件指向普查文件夹之外。")
_REMEDY = Text("Delete the folder of the survey and run it again.", "请删除普查文件夹并重新运行。")
