"""Sources of images: a folder, a table or a list of paths, read as a stream of paths and labels.

folder        every image below it, sorted, as in fine-tuning: hidden files are skipped, links must stay inside; the
              label is the class folder of the image
.csv .tsv     a column "path" and optionally "label"; or no header, if the first row names an image; cells escaped by
              `export` are restored, see `cells.py`
.parquet      the same two columns, read piece by piece
.txt          a path on each line
list          paths

Paths of a table are relative to its folder. A path that occurs twice is one row.
"""

from __future__ import annotations

import codecs
import csv
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pyarrow as pa
import pyarrow.parquet as pq

from vitexplorer.core.settings import PREFIX, settings
from vitexplorer.core.text import Text
from vitexplorer.storage.class_folders import class_dataset
from vitexplorer.storage.findings import DataError, finding, listed, quoted, readable_name
from vitexplorer.storage.image_files import Listing, is_image_name, list_files
from vitexplorer.survey.cells import unguarded
from vitexplorer.survey.manifest import Planned, planned

Labels = Literal["folders"] | None
AnySource = str | os.PathLike | Iterable[str | os.PathLike]
PATHS = ("path", "file", "filename", "file_name", "image", "image_path")
"""Accepted names of the path column; the first that exists is used"""
LABELS = ("label", "class", "class_name", "category", "target")

_PIECE = 4096
"""Rows of a Parquet file that are read at once"""
_BYTES = 2**20


@dataclass
class Source:
    """Images of a survey; `findings` are complete once `rows` is exhausted."""

    name: str
    """Absolute path of the folder or table; empty for a list"""
    root: Path
    """Folder that paths are relative to"""
    rows: Iterator[Planned]
    findings: list[Text] = field(default_factory=list)


def source_name(source: AnySource) -> str:
    """Return the absolute path of a folder or table; empty for a list of paths."""
    return str(Path(source).expanduser().resolve()) if isinstance(source, (str, os.PathLike)) else ""


def read_source(source: AnySource, labels: Labels = "folders") -> Source:
    """Read the images of a folder, a table or a list of paths, with the labels of class folders or the table, or none.

    Raises DataError if it is no such source, has no image, or more than the settings allow; also while reading `rows`.
    """
    if not isinstance(source, (str, os.PathLike)):
        read = Source("", Path.cwd(), iter(()))
        read.rows = _once(((os.fspath(path), None) for path in source), read)
        return read
    path = Path(source).expanduser()
    reader = _READERS.get(path.suffix.lower()) if path.is_file() else None
    if path.is_file() and reader is None:
        raise DataError(_NO_SOURCE.format(name=quoted(path)))
    if reader is None:
        return _folder(path, labels)
    read = Source(source_name(path), path.resolve().parent, iter(()))
    rows = reader(path)
    read.rows = _once(rows if labels else ((image, None) for image, _ in rows), read)
    return read


# ------------------------------------------------------------------------------------------------- a folder


def _folder(path: Path, labels: Labels) -> Source:
    listing = list_files(path, "survey_images")
    if not listing.images:
        raise DataError(_NO_IMAGE.format(name=quoted(path)))
    names = _class_folders(listing) if labels else {}
    rows = (planned(image, names.get(image)) for image in listing.images)
    findings = [finding.text for finding in listing.findings if finding.kind != "left_out_other"]
    return Source(str(listing.root), listing.root, rows, findings)


def _class_folders(listing: Listing) -> dict[str, str]:
    """Return the class of each image in a class folder; parts that a training ignores are matched by the same names."""
    try:
        dataset = class_dataset(listing)
    except DataError:
        return {}
    class_of = {item.path: dataset.classes[int(item.target)] for item in dataset.items}
    known = set(dataset.classes)
    for path in listing.images:
        if path not in class_of:
            named = [name for name in map(readable_name, path.split("/")[:-1]) if name in known]
            class_of.update({path: named[0]} if named else {})
    return class_of


# ------------------------------------------------------------------------------------------------- tables


def _text(path: Path) -> Iterator[tuple[str, str | None]]:
    with open(path, encoding=_encoding(path), newline=None) as lines:
        yield from ((line.strip(), None) for line in lines)


def _csv(path: Path) -> Iterator[tuple[str, str | None]]:
    name = quoted(path)
    try:
        with open(path, encoding=_encoding(path), newline="") as lines:
            first = lines.readline()
            lines.seek(0)
            rows = csv.reader(lines, delimiter=max(",;\t", key=first.count))
            header = [cell.strip() for cell in next(rows, [])]
            at, of = next((place for place, cell in enumerate(header) if is_image_name(cell)), None), None
            if at is None:
                at, of = _columns(header, name)
            else:
                yield unguarded(header[at]), None
            for row in rows:
                written = row[at].strip() if at < len(row) else ""
                label = row[of].strip() if of is not None and of < len(row) else ""
                yield unguarded(written), unguarded(label) or None
    except csv.Error:
        raise DataError(_BROKEN.format(name=name)) from None


def _parquet(path: Path) -> Iterator[tuple[str, str | None]]:
    name = quoted(path)
    try:
        with pq.ParquetFile(path) as file:
            columns = file.schema_arrow.names
            at, of = _columns(columns, name)
            names = [columns[at], *([columns[of]] if of is not None else [])]
            for piece in file.iter_batches(_PIECE, columns=names):
                cells = [piece.column(column).cast(pa.string()).to_pylist() for column in names]
                labels = cells[1] if of is not None else [None] * len(piece)
                yield from ((path or "", label) for path, label in zip(cells[0], labels, strict=True))
    except (OSError, pa.ArrowException):
        raise DataError(_BROKEN.format(name=name)) from None


_READERS = {".txt": _text, ".csv": _csv, ".tsv": _csv, ".parquet": _parquet}


def _columns(names: Sequence[str], table: Text) -> tuple[int, int | None]:
    """Return the indices of the path column and the label column."""
    plain = [name.casefold() for name in names]
    at = next((plain.index(name) for name in PATHS if name in plain), None)
    if at is None:
        raise DataError(_NO_PATHS.format(name=table, columns=listed([readable_name(name) for name in names])))
    return at, next((plain.index(name) for name in LABELS if name in plain), None)


def _encoding(path: Path) -> str:
    """Detect the encoding of a text file: UTF-16, UTF-8 or GB 18030. Raises DataError if it is none of these."""
    try:
        with open(path, "rb") as file:
            start = file.read(4)
        encodings = ("utf-16",) if start[:2] in (b"\xff\xfe", b"\xfe\xff") else ("utf-8-sig", "gb18030")
        for encoding in encodings:
            if _is_written_in(path, encoding):
                return encoding
    except OSError:
        pass
    raise DataError(_BROKEN.format(name=quoted(path)))


def _is_written_in(path: Path, encoding: str) -> bool:
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        with open(path, "rb") as file:
            while piece := file.read(_BYTES):
                if "\0" in decoder.decode(piece):
                    return False
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _once(rows: Iterable[tuple[str, str | None]], source: Source) -> Iterator[Planned]:
    """Yield each image once, in the order of its first occurrence."""
    seen: set[str] = set()
    most, repeated, empty = settings().survey_images, [], 0
    inside = os.path.join(source.root, "")
    for written, label in rows:
        if not written:
            empty += 1
            continue
        path = os.path.normpath(os.path.join(source.root, os.path.expanduser(written)))
        if path in seen:
            repeated.append(written if len(repeated) < _NAMED else "")
            continue
        seen.add(path)
        if most and len(seen) > most:
            raise DataError(_MANY.format(most=most, variable=PREFIX + "SURVEY_IMAGES"))
        yield planned(path.removeprefix(inside), label)
    if not seen:
        raise DataError(_NO_ROWS.format(name=quoted(Path(source.name or "?"))))
    if repeated:
        source.findings.append(finding("repeated", "note", _REPEATED, repeated).text)
    if empty:
        source.findings.append(_EMPTY.format(count=empty))


_NAMED = 4
"""Number of repeated paths whose names are recorded; a sentence lists three"""


# ------------------------------------------------------------------------------------------------- the sentences

_NO_SOURCE = Text(
    "{name} names no images. Give a folder, a .csv, .tsv or .parquet table with a column of paths, or a .txt with a "
    "path on each line.",
    "{name} 没有列出图像。请给出文件夹，含路径列的 .csv、.tsv 或 .parquet 表格，或每行一个路径的 .txt。",
)
_NO_IMAGE = Text("There is no image in the folder {name}.", "文件夹 {name} 中没有图像。")
_NO_ROWS = Text("{name} names no image.", "{name} 没有列出任何图像。")
_NO_PATHS = Text(
    "The table {name} has no column `path`. Its columns: {columns}. Give that name to the column of image files.",
    "表格 {name} 没有 `path` 列。现有的列：{columns}。请把存放图像文件路径的列命名为 `path`。",
)
_BROKEN = Text(
    "{name} cannot be read as a table. Save it as a .csv in UTF-8, one image in each row.",
    "无法将 {name} 作为表格读取。请另存为 UTF-8 编码的 .csv，每行一幅图像。",
)
_MANY = Text(
    "More than {most} images are named. Take fewer, or raise {variable}.",
    "列出的图像超过 {most} 幅。请减少图像，或调大 {variable}。",
)
_REPEATED = Text(
    "Images that are named again are counted once: {count} ({names}).",
    "重复列出的图像只计一次：{count} 次（{names}）。",
)
_EMPTY = Text("Rows without a path are left out: {count}.", "没有路径的行已忽略：{count} 行。")
