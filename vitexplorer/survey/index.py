"""Index: the scalar columns of all finished shards in one DuckDB file, so that queries need not read lists.

A survey of ten million images is thousands of Parquet files and gigabytes of lists, but filters use a few numbers per
row. The file lies in `index/`; its name holds digests of its shards and a checksum of itself. It never changes, many
processes may read it at once, a newer index starts as a copy of it, and it may be deleted at any time. A damaged index
is rebuilt from the shards. If the folder is not writable, the file goes to a temporary folder. Floats are not
compressed: that would save a tenth of the space and make queries a third slower.
"""

from __future__ import annotations

import atexit
import hashlib
import logging
import os
import re
import secrets
import shutil
import tempfile
import time
import zlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from vitexplorer.core.text import Text
from vitexplorer.survey.card import SurveyError
from vitexplorer.survey.columns import Kind, kind_of, quoted

VERSION = 3
"""Version of the table; an index of another version is not reused"""
MEMORY = "1GB"
THREADS = max(1, min(4, os.cpu_count() or 1))
LIMITS = {"memory_limit": MEMORY, "threads": THREADS}
TOGETHER = 256
"""Number of files read by one statement"""
FORGOTTEN = 3600
"""Seconds after which an unfinished file is considered abandoned"""
SHARD = re.compile(r"shard-(\d{1,9})\.parquet", re.ASCII)
BROKEN = Text(
    "{file} cannot be read, its rows are left out. Run the survey again: its images are asked again.",
    "无法读取 {file}，其中的行未计入。请重新运行普查，这些图像会重新测量。",
)
MADE_AGAIN = Text(
    "The index of the survey was damaged and has been made again from its rows.",
    "普查的索引已损坏，现已根据各行重新生成。",
)
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Shard:
    """Finished file of rows."""

    number: int
    path: Path
    size: int
    """Size in bytes"""
    changed: int
    """Modification time in nanoseconds since 1970"""


@dataclass(frozen=True)
class Index:
    """Existing index. Its table `rows` has the scalar columns and `row`, the number of each row in the survey.

    That number is the shard's number times the rows per shard, plus the place in the shard.
    """

    path: Path
    kinds: dict[str, Kind]
    """Kinds of all columns of the shards, lists too, in their order"""
    shards: tuple[tuple[int, int], ...]
    """(number, rows) of each shard, in the order of the table"""
    broken: tuple[int, ...]
    """Numbers of the shards that cannot be read"""
    is_made_again: bool = False
    """True if it replaces a damaged index"""


def shards_in(folder: Path) -> list[Shard]:
    """List the finished shards of a survey by number."""
    shards = []
    with suppress(FileNotFoundError), os.scandir(folder / "rows") as entries:
        for entry in entries:
            if (match := SHARD.fullmatch(entry.name)) and entry.is_file(follow_symlinks=False):
                stat = entry.stat()
                shards.append(Shard(int(match[1]), Path(entry.path), stat.st_size, stat.st_mtime_ns))
    return sorted(shards, key=lambda shard: shard.number)


def index_of(folder: Path, most_rows: int) -> Index:
    """Return the index of the shards that are finished now; build it, from the last one if possible, if there is none.

    A file of more than `most_rows` does not belong to this survey. Raises SurveyError if no index can be written.
    """
    shards = shards_in(folder)
    held = [(shard.number, shard.size, shard.changed) for shard in shards]
    name = f"{VERSION}-{_digest(f'{duckdb.__version__} {held}')}"
    beside, temporary = folder / "index", _temporary() / _digest(str(folder.resolve()))
    homes = (temporary,) if beside.is_symlink() else (beside, temporary)  # never tidy the target of a link
    damaged = False
    for home in homes:
        for path in _entries(home, f"{name}-*.duckdb"):
            if (index := _read(path)) is not None:
                return index
            damaged = True
            _discard(path)
    if damaged:
        _log.warning("%s (%s)", MADE_AGAIN.en, folder)
    reason: Exception | None = None
    for home in homes:
        try:
            home.mkdir(parents=True, exist_ok=True)
            return replace(_make(home, name, shards, most_rows), is_made_again=damaged)
        except (OSError, duckdb.IOException) as error:
            reason = error
    raise SurveyError(
        Text(
            "The survey {folder} cannot be read: no index of it could be written ({reason}).",
            "无法查询普查 {folder}：未能写入其索引（{reason}）。",
        ).format(folder=folder, reason=reason)
    )


@cache
def _temporary() -> Path:
    """Make a folder of this process that is removed when it ends."""
    folder = Path(tempfile.mkdtemp(prefix="vitexplorer-survey-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _digest(words: str) -> str:
    return hashlib.sha256(words.encode(errors="surrogateescape")).hexdigest()[:24]


# ---------------------------------------------------------------------------------------------------------- made


def _make(home: Path, name: str, shards: Sequence[Shard], most_rows: int) -> Index:
    beside = home / f"{secrets.token_hex(8)}.part"
    try:
        shards = _begin(beside, home, shards)
        with duckdb.connect(str(beside), config=LIMITS) as con:
            _add(con, shards, most_rows)
        made = home / f"{name}-{_checksum(beside):08x}.duckdb"
        beside.replace(made)
    finally:
        beside.unlink(missing_ok=True)
        Path(f"{beside}.wal").unlink(missing_ok=True)
    _tidy(home, made.name)
    index = _read(made)
    if index is None:
        raise OSError(f"{made} cannot be read")
    return index


def _begin(beside: Path, home: Path, shards: Sequence[Shard]) -> list[Shard]:
    """Copy the newest index whose shards all still exist, and return the shards that it lacks."""
    there = {(shard.number, shard.size, shard.changed) for shard in shards}
    for other in sorted(_entries(home, f"{VERSION}-*.duckdb"), key=_changed, reverse=True):
        if not _is_whole(other):
            continue
        try:
            with duckdb.connect(str(other), read_only=True, config=LIMITS) as con:
                held = set(con.execute("SELECT number, size, changed FROM shards").fetchall())
            if held and held <= there:
                shutil.copyfile(other, beside)
                return [shard for shard in shards if (shard.number, shard.size, shard.changed) not in held]
        except (duckdb.Error, OSError):
            continue
    return list(shards)


def _add(con: duckdb.DuckDBPyConnection, shards: Sequence[Shard], most_rows: int) -> None:
    """Add shards and their rows to the database."""
    con.execute("CREATE TABLE IF NOT EXISTS shards (number BIGINT, size BIGINT, changed BIGINT, count BIGINT)")
    con.execute("CREATE TABLE IF NOT EXISTS columns (name VARCHAR, kind VARCHAR)")
    kinds = dict(con.execute("SELECT name, kind FROM columns").fetchall())
    whole: list[tuple[Shard, int]] = []
    for shard in shards:
        schema, count = _outline(shard)
        if not kinds and schema is not None:
            kinds = {field.name: kind_of(field.type) for field in schema}
            con.executemany("INSERT INTO columns VALUES (?, ?)", list(kinds.items()))
            con.execute(f"CREATE TABLE rows ({', '.join(_typed(schema))})")
        if schema is None or count > most_rows or {field.name: kind_of(field.type) for field in schema} != kinds:
            _hold(con, shard, None)
        else:
            whole.append((shard, count))
    for first in range(0, len(whole), TOGETHER):
        some = whole[first : first + TOGETHER]
        if not _insert(con, some, kinds, most_rows):
            for shard, count in some:
                if not _insert(con, [(shard, count)], kinds, most_rows):
                    _hold(con, shard, None)
    if not kinds:
        con.execute("CREATE TABLE IF NOT EXISTS rows (row BIGINT)")


def _hold(con: duckdb.DuckDBPyConnection, shard: Shard, count: int | None) -> None:
    con.execute("INSERT INTO shards VALUES (?, ?, ?, ?)", [shard.number, shard.size, shard.changed, count])


def _outline(shard: Shard) -> tuple[pa.Schema | None, int]:
    """Return the schema of a shard and its number of rows; None and 0 if it cannot be read."""
    try:
        with pq.ParquetFile(shard.path, page_checksum_verification=True) as file:
            schema = file.schema_arrow
            file.read(columns=[field.name for field in schema if kind_of(field.type) != "list"])
            return schema, file.metadata.num_rows
    except (pa.ArrowException, OSError):
        return None, 0


SQL_TYPES = {
    "bool": "BOOLEAN",
    "number": "FLOAT USING COMPRESSION uncompressed",
    "integer": "BIGINT",
    "text": "VARCHAR",
}
WIDTHS = {8: "TINYINT", 16: "SMALLINT", 32: "INTEGER", 64: "BIGINT"}


def _typed(schema: pa.Schema) -> list[str]:
    """Return the columns of the table with their SQL types."""
    typed = ["row BIGINT"]
    for field in schema:
        kind = kind_of(field.type)
        if kind != "list":
            sql = WIDTHS[field.type.bit_width] if kind == "integer" else SQL_TYPES[kind]
            typed.append(f"{quoted(field.name)} {sql}")
    return typed


def _insert(
    con: duckdb.DuckDBPyConnection, shards: Sequence[tuple[Shard, int]], kinds: dict[str, Kind], most_rows: int
) -> bool:
    """Insert the rows of shards in this order; insert nothing and return False if one cannot be read."""
    names = ", ".join(quoted(name) for name, kind in kinds.items() if kind != "list")
    files = [_unglobbed(str(shard.path)) for shard, _ in shards]
    con.begin()
    try:
        con.execute(
            rf"""INSERT INTO rows (row, {names})
            SELECT regexp_extract(filename, 'shard-(\d+)[.]parquet$', 1)::BIGINT * ? + file_row_number, {names}
            FROM read_parquet(?, filename = true, file_row_number = true)""",
            [most_rows, files],
        )
        for shard, count in shards:
            _hold(con, shard, count)
    except duckdb.Error:
        con.rollback()
        return False
    con.commit()
    return True


def _unglobbed(path: str) -> str:
    """Escape a path so that DuckDB does not take it for a pattern."""
    return re.sub(r"[*?\[]", r"[\g<0>]", path)


def _changed(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _tidy(home: Path, keep: str) -> None:
    """Remove older indexes (processes that read one keep it open) and abandoned files."""
    for path in home.iterdir():
        old = path.suffix == ".duckdb" and path.name != keep
        left = ".part" in path.suffixes and _changed(path) < time.time() - FORGOTTEN
        if old or left:
            with suppress(OSError):
                path.unlink()


# ---------------------------------------------------------------------------------------------------------- read


def _entries(home: Path, pattern: str) -> list[Path]:
    """List the files of a folder that match a pattern; none if it cannot be read."""
    try:
        return list(home.glob(pattern))
    except OSError:
        return []


def _checksum(path: Path) -> int:
    """Compute the CRC-32 of a file; DuckDB itself would notice damage only when reading it, by an error or a crash."""
    checksum = 0
    with path.open("rb") as file:
        while part := file.read(1 << 20):
            checksum = zlib.crc32(part, checksum)
    return checksum


def _is_whole(path: Path) -> bool:
    """Return True if an index matches the checksum in its name."""
    try:
        return path.is_file() and path.stem.endswith(f"-{_checksum(path):08x}")
    except OSError:
        return False


def _discard(path: Path) -> None:
    """Remove a damaged index."""
    with suppress(OSError):
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


def _read(path: Path) -> Index | None:
    """Read an index; None if it is missing or damaged."""
    if not _is_whole(path):
        return None
    try:
        with duckdb.connect(str(path), read_only=True, config=LIMITS) as con:
            kinds = dict(con.execute("SELECT name, kind FROM columns").fetchall())
            held = con.execute("SELECT number, count FROM shards ORDER BY rowid").fetchall()
    except duckdb.Error:
        return None
    whole = tuple((number, count) for number, count in held if count is not None)
    return Index(path, kinds, whole, tuple(number for number, count in held if count is None))


def connect(*indexes: Index) -> duckdb.DuckDBPyConnection:
    """Open a database in memory with the index attached read-only as `held` (a second one as `held_1`).

    Its queries cannot reach any other file.
    """
    con = duckdb.connect(":memory:", config=LIMITS | {"temp_directory": str(_temporary())})
    for number, index in enumerate(indexes):
        path = str(index.path).replace("'", "''")
        con.execute(f"ATTACH '{path}' AS held{f'_{number}' if number else ''} (READ_ONLY)")
    con.execute("SET enable_external_access = false")
    con.execute("SET lock_configuration = true")
    return con
