"""Comparison of two surveys of the same images: changed answers, and changes of heads.

Rows match if path and pixel hash are equal; rows without a match are counted. The difference in accuracy has a 95 %
interval from the paired bootstrap (Efron & Tibshirani 1993, chapter 13: images are drawn with replacement, both answers
of an image together; fixed seed) and McNemar's exact test (McNemar 1947, Psychometrika 12:153; two-sided binomial on
the images whose correctness changed). For heads: the mean over images of right minus left, paired, with Student's
interval, as in `answers.per_head`.
"""

from __future__ import annotations

from dataclasses import dataclass

import duckdb
import numpy as np
import pyarrow as pa
from scipy.stats import binomtest

from vitexplorer.core.format import signed
from vitexplorer.core.summaries import Summarised, Summary
from vitexplorer.core.text import SettingError, Text, UnsupportedError
from vitexplorer.core.types import MatrixResult
from vitexplorer.survey.answers.bounds import check_image_count
from vitexplorer.survey.answers.chosen import by_file, sample_notes
from vitexplorer.survey.answers.moments import LEVEL, Moments, mean_tables
from vitexplorer.survey.answers.per_head import MOST_READ, metric_of
from vitexplorer.survey.answers.results import provenance_of
from vitexplorer.survey.conditions import Where
from vitexplorer.survey.index import connect
from vitexplorer.survey.opened import Survey

DRAWS, MOST_ROWS = 10_000, 500
"""Draws of the bootstrap, limit of images in each list"""


@dataclass(frozen=True)
class Changed:
    """Image that two models answer differently."""

    path: str
    row: int
    other_row: int
    """Row numbers in the left and the right survey"""
    label: str | None
    predicted: int
    other_predicted: int
    probability: float | None
    other_probability: float | None
    """Probabilities of the label, or without a label of the predicted class"""


@dataclass(frozen=True)
class Compared(Summarised):
    """Comparison of two surveys over their common images."""

    matched: int
    """Images that both surveys contain and could read"""
    left_out: tuple[Text, ...]
    """Notes on rows without a match, with the reason"""
    judged: int
    """Matched images whose label both models know"""
    both_right: int
    both_wrong: int
    lost: int
    """Images right on the left and wrong on the right"""
    won: int
    """Images wrong on the left and right on the right"""
    other_answer: int | None
    """Matched images with different predicted classes; None if the models' class names differ"""
    difference: float | None
    """Accuracy of the right minus accuracy of the left"""
    low: float | None
    high: float | None
    """Ends of its 95 % interval"""
    p_value: float | None
    """McNemar's test of no difference"""
    lost_rows: tuple[Changed, ...]
    won_rows: tuple[Changed, ...]
    """Changed images, largest change of the label's probability first"""

    def _summary(self) -> Summary:
        points = [signed(100 * share) for share in (self.difference, self.low, self.high) if share is not None]
        return Summary(
            f"{self.matched:,} images that two surveys have, right against left",
            (
                ("accuracy", points and "{} points, 95 % interval {} to {}".format(*points)),
                ("p", self.p_value),
                ("judged", f"{self.judged:,}: {self.both_right:,} both right, {self.both_wrong:,} both wrong"),
                ("changed", f"{self.lost:,} right on the left alone, {self.won:,} right on the right alone"),
                ("answers", f"{self.other_answer or 0:,} other classes"),
                ("left out", self.left_out),
            ),
            ".lost_rows and .won_rows are the images that changed sides",
        )


def compare_surveys(left: Survey, right: Survey, *, where: Where = (), limit: int = 60, seed: int = 0) -> Compared:
    """Match the rows of two surveys by path and hash, and compare the answers.

    Args:
        left: the earlier or reference survey.
        right: the other survey.
        where: conditions on the images of the left survey.
        limit: number of images in each list, at most `MOST_ROWS`.
        seed: seed of the bootstrap.

    Raises:
        SettingError: `limit` is out of range, or a survey has no rows yet.
    """
    check_image_count(limit, MOST_ROWS)
    for survey in (left, right):
        if not survey.count:
            raise SettingError(
                Text("The survey {folder} has no rows yet.", "普查 {folder} 尚无结果。").format(
                    folder=survey.folder.name
                )
            )
    con = _pairs(left, right, where)
    matched, both, lost, won, neither, other_answer = con.execute(COUNTS).fetchall()[0]
    total = both + lost + won + neither
    have_answers = all("predicted" in survey.columns for survey in (left, right))
    same_classes = have_answers and left.card.class_names == right.card.class_names
    low, high = accuracy_interval(lost, won, total, seed) if total else (None, None)
    return Compared(
        matched=matched,
        left_out=_left_out(con, left, right),
        judged=total,
        both_right=both,
        both_wrong=neither,
        lost=lost,
        won=won,
        other_answer=other_answer if same_classes else None,
        difference=(won - lost) / total if total else None,
        low=low,
        high=high,
        p_value=float(binomtest(won, won + lost).pvalue) if won + lost else (1.0 if total else None),
        lost_rows=_changed(con, LOST, limit, 1),
        won_rows=_changed(con, WON, limit, -1),
    )


def accuracy_interval(lost: int, won: int, total: int, seed: int = 0) -> tuple[float, float]:
    """Compute the paired bootstrap's interval of right minus left accuracy.

    An image's difference is -1, 0 or 1, so drawing images with replacement is drawing from these three values.
    """
    shares = np.array([lost, won, total - lost - won]) / total
    drawn = np.random.default_rng(seed).multinomial(total, shares, DRAWS)
    low, high = np.quantile((drawn[:, 1] - drawn[:, 0]) / total, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)


MATCHED = (
    "held.rows one JOIN held_1.rows other ON one.path = other.path AND one.hash = other.hash"
    " AND one.reason IS NULL AND other.reason IS NULL"
)
LOST, WON = "correct AND NOT other_correct", "NOT correct AND other_correct"
COUNTS = f"""SELECT count(*),
    count(*) FILTER (WHERE correct AND other_correct),
    count(*) FILTER (WHERE {LOST}),
    count(*) FILTER (WHERE {WON}),
    count(*) FILTER (WHERE NOT correct AND NOT other_correct),
    count(*) FILTER (WHERE predicted <> other_predicted)
FROM pairs"""
PAIRED = ("label", "predicted", "probability", "label_probability", "correct")


def _pairs(left: Survey, right: Survey, where: Where) -> duckdb.DuckDBPyConnection:
    """Connect to both indexes and create `pairs`, the matching rows."""
    con = connect(left._index, right._index)
    among = ""
    if where:
        con.register("chosen", pa.table(left.sql("SELECT row FROM {rows}", where).fetchnumpy()))
        among = " AND one.row IN (SELECT row FROM chosen)"
    con.execute(f"CREATE TEMP VIEW pairs AS SELECT {', '.join(_columns(left, right))} FROM {MATCHED}{among}")
    return con


def _columns(left: Survey, right: Survey) -> list[str]:
    columns = ["one.path AS path", "one.row AS row", "other.row AS other_row"]
    for name in PAIRED:
        columns += [
            f"{side}.{name} AS {prefix}{name}" if name in survey.columns else f"NULL AS {prefix}{name}"
            for side, prefix, survey in (("one", "", left), ("other", "other_", right))
        ]
    return columns


def _changed(con: duckdb.DuckDBPyConnection, which: str, limit: int, sign: int) -> tuple[Changed, ...]:
    fell = f"coalesce({sign} * (label_probability - other_label_probability), 0)"
    rows = con.execute(
        "SELECT path, row, other_row, label, predicted, other_predicted, coalesce(label_probability, probability),"
        f" coalesce(other_label_probability, other_probability) FROM pairs WHERE {which}"
        f" ORDER BY {fell} DESC, row LIMIT $most",
        {"most": limit},
    ).fetchall()
    return tuple(Changed(*row) for row in rows)


UNREAD = Text("Images that could not be read on the {side}: {count}.", "{side}有 {count} 幅图像无法读取。")
ALONE = Text("Images only in the survey on the {side}: {count}.", "{count} 幅图像仅出现在{side}的普查中。")
OTHERS = Text(
    "Images changed in between, with the same path and other pixels: {count}.",
    "{count} 幅图像路径相同但像素不同：两次普查之间被修改过。",
)
SIDES = Text("left", "左侧"), Text("right", "右侧")


def _left_out(con: duckdb.DuckDBPyConnection, left: Survey, right: Survey) -> tuple[Text, ...]:
    notes = [UNREAD.format(count=s.failed, side=side) for s, side in zip((left, right), SIDES, strict=True) if s.failed]
    for one, other, side in (("held", "held_1", SIDES[0]), ("held_1", "held", SIDES[1])):
        query = f"SELECT count(*) FROM {one}.rows one ANTI JOIN {other}.rows other ON one.path = other.path"
        if alone := con.execute(f"{query} WHERE one.reason IS NULL").fetchall()[0][0]:
            notes.append(ALONE.format(count=alone, side=side))
    query = "SELECT count(*) FROM held.rows one JOIN held_1.rows other USING (path) WHERE one.hash <> other.hash"
    if others := con.execute(query).fetchall()[0][0]:
        notes.append(OTHERS.format(count=others))
    return tuple(notes)


def moved_heads(left: Survey, right: Survey, metric: str, where: Where = ()) -> MatrixResult:
    """Compute the mean over images of each head's metric, right minus left, values (blocks, heads).

    `marked` are heads whose interval excludes zero. Of more than `MOST_READ` pairs a random sample is read.
    Raises UnsupportedError if the two differ in blocks or heads, UnknownNameError for another column.
    """
    column = metric_of(left, metric)
    other = metric_of(right, metric)
    if column.shape != other.shape or left.card.heads != right.card.heads or column.shape is None:
        raise UnsupportedError(
            Text(
                "{left} and {right} have different numbers of blocks or heads: no head has a partner.",
                "{left} 与 {right} 的块数或头数不同，各头无法一一对应。",
            ).format(left=left.card.model, right=right.card.model)
        )
    con = _pairs(left, right, where)
    (total,) = con.execute("SELECT count(*) FROM pairs").fetchall()[0]
    drawn = f"SELECT row, other_row FROM pairs ORDER BY hash(row), row LIMIT {MOST_READ}"
    rows = con.execute(f"SELECT * FROM ({drawn}) ORDER BY row").fetchnumpy()
    moments = Moments(column.shape[0] * column.shape[1])
    first = 0
    for piece in by_file(left, rows["row"]):
        before = left.lists_at(metric, piece)
        after = right.lists_at(metric, rows["other_row"][first : first + len(piece)])
        first += len(piece)
        if before.shape == after.shape:
            moments.add(after.astype(np.float64) - before)
    means = mean_tables(moments, column.shape)
    return MatrixResult(
        view="survey_heads_moved",
        title=Text("{title}: right minus left", "{title}：右侧减左侧").format(title=column.title),
        axes=("blocks", "heads"),
        unit=column.unit,
        formula="1/n Σ_image (right − left)",
        provenance=provenance_of(left, right),
        settings={"metric": metric},
        notes=(PAIRS.format(count=total), *sample_notes(total, MOST_READ), MARKED),
        marked=(means["low"] > 0) | (means["high"] < 0),
        **means,
    )


PAIRS = Text("Over {count:image} that both surveys have.", "统计范围：两次普查共有的 {count} 幅图像。")
MARKED = Text(
    "Heads are marked if their 95 % interval over images (Student's t, paired) does not contain zero.",
    "若某个头的 95 % 置信区间（以图像为样本，配对学生 t 分布）不含零，则标出该头。",
)
