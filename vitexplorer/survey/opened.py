"""A survey that was made, or is being made: what it is of, and the one place from which its rows are asked.

    survey = vx.open_survey("survey")
    print(survey.describe())
    count(survey, (Within("probability", high=0.5), Equals("correct", False)))

Everything is read, nothing written but the index beside the rows. Shards that are finished count; open the survey
again to see those that came later. Threads may ask the same survey at once.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from jaxtyping import Float, Int

from vitexplorer.core.result_summary import model_line
from vitexplorer.core.summaries import Summarised, Summary
from vitexplorer.core.text import Text, same
from vitexplorer.core.types import Provenance
from vitexplorer.survey.card import Card, SurveyError, read_card
from vitexplorer.survey.columns import Asked, Column, asked, quoted
from vitexplorer.survey.conditions import Where
from vitexplorer.survey.filtering import filtered
from vitexplorer.survey.index import BROKEN, MADE_AGAIN, Index, connect, index_of

MOST_UNPACKED = 50_000_000
"""numbers of places of lists that are kept unpacked, at least four columns of them"""
TOGETHER = 1_000_000
"""numbers that are inserted at once"""


@dataclass(frozen=True, eq=False)
class Survey(Summarised):
    """An opened survey. Its answers are functions in `survey.answers`."""

    folder: Path
    card: Card
    columns: dict[str, Column]
    """of the rows, by name, in the order of the files, `row` first; none but that before the first shard is there"""
    count: int
    """rows of the finished shards"""
    failed: int
    """rows whose image could not be read"""
    broken: tuple[Text, ...]
    """a sentence for each file of rows that cannot be read"""
    made_again: tuple[Text, ...]
    """a sentence for each file that was damaged and could be made again from others"""
    _index: Index = field(repr=False)
    _con: duckdb.DuckDBPyConnection = field(repr=False)
    _unpacked: Unpacked = field(repr=False)

    def _summary(self) -> Summary:
        card = self.card
        return Summary(
            f"survey of {card.source or 'a list of images'}",
            (
                ("model", model_line(Provenance(card.model, card.weights, card.weights_source))),
                ("images", f"{self.count:,} of {card.rows_planned:,}, {self.failed:,} of them unreadable"),
                ("fitted", f"by {card.fit} to {card.size[0]} × {card.size[1]} px"),
                ("columns", tuple(self.columns)),
                ("damaged", self.broken + self.made_again),
                ("folder", self.folder),
            ),
            "survey.describe() says it in a sentence; survey.rows is what DuckDB, Polars or pandas read",
        )

    @property
    def rows(self) -> str:
        """A pattern of the files of rows, for DuckDB, Polars, pandas or Spark."""
        return str(self.folder / "rows" / "shard-*.parquet")

    @property
    def is_finished(self) -> bool:
        """Whether every planned row is there."""
        return self.count >= self.card.rows_planned

    def describe(self) -> str:
        """What it is of, in English, for a terminal."""
        return self.described.en

    @property
    def described(self) -> Text:
        """What it is of, in words."""
        said = Text(
            "{count} of {planned} images of {source}, seen by {model}; {failed} could not be read. Columns: {columns}.",
            "{source} 的 {planned} 张图像中的 {count} 张，模型为 {model}；{failed} 张无法读取。列：{columns}。",
        ).format(
            count=self.count,
            planned=self.card.rows_planned,
            source=self.card.source,
            model=self.card.model,
            failed=self.failed,
            columns=Text(", ".join(list(self.columns)[1:]), "、".join(list(self.columns)[1:])),
        )
        also = (*self.broken, *self.made_again)
        return Text(" ".join([said.en, *(one.en for one in also)]), "".join([said.zh, *(one.zh for one in also)]))

    def asked(self, name: str) -> Asked:
        """The column that a question names, `probability` or `distance[3,1]`. Raises an error with a sentence."""
        return asked(self.columns, name)

    def sql(
        self, query: str, where: Where = (), *, more: Sequence[Asked] = (), **parameters: object
    ) -> duckdb.DuckDBPyConnection:
        """The answer to a query over `{rows}`, which stands for the table with its conditions.

        Args:
            query: with `{rows}`, and `{0}`, `{1}`, ... where the columns of `more` are meant; no word of a visitor.
            where: which rows.
            more: columns that the query speaks of.
            parameters: for `$name` in the query.
        """
        every = [*map(self.asked, (one.column for one in where)), *more]
        places = {one.name: one for one in every if one.at is not None}
        with self._unpacked.held(self, tuple(places.values())) as written:
            condition = filtered(where, self.asked, written)
            tables = "".join(f" POSITIONAL JOIN {written(one)}" for one in places.values())
            text = query.format(*map(written, more), rows=f"held.rows rows{tables} WHERE {condition.sql}")
            return self._con.cursor().execute(text, {**parameters, **condition.parameters})

    def lists(self, key: str) -> Iterator[tuple[Int[np.ndarray, " images"], Float[np.ndarray, "images entries"]]]:
        """A column of lists, shard after shard as the table has them: numbers of the rows, and their lists.

        A row without a list is NaN. Raises SurveyError for a file that is gone or cannot be read.
        """
        for number, _ in self._index.shards:
            yield self._lists_of(key, number)

    def lists_at(self, key: str, rows: Int[np.ndarray, " images"]) -> Float[np.ndarray, "images entries"]:
        """The lists of some rows, in their order; only the files that hold them are read."""
        shards, places = np.divmod(rows, self.card.rows_per_shard)
        found: np.ndarray | None = None
        for shard in np.unique(shards).tolist():
            of_shard = shards == shard
            values = self._lists_of(key, shard)[1][places[of_shard]]
            found = np.empty((len(rows), values.shape[1]), values.dtype) if found is None else found
            found[of_shard] = values
        return np.empty((0, 0), np.float32) if found is None else found

    @property
    def shards(self) -> tuple[int, ...]:
        """Numbers of the files of rows that can be read, ascending."""
        return tuple(sorted(number for number, _ in self._index.shards))

    def shard_table(self, shard: int, columns: Sequence[str]) -> pa.Table:
        """Columns of one file of rows. Raises SurveyError for a file that is gone or cannot be read."""
        file = self.folder / "rows" / f"shard-{shard:05d}.parquet"
        try:
            return pq.ParquetFile(file, page_checksum_verification=True).read(columns=list(columns))
        except (OSError, pa.ArrowException) as error:
            raise SurveyError(BROKEN.format(file=file.name)) from error

    def _lists_of(self, key: str, shard: int) -> tuple[np.ndarray, np.ndarray]:
        column = self.shard_table(shard, [key]).column(0)
        return shard * self.card.rows_per_shard + np.arange(len(column)), as_table(column)


def as_table(column: pa.ChunkedArray) -> Float[np.ndarray, "images entries"]:
    """Lists of one length as rows; NaN where there is none, or one of another length."""
    lists = column.combine_chunks()
    lengths = pc.fill_null(pc.list_value_length(lists), 0)
    width = int(pc.max(lengths).as_py() or 0)
    whole = np.asarray(pc.equal(lengths, width)) if width else np.zeros(len(lists), bool)
    flat = lists.filter(pa.array(whole)).flatten().to_numpy(zero_copy_only=False)
    table = np.full((len(lists), width), np.nan, flat.dtype if width else np.float32)
    table[whole] = flat.reshape(-1, width) if width else 0
    return table


class Unpacked:
    """Places of lists that were asked about, each a table of its own beside the rows, in their order."""

    def __init__(self, con: duckdb.DuckDBPyConnection):
        """Args: con: to the index; the tables live in its memory, which its limit bounds."""
        self._con, self._lock = con, threading.RLock()
        self._tables: OrderedDict[str, str] = OrderedDict()
        self._made = 0

    @contextmanager
    def held(self, survey: Survey, places: Sequence[Asked]) -> Iterator[Callable[[Asked], str]]:
        """How SQL calls columns; those of `places` are there until the end."""
        with self._lock if places else nullcontext():
            for place in places:
                if place.name not in self._tables:
                    self._unpack(survey, place)
                self._tables.move_to_end(place.name)
            most = max(4, len(places), MOST_UNPACKED // max(1, survey.count))
            while len(self._tables) > most:
                _, table = self._tables.popitem(last=False)
                self._con.execute(f"DROP TABLE {table}")
            yield lambda one: quoted(one.column.key) if one.at is None else self._tables[one.name]

    def _unpack(self, survey: Survey, place: Asked) -> None:
        self._made += 1
        table = f"place_{self._made}"
        self._con.execute(f"CREATE TABLE {table} ({table} FLOAT)")
        some: list[np.ndarray] = []
        for _, values in survey.lists(place.column.key):
            empty = np.full(len(values), np.nan, np.float32)
            some.append(values[:, place.at] if place.at < values.shape[1] else empty)
            if sum(map(len, some)) > TOGETHER:
                self._insert(table, some)
        self._insert(table, some)
        self._tables[place.name] = table

    def _insert(self, table: str, some: list[np.ndarray]) -> None:
        values = np.concatenate([*some, np.zeros(0, np.float32)])
        values = pa.table({"value": pa.array(values, mask=np.isnan(values))})
        cursor = self._con.cursor()
        cursor.register("values_of_lists", values)
        cursor.execute(f"INSERT INTO {table} SELECT value FROM values_of_lists")
        some.clear()


def open_survey(folder: str | os.PathLike[str]) -> Survey:
    """Open the survey that lies in a folder, finished or not.

    Args:
        folder: as given to `survey`, with `survey.json` in it. Nothing in it is changed but `index/`, which may be
            deleted at any time; where it cannot be written a temporary folder takes its place.

    Raises SurveyError where there is no survey, or none that can be read.
    """
    folder = Path(folder)
    card = read_card(folder)
    index = index_of(folder, card.rows_per_shard)
    con = connect(index)
    failed = "count(reason)" if "reason" in index.kinds else "0"
    count, bad = con.execute(f"SELECT count(*), {failed} FROM held.rows").fetchall()[0]
    names = [f"shard-{number:05d}.parquet" for number in index.broken]
    return Survey(
        folder=folder,
        card=card,
        columns=_columns(card, index),
        count=count,
        failed=bad,
        broken=tuple(BROKEN.format(file=name) for name in names),
        made_again=(MADE_AGAIN,) if index.is_made_again else (),
        _index=index,
        _con=con,
        _unpacked=Unpacked(con),
    )


def _columns(card: Card, index: Index) -> dict[str, Column]:
    """The columns of the files, with what the card says of them."""
    said = {column.key: column for column in card.columns}
    found = {"row": Column("row", "integer", Text("Number in the survey", "在普查中的编号"), filters=False)}
    for name, kind in index.kinds.items():
        one = said.get(name)
        if one is None:
            found[name] = Column(name, kind, same(name))
        else:
            found[name] = Column(name, kind, one.title, one.unit, one.better, one.filters, one.shape, one.axes)
    return found
