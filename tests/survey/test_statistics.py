"""Statistics of a survey's classes, heads and features, and of two surveys, against loops over pandas."""

from __future__ import annotations

import csv
import importlib
import json
import math
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.helpers.survey_folder import CLASSES, synthetic_survey, with_columns
from tests.helpers.survey_images import rows_of
from tests.helpers.thorough import quick
from vitexplorer import figures
from vitexplorer.core.text import ExplainedError
from vitexplorer.figures.tables import as_csv
from vitexplorer.survey.answers import chosen as choosing
from vitexplorer.survey.answers import (
    confusion_result,
    map_2d,
    map_of_image,
    mean_map,
    most_typical,
    most_unusual,
    near_duplicates,
    per_class,
    per_class_result,
    per_head,
    scatter,
    within_map,
    worst,
    worst_column,
)
from vitexplorer.survey.answers.map_2d import all_places
from vitexplorer.survey.answers.per_class import share_interval
from vitexplorer.survey.compared import accuracy_interval, compare_surveys, moved_heads
from vitexplorer.survey.conditions import Equals, OneOf, Where, Within
from vitexplorer.survey.export import export
from vitexplorer.survey.opened import Survey, open_survey
from vitexplorer.survey.source import read_source

twins = importlib.import_module("vitexplorer.survey.answers.near_duplicates")
classes = importlib.import_module("vitexplorer.survey.answers.per_class")
compared = importlib.import_module("vitexplorer.survey.compared")
heads = importlib.import_module("vitexplorer.survey.answers.per_head")
points_of = importlib.import_module("vitexplorer.survey.answers.scatter")
SURE: Where = (Within("probability", 0.4),)


@pytest.fixture(scope="module")
def survey(tmp_path_factory: pytest.TempPathFactory) -> Survey:
    return open_survey(synthetic_survey(tmp_path_factory.mktemp("out"), failed=0.1))


@pytest.fixture(scope="module")
def table(survey: Survey) -> pd.DataFrame:
    return table_of(survey)


def table_of(survey: Survey) -> pd.DataFrame:
    whole = rows_of(survey.folder).to_pandas()
    return whole.assign(row=range(len(whole)))


def unit(values: np.ndarray) -> np.ndarray:
    values = np.asarray(values, np.float64)
    return values / math.sqrt(sum(one * one for one in values.tolist()))


# ------------------------------------------------------------------------------------------------------- classes


def test_accuracy_of_classes(survey: Survey, table: pd.DataFrame) -> None:
    result = per_class(survey, SURE)
    rows = table[table["probability"] >= 0.4]
    for one in result.classes:
        mine = [row for _, row in rows.iterrows() if row["label"] == one.label]
        right = [row for row in mine if CLASSES[int(row["predicted"])].en == row["label"]]
        assert (one.count, one.judged, one.right) == (len(mine), len(mine), len(right))
        assert one.accuracy == len(right) / len(mine)
        assert one.probability == pytest.approx(sum(float(row["label_probability"]) for row in mine) / len(mine))
    accuracies = [one.accuracy for one in result.classes]
    assert accuracies == sorted(accuracies)
    assert result.whole.accuracy == sum(one.right for one in result.classes) / len(rows)
    for pair in result.pairs:
        mine = rows[(rows["label"] == pair.label) & (rows["predicted"] == pair.predicted)]
        assert (pair.count, pair.name.en != pair.label) == (len(mine), True)
    assert sum(pair.count for pair in result.pairs) == len(rows) - result.whole.right


def test_every_class_says_what_it_is_taken_for(
    survey: Survey, table: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pairs of one class are found however many other pairs are more frequent."""
    monkeypatch.setattr(classes, "MOST_PAIRS", 1)
    monkeypatch.setattr(classes, "MOST_TAKEN", 1)
    rows = per_class(survey)
    wrong = table[table["correct"] == False]  # noqa: E712
    for one in rows.classes:
        counts = wrong[wrong["label"] == one.label]["predicted"].value_counts()
        assert [pair.count for pair in rows.pairs if pair.label == one.label] == [counts.max()]


def test_an_interval_of_a_share_solves_its_equation() -> None:
    """Wilson: the ends p are where (share - p)^2 = z^2 p (1 - p) / n."""
    for right, count in ((0, 10), (3, 10), (999, 1000)):
        for end in share_interval(right, count):
            assert (right / count - end) ** 2 == pytest.approx(
                1.959964**2 * end * (1 - end) / count, rel=1e-5, abs=1e-9
            )
    assert all(math.isnan(end) for end in share_interval(0, 0))


def test_classes_as_figures(survey: Survey, table: pd.DataFrame) -> None:
    result, matrix = per_class_result(survey, SURE), confusion_result(survey)
    assert ((result.values >= 0) & (result.values <= 1)).all()
    assert as_csv(result).count("\n") == 1 + result.values.size
    for i, label in enumerate(matrix.classes):
        for j, name in enumerate(matrix.classes):
            at = [text.en for text in CLASSES].index(name)
            assert matrix.values[i, j] == ((table["label"] == label) & (table["predicted"] == at)).sum()


@pytest.mark.thorough
def test_images_without_labels(tmp_path: Path) -> None:
    survey = open_survey(synthetic_survey(tmp_path, 60, labels=False))
    rows = per_class(survey)
    assert (rows.whole.accuracy, rows.whole.judged, rows.pairs) == (None, 0, ())
    assert worst_column(survey) == "margin"
    margins = [row["margin"] for row in worst(survey, limit=20)]
    assert margins == sorted(table_of(survey)["margin"].dropna())[:20]
    assert [one.label for one in most_typical(survey, limit=3).images] == [None] * 3


def test_the_worst(survey: Survey, table: pd.DataFrame) -> None:
    expected = table.dropna(subset=["label_probability"]).sort_values("label_probability", kind="stable")
    assert [row["row"] for row in worst(survey, limit=50)] == expected["row"].tolist()[:50]


@pytest.mark.thorough
def test_no_classifier(tmp_path: Path) -> None:
    survey = open_survey(synthetic_survey(tmp_path, 20, classes=(), lists=False))
    for asked in (per_class, worst, lambda it: per_head(it, "distance"), map_2d, near_duplicates):
        with pytest.raises(ExplainedError) as raised:
            asked(survey)
        assert raised.value.text.zh != raised.value.text.en


# --------------------------------------------------------------------------------------------------------- heads


def test_means_of_heads(survey: Survey, table: pd.DataFrame) -> None:
    result = per_head(survey, "distance", SURE)
    rows = [list(values) for values in table[table["probability"] >= 0.4]["distance"]]
    for block in range(3):
        for head in range(3):
            values = [float(row[block * 3 + head]) for row in rows]
            if math.isnan(values[0]):
                assert math.isnan(result.values[block, head])
                assert result.counts[block, head] == 0
                continue
            mean = sum(values) / len(values)
            spread = math.sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1))
            half = 1.967 * spread / math.sqrt(len(values))  # t of about 330 degrees of freedom
            assert result.values[block, head] == pytest.approx(mean)
            assert result.high[block, head] - mean == pytest.approx(half, rel=1e-3)
            assert mean - result.low[block, head] == pytest.approx(half, rel=1e-3)
    assert "low,high,images,value" in as_csv(result)


@pytest.mark.thorough
def test_intervals_hold_the_mean_as_often_as_they_say(tmp_path: Path) -> None:
    """Make 60 surveys of 40 images: gamma(2, 10) and (2, 11) have mean 21, covered in 95 % (skewed: a few less)."""
    held = []
    for seed in range(60):
        folder = synthetic_survey(tmp_path / str(seed), 40, seed=seed, failed=0, classes=CLASSES[:2])
        result = per_head(open_survey(folder), "peak")
        known = np.isfinite(result.low)
        held += ((result.low <= 21) & (result.high >= 21))[known].tolist()
    assert 0.9 < np.mean(held) < 0.98


def test_of_very_many_a_sample_is_read(survey: Survey, other: Survey, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = per_head(survey, "distance")
    monkeypatch.setattr(heads, "MOST_READ", 100)
    some = per_head(survey, "distance")
    assert some.counts.max() == 100 < whole.counts.max()
    assert any("100 images that were drawn at random" in note.en for note in some.notes)
    assert not any("at random" in note.en or "随机" in note.zh for note in moved_heads(survey, other, "distance").notes)
    monkeypatch.setattr(compared, "MOST_READ", 100)
    moved = moved_heads(survey, other, "distance")
    matched = compare_surveys(survey, other).matched
    assert moved.counts.max() == 100 < matched
    sentence = choosing.SAMPLED.format(read=100, total=matched)
    assert sentence in moved.notes
    again = choosing.chosen(survey, (), 100)
    assert again.total > len(again.rows)
    assert set(choosing.chosen(survey, (), 50).rows) < set(again.rows)


@pytest.mark.thorough
def test_they_can_be_drawn(survey: Survey, other: Survey) -> None:
    for result in (
        per_class_result(survey, SURE),
        confusion_result(survey),
        per_head(survey, "distance", SURE),
        moved_heads(survey, other, "peak"),
    ):
        for language in ("en", "zh"):
            assert figures.render(result, language=language).layout.height > 100


# ------------------------------------------------------------------------------------------------------- scatter


def test_a_grid_counts_every_image_and_points_are_some(
    survey: Survey, table: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = scatter(survey, "entropy", "distance[1,1]", SURE, most=30, cells=5, by="label")
    rows = [row for _, row in table[table["probability"] >= 0.4].iterrows()]
    points = [(float(row["entropy"]), float(row["distance"][4]), row) for row in rows]
    x_low, x_high = min(x for x, _, _ in points), max(x for x, _, _ in points)
    y_low, y_high = min(y for _, y, _ in points), max(y for _, y, _ in points)
    density = np.zeros((5, 5), int)
    for x, y, _ in points:
        col = min(4, math.floor((x - x_low) * (5 / (x_high - x_low))))
        density[min(4, math.floor((y - y_low) * (5 / (y_high - y_low)))), col] += 1
    np.testing.assert_array_equal(result.density, density)
    assert result.total == len(points)
    with pytest.raises(ExplainedError, match="group"):
        scatter(survey, "entropy", "margin", by="distance")
    assert len(result.rows) == len(set(result.rows.tolist())) == 30
    for row, x, y, label in zip(result.rows, result.x, result.y, result.groups, strict=True):
        there = table.iloc[row]
        assert (x, y, label) == (float(there["entropy"]), float(there["distance"][4]), there["label"])
    drawn = result.rows.tolist()
    for too_few in (0, choosing.LARGEST_HASH // 100):
        monkeypatch.setattr(points_of, "hash_bounds", lambda *_, first=too_few: (first, choosing.LARGEST_HASH))
        assert scatter(survey, "entropy", "distance[1,1]", SURE, most=30).rows.tolist() == drawn


# ---------------------------------------------------------------------------------------------------- heat maps


def test_the_mean_of_maps_is_taken_cell_by_cell(
    survey: Survey, table: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "view_attention_rollout"
    result = mean_map(survey, name, SURE)
    rows = [row for _, row in table[table["probability"] >= 0.4].iterrows()]
    for row, col in np.ndindex(2, 3):
        cells = [float(one[name][row * 3 + col]) for one in rows]
        assert result.values[row, col] == pytest.approx(math.fsum(cells) / len(cells), rel=1e-9)
        assert result.counts[row, col] == len(cells)
    assert result.notes == ()
    own = map_of_image(survey, name, int(rows[3]["row"]))
    assert own is not None
    assert own.ravel().tolist() == rows[3][name].tolist()
    unread = int(table[table["reason"].notna()]["row"].iloc[0])
    assert [map_of_image(survey, name, row) for row in (-1, unread, survey.count, 10**8)] == [None] * 4
    monkeypatch.setattr(importlib.import_module("vitexplorer.survey.answers.mean_map"), "MOST_READ", 20)
    some = mean_map(survey, name)
    assert some.counts.max() == 20
    assert "20 images that were drawn at random" in some.notes[0].en
    with pytest.raises(ExplainedError, match="distance"):
        mean_map(survey, "distance")


# ------------------------------------------------------------------------------------------------------ features


def test_typical_images(survey: Survey, table: pd.DataFrame) -> None:
    rows = table[table["probability"] >= 0.4]
    cosines = []
    for label in set(rows["label"]):
        mine = rows[rows["label"] == label]
        mean = unit(np.sum([unit(values) for values in mine["feature_mean"]], axis=0))
        cosines += [(float(unit(row["feature_mean"]) @ mean), row["row"]) for _, row in mine.iterrows()]
    expected = sorted(cosines, reverse=True)
    for result, best in (
        (most_typical(survey, "feature_mean", SURE, 40), expected[:40]),
        (most_unusual(survey, "feature_mean", SURE, 40), expected[::-1][:40]),
    ):
        assert [one.row for one in result.images] == [row for _, row in best]
        np.testing.assert_allclose([one.cosine for one in result.images], [cosine for cosine, _ in best], atol=1e-6)


@pytest.mark.parametrize("exact", quick([True, False], [True]))
def test_near_duplicates(survey: Survey, table: pd.DataFrame, exact: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    known = [(row["row"], unit(row["feature_cls"])) for _, row in table.iterrows() if pd.isna(row["reason"])]
    pairs = [(float(one @ other), i, j) for (i, one), (j, other) in combinations(known, 2)]
    expected = sorted((pair for pair in pairs if pair[0] >= 0.97), reverse=True)
    monkeypatch.setattr(twins, "BLOCK", 100)
    if not exact:
        monkeypatch.setattr(twins, "MOST_EXACT", 100)
    result = twins.near_duplicates(survey, "feature_cls", threshold=0.97, limit=1000)
    there = {(one.row, one.other): one.cosine for one in result.pairs}
    assert len(there) == len(result.pairs) == result.total
    truth = {(i, j): cosine for cosine, i, j in expected}
    for pair, cosine in there.items():
        assert cosine == pytest.approx(truth[pair], abs=1e-6)
    if exact:
        assert there.keys() == truth.keys()
        assert [one.cosine for one in result.pairs] == sorted(there.values(), reverse=True)
    else:
        assert 0.9 < result.found_share < 1
        assert len(there) > 0.85 * len(truth)
        assert any("too many images to compare" in note.en for note in result.notes)


def test_a_map_of_images(survey: Survey, table: pd.DataFrame) -> None:
    points = map_2d(survey, "feature_cls", where=SURE)
    rows = table[table["probability"] >= 0.4]
    values = np.array([unit(one) for one in rows["feature_cls"]])
    values -= values.mean(0)
    variances, axes = np.linalg.eigh(values.T @ values)
    assert points.rows.tolist() == rows["row"].tolist()
    for axis in range(2):
        expected = values @ axes[:, -1 - axis]
        expected *= np.sign(expected @ points.places[:, axis])
        np.testing.assert_allclose(points.places[:, axis], expected, atol=1e-5)
        assert points.shares[axis] == pytest.approx(variances[-1 - axis] / variances.sum(), rel=1e-5)
    some = map_2d(survey, "feature_cls", most=20)
    everywhere, places = all_places(survey, "feature_cls", some)
    assert len(some.rows) == 20
    assert everywhere.tolist() == table["row"][table["feature_cls"].notna()].tolist()
    np.testing.assert_allclose(places[np.isin(everywhere, some.rows)], some.places, atol=1e-9)
    np.testing.assert_allclose(places[0] - places[1], (values[0] - values[1]) @ some.plane[1].T, atol=1e-5)
    inside = within_map(survey, "feature_cls", (-2.0, 0.1, -0.1, 2.0))
    placed = map_2d(survey, "feature_cls")
    part = [row for row, (x, y) in zip(placed.rows, placed.places, strict=True) if x <= 0.1 and y >= -0.1]
    assert list(inside.values) == part
    assert 0 < len(part) < len(placed.rows)


@pytest.mark.skipif(find_spec("umap") is not None, reason="umap-learn is installed")
def test_without_umap_a_sentence_says_how_to_get_it(survey: Survey) -> None:
    with pytest.raises(ExplainedError, match="pip install umap-learn"):
        map_2d(survey, method="umap")


@pytest.mark.thorough
@pytest.mark.skipif(find_spec("umap") is None, reason="umap-learn is not installed: pip install umap-learn")
@pytest.mark.filterwarnings("ignore:Tensorflow not installed:ImportWarning")
def test_umap_lays_classes_together_and_alike_each_time(survey: Survey, table: pd.DataFrame) -> None:
    result, again = map_2d(survey, method="umap"), map_2d(survey, method="umap")
    np.testing.assert_array_equal(result.places, again.places)
    labels = table["label"].to_numpy()[result.rows]
    apart = np.linalg.norm(result.places[:, None] - result.places, axis=2) + np.diag(np.full(len(labels), np.inf))
    assert (labels[apart.argmin(1)] == labels).mean() > 0.8


# ----------------------------------------------------------------------------------------------------- comparison


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Survey:
    return open_survey(synthetic_survey(tmp_path_factory.mktemp("other"), seed=1, failed=0.05, shards=[0, 1, 3]))


def test_what_changed_between_two_surveys(survey: Survey, other: Survey) -> None:
    comparison = compare_surveys(survey, other, limit=500)
    one, two = table_of(survey), table_of(other)
    answers = {row["path"]: row for _, row in two.iterrows()}
    both = [
        (row, answers[row["path"]])
        for _, row in one.iterrows()
        if row["path"] in answers and pd.notna(row["hash"]) and row["hash"] == answers[row["path"]]["hash"]
    ]
    sides = [(bool(row["correct"]), bool(then["correct"])) for row, then in both]
    assert (comparison.matched, comparison.judged) == (len(both), len(both))
    assert comparison.both_right == sides.count((True, True))
    assert (comparison.lost, comparison.won) == (sides.count((True, False)), sides.count((False, True)))
    assert comparison.other_answer == sum(row["predicted"] != then["predicted"] for row, then in both)
    assert comparison.difference == (comparison.won - comparison.lost) / len(both)
    lost = {row["path"] for row, then in both if row["correct"] and not then["correct"]}
    assert {change.path for change in comparison.lost_rows} == lost
    drops = [change.probability - change.other_probability for change in comparison.lost_rows]
    assert drops == sorted(drops, reverse=True)
    left_out = " ".join(text.en for text in comparison.left_out)
    assert f"Images that could not be read on the left: {one['reason'].notna().sum()}." in left_out
    alone = sum(row["path"] not in answers and pd.isna(row["reason"]) for _, row in one.iterrows())
    assert f"Images only in the survey on the left: {alone}." in left_out
    tail = sum(math.comb(comparison.won + comparison.lost, n) for n in range(min(comparison.won, comparison.lost) + 1))
    assert comparison.p_value == pytest.approx(min(1, 2 * tail / 2 ** (comparison.won + comparison.lost)))


@pytest.mark.thorough
def test_the_paired_bootstrap_draws_images() -> None:
    changes = [-1] * 12 + [1] * 20 + [0] * 68
    rng = np.random.default_rng(5)
    means = sorted(np.mean(rng.choice(changes, 100)) for _ in range(4000))
    low, high = accuracy_interval(12, 20, 100)
    assert (low, high) == accuracy_interval(12, 20, 100)
    assert low == pytest.approx(means[100], abs=0.011)
    assert high == pytest.approx(means[-100], abs=0.011)


def test_heads_that_moved(survey: Survey, other: Survey) -> None:
    result = moved_heads(survey, other, "distance")
    one, two = (table_of(side).set_index("path") for side in (survey, other))
    apart = [
        np.asarray(two.loc[path, "distance"], float) - np.asarray(one.loc[path, "distance"], float)
        for path in one.index
        if path in two.index and pd.notna(one.loc[path, "hash"]) and pd.notna(two.loc[path, "hash"])
    ]
    np.testing.assert_allclose(result.values.ravel(), np.mean(apart, axis=0), rtol=1e-6)
    spread = np.std(apart, axis=0, ddof=1) / math.sqrt(len(apart))
    np.testing.assert_allclose(((result.high - result.low) / 2).ravel(), 1.969 * spread, rtol=2e-3)
    np.testing.assert_array_equal(result.marked, (result.low > 0) | (result.high < 0))


@pytest.mark.thorough
def test_changed_pixels_have_no_partner(survey: Survey, tmp_path: Path) -> None:
    again = synthetic_survey(tmp_path, failed=0.1)
    file = again / "rows" / "shard-00000.parquet"
    rows = pd.read_parquet(file)
    rows.loc[rows["reason"].isna(), "hash"] = "f" * 64
    pq.write_table(pa.Table.from_pandas(rows, pq.read_schema(file), preserve_index=False), file)
    comparison = compare_surveys(survey, open_survey(again))
    changed = int(rows["reason"].isna().sum())
    assert any(f"with the same path and other pixels: {changed}." in text.en for text in comparison.left_out)
    assert (comparison.lost, comparison.won, comparison.difference, comparison.p_value) == (0, 0, 0, 1.0)
    assert comparison.matched == survey.count - survey.failed - changed


# --------------------------------------------------------------------------------------------------------- files


def test_rows_as_files(survey: Survey, table: pd.DataFrame, tmp_path: Path) -> None:
    where: Where = (OneOf("label", ("star", "leaf")), Equals("reason", None))
    rows = table[table["label"].isin(["star", "leaf"]) & table["reason"].isna()]
    again = pd.read_parquet(export(survey, where, tmp_path / "rows.parquet"))
    pd.testing.assert_frame_equal(again, rows.drop(columns="row").reset_index(drop=True), check_dtype=False)
    with export(survey, where, tmp_path / "rows.csv").open(encoding="utf-8-sig", newline="") as stream:
        lines = list(csv.DictReader(stream))
    for line, (_, row) in zip(lines, rows.iterrows(), strict=True):
        assert (line["path"], float(line["probability"])) == (row["path"], float(row["probability"]))
        assert line["correct"] == str(bool(row["correct"])).lower()
        values = [None if math.isnan(value) else float(value) for value in row["distance"]]
        assert json.loads(line["distance"]) == values
    assert not list(tmp_path.glob(".*"))


FORMULAS = ("=1+2", "+a", "-a.png", "@x", "\tt", "\rr", "'=b", "''-c", "＝全角")
HOSTILE = (*FORMULAS, "-1.5e-3", "'", "'plain", "plain", "--1", "")


def test_a_spreadsheet_runs_no_text_of_a_table(tmp_path: Path) -> None:
    survey = open_survey(synthetic_survey(tmp_path / "survey", len(HOSTILE), rows_per_shard=64, lists=False))
    paths, labels = [f"{text}.png" if text else "one.png" for text in HOSTILE], [text or None for text in HOSTILE]
    with_columns(survey.folder, path=pa.array(paths, pa.string()), label=pa.array(labels, pa.string()))
    written = export(open_survey(survey.folder), (), tmp_path / "rows.csv")
    with written.open(encoding="utf-8-sig", newline="") as stream:
        cells = [(line["path"], line["label"]) for line in csv.DictReader(stream)]
    for cell in sum(cells, ()):
        assert cell == "-1.5e-3" or not cell.startswith(("=", "+", "-", "@", "\t", "\r", "＝")), "it would be run"
    assert cells[-3:] == [("plain.png", "plain"), ("'--1.png", "'--1"), ("one.png", "")]
    again = list(read_source(written).rows)
    assert [(one.path, one.label) for one in again] == list(zip(paths, labels, strict=True))


def test_a_file_for_embedding_atlas(survey: Survey, table: pd.DataFrame, tmp_path: Path) -> None:
    result = pd.read_parquet(export(survey, SURE, tmp_path / "atlas.parquet", atlas=True))
    rows = table[table["probability"] >= 0.4]
    assert result["path"].tolist() == rows["path"].tolist()
    assert result[["projection_x", "projection_y"]].to_numpy().std() > 0
    values = [unit(one) for one in rows["feature_cls"]]
    for at in (0, 50):
        apart = sorted((1 - float(values[at] @ one), number) for number, one in enumerate(values) if number != at)
        assert list(result["neighbors"][at]["ids"]) == [number for _, number in apart[:15]]
        np.testing.assert_allclose(result["neighbors"][at]["distances"], [one for one, _ in apart[:15]], atol=1e-6)


@pytest.mark.parametrize(("name", "atlas"), [("rows.xlsx", False), ("rows", False), ("rows.csv", True)])
def test_a_file_that_is_not_written_is_reported(survey: Survey, tmp_path: Path, name: str, atlas: bool) -> None:
    with pytest.raises(ExplainedError, match="must end in"):
        export(survey, (), tmp_path / name, atlas=atlas)
    with pytest.raises(ExplainedError, match="was not written"):
        export(survey, (), tmp_path / "nowhere" / "rows.csv")
    assert list(tmp_path.iterdir()) == []
