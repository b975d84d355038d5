"""Answers about a survey: each number against pandas and loops, and refusals."""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.helpers.survey_folder import same_names, synthetic_survey, with_columns
from tests.helpers.survey_images import rows_of
from tests.helpers.thorough import in_turn
from tests.helpers.waiting import at_once
from vitexplorer.core.registry import UnknownNameError
from vitexplorer.core.text import ExplainedError, SettingError, Text
from vitexplorer.survey.answers import (
    count,
    gallery,
    histogram,
    map_2d,
    most_typical,
    near_duplicates,
    numeric_columns,
    rows_at,
    scatter,
    within_map,
)
from vitexplorer.survey.conditions import Condition, Equals, OneOf, Where, Within
from vitexplorer.survey.index import index_of
from vitexplorer.survey.opened import Survey, open_survey

histograms = importlib.import_module("vitexplorer.survey.answers.histogram")
NUMBERS = ("probability", "width", "distance[2,1]", "peak[0,2]", "view_attention_rollout[1,2]")


@pytest.fixture(scope="module")
def survey(tmp_path_factory: pytest.TempPathFactory) -> Survey:
    return open_survey(synthetic_survey(tmp_path_factory.mktemp("out") / "a [b]* 'c'", failed=0.1))


@pytest.fixture(scope="module")
def table(survey: Survey) -> pd.DataFrame:
    whole = rows_of(survey.folder).to_pandas()
    for name in (name for name in NUMBERS if "[" in name):
        key, row, col = name.replace("]", "").replace("[", ",").split(",")
        cols = 3
        at = int(row) * cols + int(col)
        whole[name] = [math.nan if values is None else float(values[at]) for values in whole[key]]
    return whole


def holds(row: pd.Series | dict, condition: Condition) -> bool:
    """Return whether a row meets a condition, in Python's exact arithmetic."""
    value = row[condition.column]
    value = None if value is None or value != value else value
    if isinstance(condition, Within):
        low, high = condition.low, condition.high
        return value is not None and (low is None or low <= value) and (high is None or value <= high)
    values = condition.values if isinstance(condition, OneOf) else (condition.value,)
    if condition.column == "probability":  # equal as 32-bit floats
        values = [one if one is None else float(np.float32(one)) for one in values]
    return any((value is None) if one is None else (value is not None and value == one) for one in values)


def left(table: pd.DataFrame, where: Where) -> pd.DataFrame:
    return table[[all(holds(row, one) for one in where) for _, row in table.iterrows()]]


@pytest.mark.parametrize(
    "where",
    [
        (),
        (Within("probability", 0.5, 0.75),),
        (Within("width", 100.5, 700), Equals("correct", True)),
        (OneOf("label", ("star", "gear")), Within("outliers", high=1)),
        (Equals("reason", None), Equals("predicted", 2)),
        (OneOf("correct", (False, None)),),
        (Within("distance[2,1]", 20), Within("view_attention_rollout[1,2]", 0.2, 0.9)),
        (Within("peak[0,2]"),),
        (Within("width", -math.inf, math.inf), Within("probability", math.inf)),
    ],
)
def test_rows_left_by_conditions(survey: Survey, table: pd.DataFrame, where: Where) -> None:
    expected = left(table, where)
    assert count(survey, where) == len(expected)
    assert [row["path"] for row in gallery(survey, where, limit=500)] == expected["path"].tolist()


def test_a_long_list_of_values_is_as_good_as_a_short_one(survey: Survey, table: pd.DataFrame) -> None:
    for column in ("row", "width"):
        few = OneOf(column, (*range(100, 400), None))
        many = OneOf(column, (*few.values, *range(10_000, 12_000)))
        assert 0 < count(survey, (few,)) == count(survey, (many,)) < len(table)


def test_a_bound_that_is_no_float_keeps_the_same_rows(survey: Survey, table: pd.DataFrame) -> None:
    number = float(table["probability"].dropna().iloc[0])
    assert count(survey, (Within("probability", number, number),)) == 1
    assert count(survey, (Within("probability", math.nextafter(number, 1), number + 1e-12),)) == 0


@pytest.mark.parametrize(
    ("name", "descending"), in_turn(["probability", "distance[2,1]", "label", "peak[0,2]"], [False, True])
)
def test_an_order(survey: Survey, table: pd.DataFrame, name: str, descending: bool) -> None:
    rows = table.assign(at=range(len(table))).sort_values(
        name, ascending=not descending, kind="stable", na_position="last"
    )
    result = [row["path"] for row in gallery(survey, (), name, descending, 7, 300)]
    assert result == rows["path"].tolist()[7:307]


@pytest.mark.parametrize("name", NUMBERS)
def test_bins(survey: Survey, table: pd.DataFrame, name: str) -> None:
    where = (Within("entropy", 0.2),)
    chart = histogram(survey, name, where, 7, by="label")
    rows = left(table, where)
    values = [float(value) for value in rows[name] if not math.isnan(value)]
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    labels = rows["label"][rows[name].notna()].tolist()
    groups = sorted(set(labels), key=lambda label: (-labels.count(label), label))
    expected = np.zeros((len(groups), 7), int)
    for value, label in zip(rows[name], rows["label"], strict=True):
        if not math.isnan(value):
            expected[groups.index(label), min(6, math.floor((float(value) - low) * (7 / (high - low))))] += 1
    assert chart.groups == tuple(groups)
    np.testing.assert_array_equal(chart.counts, expected)
    np.testing.assert_allclose(chart.edges, np.linspace(low, high, 8))
    assert chart.counts.sum() + chart.without == len(rows)


@pytest.mark.thorough
def test_only_what_an_eye_can_tell_apart_is_counted_apart(tmp_path: Path) -> None:
    many = open_survey(synthetic_survey(tmp_path, 100, classes=same_names(20), lists=False, failed=0))
    chart = histogram(many, "entropy", bins=3, by="label")
    assert len(chart.groups) == 12
    assert chart.others == 40
    assert chart.counts.sum() + chart.without == 60


def test_what_has_no_number_is_in_no_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(histograms, "MOST_GROUPS", 2)
    some = open_survey(synthetic_survey(tmp_path, 60, lists=False, failed=0.5))
    chart = histogram(some, "entropy", bins=3, by="label")
    assert (chart.without, len(chart.groups)) == (some.failed, 2)
    assert chart.counts.sum() + chart.others + chart.without == 60


def test_a_number_that_is_none_counts_as_none(tmp_path: Path) -> None:
    """A view may give NaN: no bound holds for it, and a query for rows without a number finds it."""
    folder = synthetic_survey(tmp_path, 20, rows_per_shard=20, lists=False, failed=0)
    values = [None, math.nan, *rows_of(folder)["entropy"].to_pylist()[2:]]
    with_columns(folder, entropy=pa.array(values, pa.float32()))
    some = open_survey(folder)
    assert [row["row"] for row in gallery(some, (Equals("entropy", None),))] == [0, 1]
    assert count(some, (Within("entropy"),)) == 18


def test_columns_of_numbers(survey: Survey) -> None:
    result = {column.key: column for column in numeric_columns(survey)}
    assert result["distance"].shape == (3, 3)
    assert result["probability"].title.zh == "预测类别的概率"
    assert not {"path", "hash", "feature_cls", "predicted", "correct"} & set(result)


@pytest.mark.parametrize(
    "condition",
    [
        Equals("label", "'; DROP TABLE rows; --"),
        Equals("path", "x\n' OR 1=1"),
        OneOf("label", ("$where_0_0", "{rows}", '"')),
    ],
)
def test_words_of_a_visitor_are_only_words(survey: Survey, condition: Condition) -> None:
    assert count(survey, (condition,)) == 0


@pytest.mark.parametrize(
    "condition",
    [
        Within('label" OR 1=1 --', 0),
        Within("label", 0),
        Within("distance", 0),
        Within("distance[3,0]", 0),
        Within("distance[0,3]", 0),
        Within("probability[0,0]", 0),
        Within("probability", math.nan),
        Equals("probability", "0.5"),
        Equals("probability", 1e300),
        Equals("width", 10**400),
        Equals("label", 3),
        Equals("correct", 1),
        OneOf("width", tuple(range(200_001))),
        Equals("feature_cls", 0.5),
    ],
)
def test_a_condition_without_a_meaning_is_refused(survey: Survey, condition: Condition) -> None:
    with pytest.raises(ExplainedError) as raised:
        count(survey, (condition,))
    assert raised.value.text.zh != raised.value.text.en


# ---------------------------------------------------------------------------------------------- any number

HUGE = float(np.finfo(np.float32).max)
FLOATS = [None, math.nan, math.inf, -math.inf, HUGE, -HUGE, 0.0, -0.0, 0.1, 1.0, 2.0**53, 1e-45, 16777216.0]
WHOLE = [None, -(2**63), 2**63 - 1, 2**53, 2**53 + 1, -1, 0, 1, 2, 255, 2**31, 2**62, 2**62 + 1]
TRUTHS = [None, True, False]
TEXTS = [None, "", "1", "true", "gear", "\0", "\u2028", "nan"]


@contextmanager
def right_or_refused() -> Iterator[None]:
    """Accept a refusal with a sentence in both languages."""
    message: Text | None = None
    try:
        yield
    except SettingError as error:
        message = error.text
    assert message is None or message.en.encode() != message.zh.encode()


@dataclass(repr=False)
class Extremes:
    """Make a survey of the largest and oddest numbers that a column can hold."""

    survey: Survey
    rows: list[dict]


@pytest.fixture(scope="module")
def extremes(tmp_path_factory: pytest.TempPathFactory) -> Extremes:
    folder = synthetic_survey(tmp_path_factory.mktemp("extremes"), 39, rows_per_shard=39, lists=False, failed=0)

    def filled(values: list, kind: pa.DataType) -> pa.Array:
        return pa.array([values[at % len(values)] for at in range(39)], kind)

    with_columns(
        folder,
        probability=filled(FLOATS, pa.float32()),
        width=filled(WHOLE, pa.int64()),
        correct=filled(TRUTHS, pa.bool_()),
        label=filled(TEXTS, pa.string()),
    )
    return Extremes(open_survey(folder), rows_of(folder).to_pylist())


NUMBERS_ASKED = [1e39, -1e39, math.nan, math.inf, -math.inf, 2**70, -(2**70), 2**127, 10**400, -(10**400)]
NUMBERS_ASKED += [5e-324, 1e308, 2**53 + 1, 2.0**63, 2**24 + 1, 0.1, 0.5, 100.5, True, False]
VALUES = (
    st.sampled_from([*NUMBERS_ASKED, *FLOATS, *WHOLE, *TRUTHS, *TEXTS, "1e400", "\ud800", "a" * 5000])
    | st.floats()
    | st.integers(-(2**66), 2**66)
    | st.text(max_size=3)
)
JSON = VALUES | st.lists(VALUES, max_size=2) | st.dictionaries(st.text(max_size=2), VALUES, max_size=1)
COLUMNS = st.sampled_from(["probability", "width", "correct", "label"])
CONDITIONS = (
    st.builds(Within, COLUMNS, JSON, JSON)
    | st.builds(Equals, COLUMNS, JSON)
    | st.builds(OneOf, COLUMNS, st.lists(VALUES, max_size=4).map(tuple) | JSON)
)


@pytest.mark.usefixtures("unchecked")
@settings(max_examples=500, derandomize=True, database=None, deadline=None, phases=[Phase.generate])
@given(CONDITIONS)
def test_any_condition_leaves_its_rows_or_is_refused(extremes: Extremes, condition: Condition) -> None:
    survey, rows = extremes.survey, extremes.rows
    with right_or_refused():
        assert count(survey, (condition,)) == sum(holds(row, condition) for row in rows)


def test_a_bound_that_no_column_can_hold_leaves_all_or_none(extremes: Extremes) -> None:
    survey, rows = extremes.survey, extremes.rows
    held = {name: sum(row[name] is not None and row[name] == row[name] for row in rows) for name in rows[0]}
    for name, infinite in (("probability", FLOATS.count(math.inf) * 3), ("width", 0)):
        for beyond in (1e39, 2**70 if name == "width" else 2**200, 10**400):
            assert count(survey, (Within(name, high=beyond),)) == held[name] - infinite
            assert count(survey, (Within(name, low=beyond),)) == infinite
            assert count(survey, (Within(name, low=-beyond),)) == held[name] - infinite
            assert count(survey, (Within(name, high=-beyond),)) == infinite
    assert count(survey, (Equals("width", 2**70),)) == 0
    assert count(survey, (Equals("width", 2**53 + 1),)) == 3


ODD = {ascii(one)[:12]: one for one in [*NUMBERS_ASKED, "1e400", [1], {}, None]} | {"digits": 10**5000}


@pytest.mark.parametrize("number", ODD.values(), ids=ODD)
def test_every_number_of_a_question_is_right_or_refused(survey: Survey, number: object, unchecked: None) -> None:
    questions = (
        lambda: histogram(survey, "width", bins=number),
        lambda: histogram(survey, "width", bounds=(number, 1.0)),
        lambda: histogram(survey, "probability", bounds=(0.0, number)),
        lambda: histogram(survey, "width", bounds=(number, number)),
        lambda: scatter(survey, "width", "probability", most=number),
        lambda: scatter(survey, "width", "probability", cells=number),
        lambda: gallery(survey, offset=number),
        lambda: gallery(survey, limit=number),
        lambda: most_typical(survey, limit=number),
        lambda: near_duplicates(survey, limit=number),
        lambda: near_duplicates(survey, threshold=number),
        lambda: map_2d(survey, most=number),
        lambda: within_map(survey, "feature_cls", (number, 1.0, 0.0, 1.0)),
        lambda: rows_at(survey, [number]),
    )
    for question in questions:
        with right_or_refused():
            question()


@pytest.mark.parametrize(("name", "value"), [("width", 2**63 - 1), ("width", 2**53 + 1), ("probability", HUGE)])
def test_a_single_value_far_out_has_bins(extremes: Extremes, name: str, value: float) -> None:
    survey = extremes.survey
    chart = histogram(survey, name, (Equals(name, value),), 4)
    assert (chart.counts.sum(), bool((np.diff(chart.edges) > 0).all())) == (3, True)
    assert scatter(survey, name, name, (Equals(name, value),)).density.sum() == 3


def test_a_mistyped_column_is_guessed(survey: Survey) -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'probability'"):
        count(survey, (Within("probabilty", 0),))


def test_no_answer_is_endless(survey: Survey) -> None:
    for asked in (
        lambda: gallery(survey, limit=100_000),
        lambda: gallery(survey, offset=-1),
        lambda: histogram(survey, "width", bins=10**6),
        lambda: histogram(survey, "width", by="probability"),
    ):
        with pytest.raises(ExplainedError):
            asked()


def test_a_survey_that_runs_is_opened_again(tmp_path: Path) -> None:
    synthetic_survey(tmp_path, 400, shards=[2, 0], lists=False)
    first = open_survey(tmp_path)
    assert first.count == 256
    assert not first.is_finished
    synthetic_survey(tmp_path, 400, shards=[1, 3], lists=False)
    then = open_survey(tmp_path)
    assert (first.count, then.count) == (256, 400)
    assert count(first) == 256  # it is asked as it was opened
    paths = [row["path"] for row in gallery(then, limit=500)]
    assert paths == [row["path"] for row in gallery(open_survey(tmp_path), limit=500)]
    assert [int(path.split("image ")[1].split(".")[0]) for path in paths] == list(range(400))
    assert len(list((tmp_path / "index").iterdir())) == 1


@pytest.mark.thorough
def test_a_survey_without_rows_yet(tmp_path: Path) -> None:
    survey = open_survey(synthetic_survey(tmp_path, shards=[]))
    assert (survey.count, count(survey), gallery(survey), numeric_columns(survey)) == (0, 0, (), ())


@pytest.mark.thorough
def test_a_broken_file_is_reported_and_the_others_count(tmp_path: Path) -> None:
    synthetic_survey(tmp_path, 400, lists=False)
    file = tmp_path / "rows" / "shard-00001.parquet"
    whole = file.read_bytes()
    for damaged in (whole[:-3000], whole[:200] + bytes(3000) + whole[3200:]):
        file.write_bytes(damaged)
        survey = open_survey(tmp_path)
        assert survey.count == 400 - 128
        assert "shard-00001.parquet" in survey.broken[0].en
    file.write_bytes(whole)
    assert open_survey(tmp_path).count == 400


def test_a_missing_survey_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ExplainedError, match=r"survey\.json"):
        open_survey(tmp_path)


@pytest.mark.thorough
def test_threads_ask_at_once(survey: Survey, table: pd.DataFrame) -> None:
    expected = int((table["distance[2,1]"] > 30).sum())
    assert at_once(*[lambda: count(survey, (Within("distance[2,1]", 30.0000001),))] * 8) == [expected] * 8


@pytest.mark.thorough
def test_an_index_of_another_version_is_made_anew(tmp_path: Path) -> None:
    """The index stores floats unpacked, whatever was there before."""
    folder = synthetic_survey(tmp_path / "survey", 60, lists=False)
    first = index_of(folder, 128).path
    old = first.with_name(f"1-{first.name.partition('-')[2]}")
    with duckdb.connect(str(first)) as con:
        con.execute("UPDATE rows SET entropy = 0")
    first.rename(old)
    survey = open_survey(folder)
    assert count(survey, (Within("entropy", 0, 0),)) == 0
    assert not old.exists()


def test_an_index_that_is_a_link_is_left_alone(tmp_path: Path) -> None:
    """The link's target belongs to somebody, even where its name ends like an index."""
    folder, own = synthetic_survey(tmp_path / "survey", 20, lists=False), tmp_path / "own"
    own.mkdir()
    (own / "mine.duckdb").write_text("mine")
    (folder / "index").symlink_to(own)
    assert count(open_survey(folder)) == 20
    assert [file.name for file in own.iterdir()] == ["mine.duckdb"]


@pytest.mark.thorough
def test_a_folder_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synthetic_survey(tmp_path, 50, lists=False)
    (tmp_path / "index").write_text("a file in its place")
    assert open_survey(tmp_path).count == 50
    assert open_survey(tmp_path).count == 50


def test_no_query_reaches_another_file(survey: Survey) -> None:
    with pytest.raises(Exception, match="disabled"):
        survey.sql("SELECT * FROM {rows} AND row IN (SELECT 1 FROM read_csv('/etc/hostname'))")
