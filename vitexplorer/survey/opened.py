"""Opened survey, finished or running: its description and all queries of its rows.

    survey = vx.open_survey("survey")
    print(survey.describe())
    count(survey, (Within("probability", high=0.5), Equals("correct", False)))

Only the index beside the rows is written. The survey has the shards that were finished when it was opened; open it
again for later ones. Threads may share it.
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
from vitexplorer.core.text import SPACE, Text, same
from vitexplorer.core.types import Provenance
from vitexplorer.survey.card import Card, SurveyError, read_card
from vitexplorer.survey.columns import Asked, Column, Described, asked, quoted
from vitexplorer.survey.conditions import Where
from vitexplorer.survey.filtering import filtered
from vitexplorer.survey.index import BROKEN, MADE_AGAIN, Index, connect, index_of
from vitexplorer.survey.manifest import rows_file, shard_name

MOST_UNPACKED = 50_000_000
"""Limit for cached numbers of unpacked list places; at least four columns are cached"""
TOGETHER = 1_000_000
"""Numbers that are inserted at once"""


@dataclass(frozen=True, eq=False)
class Survey(Summarised):
    """Opened survey. The functions in `survey.answers` analyse it."""

    folder: Path
    card: Card
    columns: dict[str, Column]
    """Columns by name, `row` first, then in the order of the files; only `row` before the first shard is finished"""
    count: int
    """Number of rows of the finished shards"""
    failed: int
    """Number of rows whose image could not be read"""
    broken: tuple[Text, ...]
    """Note for each file of rows that cannot be read"""
    made_again: tuple[Text, ...]
    """Note for each damaged file that was rebuilt from others"""
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
        """Glob pattern of the files of rows, for DuckDB, Polars, pandas or Spark."""
        return str(self.folder / "rows" / "shard-*.parquet")

    @property
    def is_finished(self) -> bool:
        """True if every planned row exists."""
        return self.count >= self.card.rows_planned

    def describe(self) -> str:
        """Describe the survey in an English sentence, for a terminal."""
        return self.described.en

    @property
    def described(self) -> Text:
        """Description in words."""
        sentence = Text(
            "{count} of {planned:image} of {source}, seen by {model}; {failed} could not be read. Columns: {columns}.",
            "{source} 的 {planned} 幅图像中的 {count} 幅，模型为 {model}；{failed} 幅无法读取。列：{columns}。",
        ).format(
            count=self.count,
            planned=self.card.rows_planned,
            source=self.card.source,
            model=self.card.model,
            failed=self.failed,
            columns=Text(", ".join(list(self.columns)[1:]), "、".join(list(self.columns)[1:])),
        )
        return SPACE.join([sentence, *self.broken, *self.made_again])

    def asked(self, name: str) -> Asked:
        """Look up a column by name, `probability` or `distance[3,1]`. Raises UnknownNameError or SettingError."""
        return asked(self.columns, name)

    def sql(
        self, query: str, where: Where = (), *, more: Sequence[Asked] = (), **parameters: object
    ) -> duckdb.DuckDBPyConnection:
        """Run a query over `{rows}`, which stands for the table with its conditions.

        Args:
            query: SQL with `{rows}`, and `{0}`, `{1}`, ... for the columns of `more`; never user input.
            where: conditions on the rows.
            more: columns that the query uses.
            parameters: values of `$name` in the query.
        """
        every = [*(self.asked(condition.column) for condition in where), *more]
        places = {column.name: column for column in every if column.at is not None}
        with self._unpacked.held(self, tuple(places.values())) as written:
            condition = filtered(where, self.asked, written)
            tables = "".join(f" POSITIONAL JOIN {written(place)}" for place in places.values())
            text = query.format(*map(written, more), rows=f"held.rows rows{tables} WHERE {condition.sql}")
            return self._con.cursor().execute(text, {**parameters, **condition.parameters})

    def lists(self, key: str) -> Iterator[tuple[Int[np.ndarray, " images"], Float[np.ndarray, "images entries"]]]:
        """Yield (row numbers, lists) of a list column, shard by shard in the order of the table.

        A row without a list is NaN. Raises SurveyError for a file that is missing or cannot be read.
        """
        for number, _ in self._index.shards:
            yield self._lists_of(key, number)

    def lists_at(self, key: str, rows: Int[np.ndarray, " images"]) -> Float[np.ndarray, "images entries"]:
        """Return the lists of some rows, in their order; only the files that hold them are read."""
        shards, places = np.divmod(rows, self.card.rows_per_shard)
        lists: np.ndarray | None = None
        for shard in np.unique(shards).tolist():
            of_shard = shards == shard
            values = self._lists_of(key, shard)[1][places[of_shard]]
            lists = np.empty((len(rows), values.shape[1]), values.dtype) if lists is None else lists
            lists[of_shard] = values
        return np.empty((0, 0), np.float32) if lists is None else lists

    @property
    def shards(self) -> tuple[int, ...]:
        """Numbers of the files of rows that can be read, ascending."""
        return tuple(sorted(number for number, _ in self._index.shards))

    def shard_table(self, shard: int, columns: Sequence[str]) -> pa.Table:
        """Read columns of one file of rows. Raises SurveyError if it is missing or cannot be read."""
        file = rows_file(self.folder, shard)
        try:
            return pq.ParquetFile(file, page_checksum_verification=True).read(columns=list(columns))
        except (OSError, pa.ArrowException) as error:
            raise SurveyError(BROKEN.format(file=file.name)) from error

    def _lists_of(self, key: str, shard: int) -> tuple[np.ndarray, np.ndarray]:
        column = self.shard_table(shard, [key]).column(0)
        return shard * self.card.rows_per_shard + np.arange(len(column)), as_table(column)


def as_table(column: pa.ChunkedArray) -> Float[np.ndarray, "images entries"]:
    """Convert lists of equal length to rows; NaN for a missing list, or one of another length."""
    lists = column.combine_chunks()
    lengths = pc.fill_null(pc.list_value_length(lists), 0)
    width = int(pc.max(lengths).as_py() or 0)
    whole = np.asarray(pc.equal(lengths, width)) if width else np.zeros(len(lists), bool)
    flat = lists.filter(pa.array(whole)).flatten().to_numpy(zero_copy_only=False)
    table = np.full((len(lists), width), np.nan, flat.dtype if width else np.float32)
    table[whole] = flat.reshape(-1, width) if width else 0
    return table


class Unpacked:
    """Cache of list places, each unpacked into a separate table in the order of the rows."""

    def __init__(self, con: duckdb.DuckDBPyConnection):
        """Make an empty cache; the connection to the index holds the tables in memory, within its limit."""
        self._con = con
        self._lock = threading.RLock()
        self._tables: OrderedDict[str, str] = OrderedDict()
        self._made = 0

    @contextmanager
    def held(self, survey: Survey, places: Sequence[Asked]) -> Iterator[Callable[[Asked], str]]:
        """Return a function from columns to SQL expressions; the tables of `places` exist until the context ends."""
        with self._lock if places else nullcontext():
            for place in places:
                if place.name not in self._tables:
                    self._unpack(survey, place)
                self._tables.move_to_end(place.name)
            most = max(4, len(places), MOST_UNPACKED // max(1, survey.count))
            while len(self._tables) > most:
                _, table = self._tables.popitem(last=False)
                self._con.execute(f"DROP TABLE {table}")
            yield lambda column: quoted(column.column.key) if column.at is None else self._tables[column.name]

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
    """Open the survey in a folder, finished or not.

    Args:
        folder: folder given to `survey`, with `survey.json` in it. Only `index/` is changed, which may be deleted at
            any time; if it is not writable, a temporary folder is used.

    Raises:
        SurveyError: there is no survey, or no index can be written.
        BrokenFileError: `survey.json` is damaged.
    """
    folder = Path(folder)
    card = read_card(folder)
    index, con = _connected(folder, card)
    failed = "count(reason)" if "reason" in index.kinds else "0"
    count, bad = con.execute(f"SELECT count(*), {failed} FROM held.rows").fetchall()[0]
    return Survey(
        folder=folder,
        card=card,
        columns=_columns(card, index),
        count=count,
        failed=bad,
        broken=tuple(BROKEN.format(file=shard_name(number)) for number in index.broken),
        made_again=(MADE_AGAIN,) if index.is_made_again else (),
        _index=index,
        _con=con,
        _unpacked=Unpacked(con),
    )


def _connected(folder: Path, card: Card) -> tuple[Index, duckdb.DuckDBPyConnection]:
    """Connect to the index; once more where another process has replaced it since it was read."""
    index = index_of(folder, card.rows_per_shard)
    try:
        return index, connect(index)
    except duckdb.IOException:
        index = index_of(folder, card.rows_per_shard)
        return index, connect(index)


def _columns(card: Card, index: Index) -> dict[str, Column]:
    """Return the columns of the files, with their descriptions from the card."""
    described = {column.key: column for column in card.columns}
    row = Column("row", Text("Number in the survey", "在普查中的编号"), filters=False, kind="integer")
    others = {
        name: Column(**vars(described.get(name, Described(name, same(name)))), kind=kind)
        for name, kind in index.kinds.items()
    }
    return {"row": row, **others}
