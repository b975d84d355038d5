"""Queries that a block's control offers: those whose attention the block computes, and no other is accepted."""

from __future__ import annotations

import pytest

import vitexplorer as vx
from tests.helpers.small_families import capture_case
from tests.helpers.small_models import capture_small
from vitexplorer.capturing.capture import Capture
from vitexplorer.controls import BlockQueryControl, specs
from vitexplorer.core.text import SettingError
from vitexplorer.core.types import Query

CASES = ("cait", "xcit", "volo", "crossvit", "mvitv2_class")


def computes(capture: Capture, block: int, query: Query) -> bool:
    """Return True if the block has a row of attention for a query."""
    try:
        capture.attention_from(query, block)
    except SettingError:
        return False
    return True


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("view", ["attention_map", "head_gallery"])
def test_a_block_offers_the_queries_that_it_computes(view, case):
    capture, controls = capture_case(case), vx.views()[view].controls
    for block in range(capture.depth):
        query = next(spec for spec in specs(controls, capture, {"block": block}) if spec.name == "query")
        named = {name for name in (*capture.prefix_tokens, "mean") if computes(capture, block, name)}
        assert {name for name, _ in query.options} == named
        assert (query.board is not None) == computes(capture, block, (0, 0))
        assert vx.compute(view, capture, block=block).settings["query"] == query.value


def test_a_control_refuses_what_is_no_query_of_its_block():
    capture, control = capture_case("xcit"), BlockQueryControl()
    for token in ("mean", "2,1", (0, 0)):
        with pytest.raises(SettingError, match="Block 0 has no such query: its queries are the class token"):
            control.parse(token, capture, {"block": 0})
    with pytest.raises(SettingError, match="Block 1 has no such query: its queries are the patches"):
        control.parse("cls", capture_case("cait"), {"block": 1})
    assert control.parse("cls", capture, {}) == "cls"


@pytest.mark.parametrize(("kind", "row"), [("attention", 12), ("rollout", 3)])
@pytest.mark.parametrize("record", [vx.views()["before_after"], vx.comparisons()["maps"]], ids=["change", "comparison"])
def test_the_query_of_a_map_is_picked_on_the_grid_of_its_block(record, kind, row):
    capture = capture_small("swin")
    given = {"map": kind, "attention_block": 0, "query": (row, 0)}
    query = next(spec for spec in specs(record.controls, capture, given) if spec.name == "query")
    assert query.board.rows == capture.grid(0 if kind == "attention" else capture.depth - 1).rows > row
    assert record.settings(capture, given)["query"] == (row, 0)
