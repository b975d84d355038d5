"""The trust view: ranks against a slow twin, the table for each model, the numbers of the view."""

from __future__ import annotations

import dataclasses
import zlib

import numpy as np
import pytest
import torch

import vitexplorer as vx
from tests.helpers.small_models import capture_small
from vitexplorer.core import standings as module
from vitexplorer.core.standings import ORACLE, Standings, mean_ranks, standings
from vitexplorer.core.text import Text
from vitexplorer.core.types import Provenance
from vitexplorer.figures.rendering import slide, windows
from vitexplorer.models.catalog import catalog
from vitexplorer.ui.panel.standing import standing
from vitexplorer.views import reading, trust

METHODS = ("attention_rollout", "grad_cam", "grad_cam:sign=both", "input_x_gradient", "random", "oracle")
NUMBERS = ("deletion", "grid_pointing", "avg_sensitivity")


@pytest.fixture
def table(monkeypatch):
    """Make the small ViT a bundled model with a table of its own."""
    values = np.array(
        [[0.2, 0.5, 0.9], [0.4, 0.6, 0.1], [0.1, 0.9, 0.0], [0.3, np.nan, 0.2], [0.5, 0.25, 1], [0.1, 1, 0]]
    )
    names = tuple(Text(key, "数") for key in NUMBERS)
    better = ("low", "high", "low")
    made = Standings(METHODS, NUMBERS, names, better, values, values - 0.1, values + 0.1, np.full((6, 3), 500.0), "")
    monkeypatch.setattr(module, "_tables", lambda: {"small": made})
    return made


def as_bundled(capture):
    """Return the same run under the name of a bundled model."""
    return dataclasses.replace(capture.provenance, weights="bundled", model="small", resized=False, changes=())


def slow_ranks(values: np.ndarray, better: tuple[str, ...]) -> list[float]:
    """Slow twin: each metric ranks the methods it has, ties share the mean rank; then the mean over the metrics."""
    result = []
    for at in range(len(values)):
        places = []
        for col, which in enumerate(better):
            mine = values[at, col]
            if np.isnan(mine):
                continue
            ordered = sorted((v for v in values[:, col] if not np.isnan(v)), reverse=which == "high")
            same = [place for place, v in enumerate(ordered, 1) if v == mine]
            places.append(sum(same) / len(same))
        result.append(sum(places) / len(places))
    return result


def test_ranks_are_those_of_the_slow_twin():
    rng = np.random.default_rng(0)
    values = rng.integers(0, 4, (7, 5)).astype(float)
    values[2, 1] = values[5, 4] = np.nan
    better = ("high", "low", "high", "low", "low")
    assert mean_ranks(values, better) == pytest.approx(slow_ranks(values, better))


def test_ranks_leave_out_yardsticks_other_settings_and_steadiness(table):
    assert table.ranked == {"input_x_gradient": 2.0, "attention_rollout": 1.5, "grad_cam": 2.0}
    assert next(iter(table.ranked)) == "attention_rollout"
    assert table.of("random", "grid_pointing") == 0.25
    assert np.isnan(table.of("legrad", "grid_pointing"))


def test_a_table_holds_for_the_plain_model_at_its_own_size(table):
    known = Provenance("small", "bundled", "")
    assert standings(known) is table
    for change in ({"weights": "random"}, {"changes": (Text("a", "b"),)}, {"resized": True}, {"model": "other"}):
        assert standings(dataclasses.replace(known, **change)) is None


def test_the_shipped_tables_are_of_the_shipped_classifiers():
    tables = module._tables()
    shipped = [entry.name for entry in catalog() if entry.bundled]
    models = {name: vx.load_model(name) for name in shipped}
    assert set(tables) == {name for name, model in models.items() if model.num_classes}
    for name, table in tables.items():
        assert table.weights == checksum(models[name].module), f"{name}: run benchmarks.truth again"
        assert len(table.methods) >= 13
        assert table.methods[-2:] == ("random", ORACLE)
        if table.class_sensitive == "grid_pointing":
            assert table.of(ORACLE, "grid_pointing") == 1
            assert table.of("random", "grid_pointing") == pytest.approx(0.25, abs=0.02)
            assert table.counts[:, table.numbers.index("grid_pointing")].max() == 500
        known = np.isfinite(table.low)
        assert (table.low[known] <= table.values[known]).all()
        assert (table.values[known] <= table.high[known]).all()
        assert np.isfinite(list(table.ranked.values())).all()
    pointing = [table for table in tables.values() if table.class_sensitive == "grid_pointing"]
    assert len(pointing) == len(tables) - 1 >= 4
    assert max(table.of(method, "grid_pointing") for table in pointing for method in table.ranked) >= 0.75


def checksum(module) -> str:
    """Return the checksum of every parameter and buffer, as `benchmarks.truth` writes it."""
    result = 0
    for tensor in module.state_dict().values():
        result = zlib.crc32(tensor.contiguous().view(-1).view(torch.uint8).numpy(), result)
    return f"{result:08x}"


def test_the_view_holds_the_table_and_this_image(table, monkeypatch):
    capture = capture_small("vit")
    asked = {"target": 3, "methods": "grad_cam,input_x_gradient,attn_lrp", "steps": 3}
    curves = vx.compute("faithfulness", capture, **asked)
    alone = vx.compute("trust", capture, **asked)
    gains = curves.areas[:, 1] - curves.areas[:, 0]
    assert alone.values[:, 0] == pytest.approx(gains)
    assert (alone.protocols, alone.methods) == ((trust.HERE,), curves.methods)
    assert trust.NO_TABLE in alone.notes

    monkeypatch.setattr(trust, "standings", lambda provenance: table)
    whole = vx.compute("trust", capture, **asked)
    assert whole.methods == (*curves.methods, ORACLE)
    assert whole.values[:-1, 1] == pytest.approx(gains)
    assert whole.values[:, 0] == pytest.approx([2, 2, np.nan, np.nan, np.nan], nan_ok=True)
    assert whole.values[:, 2] == pytest.approx([0.4, 0.3, np.nan, 0.5, 0.1], nan_ok=True)
    assert whole.low[0, 2:] == pytest.approx(table.low[1])
    assert whole.counts[:, 2].tolist() == [500, 500, 0, 500, 500]
    text = reading(whole)
    assert text.startswith(reading(curves))
    assert "rank Attention rollout first (mean rank 1.50 of 3)" in text
    assert (
        "Grad-CAM finds the right one best: 60.0\u00a0% of its relevance (50.0–70.0\u00a0%; 25.0\u00a0% by chance)"
        in text
    )


def test_a_row_that_is_not_there_is_not_spoken_of(table, monkeypatch):
    asked = {"target": 3, "methods": "grad_cam", "steps": 2}
    alone = vx.compute("trust", capture_small("vit"), **asked)
    sentences = " ".join(text.en for text in (*alone.notes, trust.VIEW.misleads))
    assert "truth itself" not in sentences
    assert ORACLE not in alone.methods
    monkeypatch.setattr(trust, "standings", lambda provenance: table)
    assert trust.TRUTH_ROW in vx.compute("trust", capture_small("vit"), **asked).notes


def drawn(result, in_window: bool = False) -> tuple[list[str], dict]:
    """Return the words on a figure, and its layout."""
    layout = (windows(result)[0][-1] if in_window else slide(result))["layout"]
    return [annotation["text"] for annotation in layout["annotations"]], layout


def test_the_winner_is_large_with_runner_up_and_random_beside_it_and_the_table_is_folded():
    result = vx.compute("trust", capture_small("vit"), target=3, methods="grad_cam,input_x_gradient,legrad", steps=3)
    order = np.argsort(-result.gains[:-1])
    traces = [trace for trace in windows(result)[0][-1]["data"] if (trace.get("meta") or {}).get("view")]
    boxes = {trace["meta"]["view"]: trace["meta"]["box"] for trace in traces}
    assert list(boxes) == [result.methods[order[0]], result.methods[order[1]], "random"]
    wide = [box[2] for box in boxes.values()]
    assert wide[0] > 1.5 * wide[1] == 1.5 * wide[2]
    words, layout = drawn(result, in_window=True)
    assert layout["meta"]["fold"] < layout["height"]
    assert max(y + tall for _, y, _, tall in boxes.values()) < layout["meta"]["fold"]
    assert any(word.startswith("first: ") and " ± " in word for word in words)
    assert "meta" not in drawn(result)[1]


def test_random_order_alone_is_drawn():
    words, _ = drawn(vx.compute("trust", capture_small("vit"), target=3, methods="random", steps=2))
    assert any(word.startswith("chance: ") for word in words)
    assert not any(word.startswith("first: ") for word in words)


def test_a_number_below_zero_has_a_minus_sign():
    result = vx.compute("trust", capture_small("vit"), target=3, methods="grad_cam", steps=2)
    below = dataclasses.replace(result, values=np.full_like(result.values, -0.25))
    words, _ = drawn(below)
    assert "−0.250" in words
    assert not any("-0" in word for word in words)


def test_the_line_beside_a_map(table):
    capture = capture_small("vit")
    known = as_bundled(capture)
    here = vx.compute("trust", capture, target=3, methods="grad_cam,input_x_gradient", steps=3)
    line = standing("grad_cam", known, here, "en")
    assert line.startswith("Rank 3 of 3 on this model") or line.startswith("Rank 2 of 3 on this model")
    assert "60.0\u00a0%" in line
    gains = dict(zip(here.methods, here.values[:, 0], strict=True))
    place = 1 + (gains["input_x_gradient"] > gains["grad_cam"])
    assert f"On this image: rank {place} of 2" in line
    assert ("no better than random" in line) == (gains["grad_cam"] <= gains["random"])
    assert standing("grad_cam", capture.provenance, None, "en") == ""
    assert standing("random", known, here, "zh") == ""


def test_where_parts_are_known_the_line_says_how_many_a_map_names(table, monkeypatch):
    parts = dataclasses.replace(table, numbers=("deletion", "target_sensitivity", "avg_sensitivity"))
    monkeypatch.setattr(module, "_tables", lambda: {"small": parts})
    known = as_bundled(capture_small("vit"))
    assert "finds their parts in 60.0\u00a0% of the cases (25.0\u00a0% by chance)" in standing(
        "grad_cam", known, None, "en"
    )
    monkeypatch.setattr(trust, "standings", lambda provenance: parts)
    text = reading(vx.compute("trust", capture_small("vit"), target=3, methods="grad_cam", steps=3))
    assert (
        "Grad-CAM finds their parts best: in 60.0\u00a0% of the cases (50.0–70.0\u00a0%; 25.0\u00a0% by chance)" in text
    )
