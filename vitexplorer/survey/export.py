"""Export of rows to a file for other programs, written whole or not at all.

    export(survey, (Equals("correct", False),), "wrong.csv")
    export(survey, (), "atlas.parquet", atlas=True)
        embedding-atlas atlas.parquet --x projection_x --y projection_y --neighbors neighbors --text path

Embedding Atlas (Ren et al. 2025, arXiv 2505.06386) reads a Parquet file with each image's 2D coordinates in two columns
and its neighbours as {ids, distances}; ids are row numbers of the file, from 0.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from jaxtyping import Int

from vitexplorer.core.text import SettingError, Text
from vitexplorer.storage.atomic_writes import DiskFullError, replace_file
from vitexplorer.survey.answers.chosen import chosen
from vitexplorer.survey.answers.features import all_directions, feature_named
from vitexplorer.survey.answers.gallery import count
from vitexplorer.survey.answers.map_2d import MOST_POINTS, map_2d
from vitexplorer.survey.card import SurveyError
from vitexplorer.survey.cells import guarded
from vitexplorer.survey.conditions import Where
from vitexplorer.survey.opened import Survey

MOST = 1_000_000
"""Limit for the rows of a file; beyond it the survey's own files are the better source"""
SUFFIXES = (".parquet", ".csv")
NEIGHBOURS = 15
BLOCK = 2048


def export(
    survey: Survey, where: Where, file: str | os.PathLike[str], *, atlas: bool = False, lists: bool = True
) -> Path:
    """Write rows to a file in the format of its suffix.

    Args:
        survey: the survey.
        where: conditions on the rows.
        file: .parquet, types as in the survey; or .csv, UTF-8 with a byte order mark, lists as JSON text, and texts
            that a spreadsheet would run as formulas escaped (see `cells`; `survey` reads them back).
        atlas: True to add the columns of Embedding Atlas: projection_x and projection_y (principal components) and
            neighbors; of more than `MOST_POINTS` images a random sample. Only for .parquet, and without lists.
        lists: True to write columns of lists.

    Returns:
        The path.

    Raises:
        SettingError: the name has another suffix, or there are too many rows.
        SurveyError: the file cannot be written.
    """
    path = Path(file)
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES or (atlas and suffix != ".parquet"):
        raise SettingError(
            Text(
                "{name} does not say in which format to write the rows: it must end in {known}.",
                "{name} 未指明写入格式：必须以 {known} 结尾。",
            ).format(name=path.name, known=".parquet" if atlas else Text(" or ".join(SUFFIXES), " 或 ".join(SUFFIXES)))
        )
    if not atlas and (rows := count(survey, where)) > MOST:
        raise SettingError(
            Text(
                "{rows} rows are too many for one file: narrow the conditions to {most}, or read {files} directly.",
                "{rows} 行太多，无法写入一个文件：请将筛选结果缩小到 {most} 行以内，或直接读取 {files}。",
            ).format(rows=rows, most=MOST, files=survey.rows)
        )

    def write(beside: Path) -> None:
        if atlas:
            pq.write_table(_atlas(survey, where), beside)
            return
        rows = survey.sql("SELECT row FROM {rows} ORDER BY row", where).fetchnumpy()["row"]
        tables = _tables(survey, np.asarray(rows, np.int64), _names(survey, lists))
        _write_csv(tables, beside) if suffix == ".csv" else _write_parquet(tables, beside)

    try:
        replace_file(path, write)
    except DiskFullError as error:
        raise SurveyError(error.text) from error
    except OSError as error:
        raise SurveyError(
            Text("{path} was not written: {reason}.", "未能写入 {path}：{reason}。").format(
                path=path.name, reason=error.strerror or error
            )
        ) from error
    return path


def _names(survey: Survey, lists: bool) -> list[str]:
    return [name for name, column in survey.columns.items() if name != "row" and (lists or column.kind != "list")]


def _tables(survey: Survey, rows: Int[np.ndarray, " images"], names: list[str]) -> Iterator[pa.Table]:
    """Yield ascending rows shard by shard, with the types of the survey's files; without rows an empty table."""
    shards = rows // survey.card.rows_per_shard
    for shard in np.unique(shards).tolist() if len(rows) else survey.shards[:1]:
        places = rows[shards == shard] % survey.card.rows_per_shard
        yield survey.shard_table(shard, names).take(pa.array(places))


def _write_parquet(tables: Iterator[pa.Table], path: Path) -> None:
    first = next(tables, pa.table({}))
    with pq.ParquetWriter(path, first.schema) as writer:
        for table in chain([first], tables):
            writer.write_table(table)


def _write_csv(tables: Iterator[pa.Table], path: Path) -> None:
    with path.open("w", encoding="utf-8-sig", errors="replace", newline="") as stream:
        writer = csv.writer(stream)
        for number, table in enumerate(tables):
            if number == 0:
                writer.writerow(table.column_names)
            columns = [_cells(column) for column in table.columns]
            writer.writerows(zip(*columns, strict=True))


def _cells(column: pa.ChunkedArray) -> list[object]:
    """Format a column as .csv cells: empty for null and NaN, lists as JSON."""
    values = column.to_pylist()
    if pa.types.is_floating(column.type):
        return ["" if value is None or value != value else value for value in values]
    return [_cell(value) for value in values]


def _cell(value: object) -> object:
    if isinstance(value, list):
        return json.dumps([None if entry is None or entry != entry else float(entry) for entry in value])
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return guarded(value)
    return "" if value is None else value


def _atlas(survey: Survey, where: Where) -> pa.Table:
    """Make the table for Embedding Atlas: scalar columns, coordinates and neighbours of images with features."""
    feature = feature_named(survey, None)
    placed = map_2d(survey, feature, "pca", where, MOST_POINTS)
    numbers, values = all_directions(survey, feature, chosen(survey, where, MOST_POINTS))
    assert np.array_equal(numbers, placed.rows)
    names = _names(survey, lists=False)
    if len(numbers):
        table = pa.concat_tables(_tables(survey, numbers, names))
    else:
        table = pa.table({name: pa.array([], pa.string()) for name in names})
    table = table.append_column("projection_x", pa.array(placed.places[:, 0], pa.float64()))
    table = table.append_column("projection_y", pa.array(placed.places[:, 1], pa.float64()))
    kind = pa.struct([("ids", pa.list_(pa.int64())), ("distances", pa.list_(pa.float32()))])
    return table.append_column("neighbors", pa.array(_neighbours(values), kind))


def _neighbours(values: np.ndarray) -> list[dict[str, list]]:
    """Find each image's nearest others by the distance 1 - cosine."""
    most = min(NEIGHBOURS, len(values) - 1)
    neighbours: list[dict[str, list]] = []
    for first in range(0, len(values), BLOCK):
        apart = 1 - values[first : first + BLOCK] @ values.T
        apart[np.arange(len(apart)), first + np.arange(len(apart))] = np.inf
        near = np.argpartition(apart, min(most, apart.shape[1] - 1), axis=1)[:, : max(0, most)]
        for row, ids in zip(apart, near, strict=True):
            ids = ids[np.argsort(row[ids], kind="stable")]
            neighbours.append({"ids": ids.tolist(), "distances": np.maximum(row[ids], 0).tolist()})
    return neighbours
