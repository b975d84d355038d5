"""Folder of a survey with random numbers: any number of rows in a second, laid out as a real one."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from vitexplorer.core.text import Text, same
from vitexplorer.survey.card import Card, write_card
from vitexplorer.survey.question import Column
from vitexplorer.survey.questions import outliers, prediction, rollout
from vitexplorer.survey.questions.heads import COLUMNS
from vitexplorer.survey.schema import FILE_COLUMNS
from vitexplorer.views.head_atlas import METRICS, SHARE, UNITS

CLASSES = (Text("gear", "齿轮"), Text("star", "星形"), Text("leaf", "叶子"), Text("cross", "十字"))
HEADS = (2, 2, 3)
"""Heads of each block"""
FAILED = Text("The file is no picture.", "该文件不是图像。")


def synthetic_survey(
    folder: Path,
    rows: int = 400,
    *,
    rows_per_shard: int = 128,
    seed: int = 0,
    features: int = 8,
    classes: Sequence[Text] = CLASSES,
    failed: float = 0.02,
    labels: bool = True,
    lists: bool = True,
    shards: Sequence[int] | None = None,
    model: str = "synthetic_vit",
) -> Path:
    """Write a survey of drawn numbers.

    Args:
        folder: made where it is not there.
        rows: planned.
        rows_per_shard: the last shard has the rest.
        seed: of all numbers; a row's depend on its shard alone.
        features: width of a token.
        classes: of the model; none for a model without a classifier.
        failed: share of images that could not be read.
        labels: whether rows have one.
        lists: whether there are heads, features and a map; ten million rows are made faster without.
        shards: those that are finished; None for all.
        model: the name on the card.

    Returns:
        The folder.
    """
    (folder / "rows").mkdir(parents=True, exist_ok=True)
    (folder / "manifest").mkdir(exist_ok=True)
    card = Card(
        format=1,
        model=model,
        weights="random",
        weights_source=f"seed {seed}",
        weights_hash="0" * 64,
        fit="crop",
        size=(64, 64),
        resized=False,
        questions={
            key: {} for key in (["prediction"] if classes else []) + ["heads", "outliers", "rollout", "features"]
        },
        left_out={} if classes else {"prediction": Text("There is no classifier.", "没有分类头。")},
        heads=HEADS,
        prefix_tokens=("cls",),
        class_names=tuple(classes),
        columns=_described(bool(classes), lists),
        labels="folders" if labels else None,
        source="/pictures",
        root="/pictures",
        findings=(),
        rows_planned=rows,
        rows_per_shard=rows_per_shard,
        begun=datetime(2026, 1, 1, tzinfo=UTC),
    )
    write_card(folder, card)
    names = [text.en for text in classes] or ["gear", "star"]
    for shard in range(card.shards) if shards is None else shards:
        table = drawn_rows(card, shard, seed, names, features, failed=failed, labels=labels, lists=lists)
        pq.write_table(table.select(["path", "label"]), folder / "manifest" / f"shard-{shard:05d}.parquet")
        pq.write_table(table, folder / "rows" / f"shard-{shard:05d}.parquet")
    return folder


def _described(classifier: bool, lists: bool) -> tuple[Column, ...]:
    """Describe the columns as the questions do."""
    shape, floats = (len(HEADS), max(HEADS)), pa.list_(pa.float32())
    of_heads = [
        Column(column, METRICS[metric], UNITS.get(metric, SHARE), shape=shape, axes=("blocks", "heads"), type=floats)
        for metric, column in COLUMNS.items()
    ]
    of_lists = [
        *(Column(key, same(key), filters=False, type=floats) for key in ("feature_cls", "feature_mean")),
        Column(
            "view_attention_rollout", same("rollout"), filters=False, shape=(2, 3), axes=("rows", "cols"), type=floats
        ),
    ]
    return (
        *FILE_COLUMNS,
        *(prediction.COLUMNS if classifier else ()),
        *(of_heads if lists else ()),
        *outliers.COLUMNS,
        *rollout.COLUMNS,
        *(of_lists if lists else ()),
    )


def drawn_rows(
    card: Card, shard: int, seed: int, names: Sequence[str], features: int, *, failed: float, labels: bool, lists: bool
) -> pa.Table:
    """Draw the rows of one shard."""
    rng, count = np.random.default_rng((seed, shard)), card.rows_of(shard)
    bad = rng.random(count) < failed
    at = shard * card.rows_per_shard + np.arange(count)
    true = at * len(names) // max(1, card.rows_planned)  # folder after folder, as files are listed
    label = [names[one] for one in true]
    columns: dict[str, pa.Array] = {
        "path": pa.array([f"{of}/image {number}.jpg" for of, number in zip(label, at.tolist(), strict=True)]),
        "label": pa.array(label if labels else [None] * count, pa.string()),
        "reason": pa.array([FAILED.en if one else None for one in bad], pa.string()),
        "reason_zh": pa.array([FAILED.zh if one else None for one in bad], pa.string()),
        "width": pa.array(rng.integers(50, 900, count), pa.int32(), mask=bad),
        "height": pa.array(rng.integers(50, 900, count), pa.int32(), mask=bad),
        "hash": pa.array([f"{number:064x}" for number in at.tolist()], mask=bad),
    }

    def numbers(values: np.ndarray, kind: pa.DataType, also: np.ndarray | bool = False) -> pa.Array:
        return pa.array(values, kind, mask=bad | also)

    if card.class_names:
        logits = rng.normal(size=(count, len(names))) * 2
        logits[np.arange(count), true] += 2.5
        shares = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
        order = np.argsort(-shares, axis=1)
        first, second = np.take_along_axis(shares, order[:, :2], 1).T
        of_label = shares[np.arange(count), true]
        columns |= {
            "predicted": numbers(order[:, 0], pa.int32()),
            "probability": numbers(first, pa.float32()),
            "second": numbers(order[:, 1], pa.int32()),
            "second_probability": numbers(second, pa.float32()),
            "margin": numbers(first - second, pa.float32()),
            "entropy": numbers(-(shares * np.log(shares)).sum(1), pa.float32()),
            "label_probability": numbers(of_label, pa.float32(), not labels),
            "correct": numbers(order[:, 0] == true, pa.bool_(), not labels),
        }
    if lists:
        blocks, most = len(card.heads), max(card.heads)
        missing = np.array([[head >= of for head in range(most)] for of in card.heads]).ravel()
        for metric in COLUMNS.values():
            values = rng.gamma(2.0, 10.0 + true[:, None], (count, blocks * most))
            values[:, missing] = np.nan
            columns[metric] = _lists(values.astype(np.float32), bad, pa.float32())
    columns |= {
        "outliers": numbers(rng.poisson(1.0, count), pa.int16()),
        "largest_norm": numbers(1 + rng.gamma(2.0, 1.0, count), pa.float32()),
        "rollout_concentration": numbers(rng.beta(4, 6, count), pa.float32()),
        "rollout_peak": numbers(rng.beta(2, 30, count), pa.float32()),
    }
    if lists:
        middles = np.random.default_rng(seed).normal(size=(len(names), features)) * 2
        for feature in ("feature_cls", "feature_mean"):
            values = (middles[true] + rng.normal(size=(count, features))).astype(np.float16)
            columns[feature] = _lists(values, bad, pa.float16(), features)
        columns["view_attention_rollout"] = _lists(rng.random((count, 6)).astype(np.float32), bad, pa.float32())
    return pa.table(columns)


def _lists(values: np.ndarray, bad: np.ndarray, kind: pa.DataType, width: int = -1) -> pa.Array:
    return pa.array(
        [None if one else row for one, row in zip(bad, values, strict=True)],
        pa.list_(kind, width) if width > 0 else pa.list_(kind),
    )


def with_columns(folder: Path, **columns: pa.Array) -> None:
    """Give the only file of rows of a survey other values."""
    (file,) = (folder / "rows").glob("*.parquet")
    table = pq.read_table(file)
    for name, values in columns.items():
        table = table.set_column(table.column_names.index(name), name, values)
    pq.write_table(table, file)


def same_names(count: int) -> tuple[Text, ...]:
    """Make names for many classes."""
    return tuple(same(f"class {number}") for number in range(count))
