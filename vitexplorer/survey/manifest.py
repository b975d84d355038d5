"""Manifest: the image of each row, in small Parquet files that are written before the first image is opened.

The plan of a survey never changes, even if the folder does: an image that vanishes becomes a row with a reason, and a
new image belongs to another survey.
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
"""Threads that check finished files"""
_SMALL = 2**16
"""Limit in bytes for files that are rewritten for comparison"""
_log = logging.getLogger(__name__)
_SCHEMA = pa.schema([("path", pa.string()), ("label", pa.string()), ("raw", pa.binary())])


class Planned(NamedTuple):
    """Image of the plan."""

    path: str
    """Path as storable text, relative to the survey's root if it lies below it, otherwise absolute"""
    label: str | None
    raw: bytes | None = None
    """Bytes of the path if they are not UTF-8"""

    def place(self, root: Path, *, inside: bool) -> Path:
        """Return the full path of the image; relative paths are below `root`.

        Raises DataError if it must lie `inside` and does not, as if a link has replaced it since it was planned.
        """
        place = root / (self.path if self.raw is None else os.fsdecode(self.raw))
        if inside and not os.path.realpath(place).startswith(os.path.join(os.path.realpath(root), "")):
            raise DataError(_OUTSIDE)
        return place


def planned(path: str, label: str | None) -> Planned:
    """Make a row for a path as the system names it."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return Planned(readable_name(path), label, os.fsencode(path))
    return Planned(path, label)


def shard_name(number: int) -> str:
    """Return the file name of a shard."""
    return f"shard-{number:05d}.parquet"


def rows_file(folder: Path, number: int) -> Path:
    """Return the path of a shard's rows; the file exists once the shard is done."""
    return folder / ROWS / shard_name(number)


def write_manifest(folder: Path, rows: Iterable[Planned], rows_per_shard: int) -> int:
    """Write the plan of a survey and return the number of its rows. Raises DiskFullError."""
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
    """Read the images of a shard in row order. Raises BrokenFileError if the file is missing or damaged."""
    path = folder / MANIFEST / shard_name(number)
    try:
        columns = pq.read_table(path, schema=_SCHEMA).to_pydict()
    except (OSError, pa.ArrowException):
        raise broken(path, remedy=_REMEDY) from None
    return [Planned(*row) for row in zip(*columns.values(), strict=True)]


def unfinished(folder: Path, card: Card) -> list[int]:
    """List the shards without a complete file; a damaged one is logged and done again."""
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
    """Return True if a file has the planned rows and columns and is undamaged.

    Parquet's checksums do not cover headers and footers, a large part of a small file. A small file is therefore
    written again and must give the same bytes, if the same library wrote it. For a large file this would take far
    longer than reading.
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
    """Write a file of rows. Each page has a checksum, since nothing else would reveal a flipped bit in a number."""
    pq.write_table(table, place, compression="zstd", write_page_checksum=checksums)


def _written(table: pa.Table, *, checksums: bool) -> bytes:
    table = table.cast(pa.schema([field.with_type(_unnamed(field.type)) for field in table.schema]))
    stream = pa.BufferOutputStream()
    write_rows(table, stream, checksums=checksums)
    return stream.getvalue().to_pybytes()


def _unnamed(kind: pa.DataType) -> pa.DataType:
    """Return a list type with its original entry name, which Parquet changes."""
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(kind.value_type, kind.list_size)
    return pa.list_(kind.value_type) if pa.types.is_list(kind) else kind


def _make_way(folder: Path, path: Path) -> None:
    """Rename a folder that takes the place of a file; a file will be replaced."""
    if path.is_dir():
        with permitted(folder):
            path.rename(path.with_name(f"{path.name}.{secrets.token_hex(4)}"))


def clear_halves(folder: Path) -> None:
    """Remove partial files of killed processes; a suspended process no longer has permission to write on."""
    with permitted(folder):
        for pattern in (*(f"{part}/.*-shard-*.parquet" for part in (MANIFEST, ROWS)), f".*-{CARD}", ".model-*.pt"):
            for path in folder.glob(pattern):
                path.unlink(missing_ok=True)


_AGAIN = Text(
    "rows/{file} is damaged: its {images:image is/images are} asked again.",
    "rows/{file} 已损坏：其中 {images} 幅图像会重新测量。",
)
_OUTSIDE = Text("It leads out of the folder of the survey.", "该文件指向普查文件夹之外。")
_REMEDY = Text("Delete the folder of the survey and run it again.", "请删除普查文件夹并重新运行。")
