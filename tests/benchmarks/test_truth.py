"""The benchmark behind the table of maps against the truth: its pieces, its files, and one small run."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from benchmarks import truth
from vitexplorer.core.standings import ORACLE
from vitexplorer.evaluation.protocol import PROTOCOLS

NAME = "scenes_vit_patch16_192"


def test_pieces_hold_every_case_of_every_method_once(monkeypatch):
    monkeypatch.setattr(truth, "rows_of", lambda name: ("grad_cam", "occlusion", "random", ORACLE))
    for weights in ("auto", "random"):
        counts = truth.counts_of(NAME, weights, 0.3)
        held = dict.fromkeys(counts, 0)
        for piece in truth.pieces_of(NAME, weights, 0.3):
            assert piece.start < piece.end <= piece.start + truth.CHUNK
            assert piece.cost > 0
            for protocol, method, key in piece.measurements:
                assert PROTOCOLS[protocol].data == piece.kind
                assert key.startswith(f"{protocol} {method} ")
                assert held[protocol, method] == piece.start  # none is left out before
                held[protocol, method] = piece.end
        assert held == counts
    assert {protocol for protocol, _ in truth.counts_of(NAME, "random", 1)} == set(truth.WHERE)
    assert truth.counts_of(NAME, "auto", 1)["grid_pointing", "grad_cam"] == 500


def test_what_was_measured_is_not_measured_again(tmp_path):
    cases = tuple(("pointing", method, truth.key_of("pointing", method)) for method in ("random", ORACLE))
    piece = truth.Piece(NAME, "auto", "scenes", 0, 1, cases, 1)
    _, seconds = truth.work(piece, tmp_path)
    assert set(seconds) == {"", "pointing"}
    assert truth.work(piece, tmp_path)[1] == {}
    (file,) = tmp_path.rglob("*.json")
    saved = json.loads(file.read_text("utf-8"))
    assert saved[truth.key_of("pointing", ORACLE)] == [[1.0]]
    more = replace(piece, measurements=(*cases, ("overlap", "random", truth.key_of("overlap", "random"))))
    assert set(truth.work(more, tmp_path)[1]) == {"", "overlap"}
    changed = replace(piece, measurements=(("pointing", "random", "pointing random of another source"),))
    assert set(truth.work(changed, tmp_path)[1]) == {"", "pointing"}


@pytest.mark.thorough
def test_a_run_on_the_bundled_models(tmp_path, capsys):
    names = [NAME, "scenes_dino_patch16_192"]
    truth.main(scale=0.01, models=",".join(names), workers=1, folder=tmp_path, json_file=tmp_path / "t.json")
    printed = capsys.readouterr().out
    assert all(f"### {name}" in printed for name in names)
    tables = json.loads((tmp_path / "t.json").read_text("utf-8"))
    assert tables[NAME]["methods"][-2:] == ["random", ORACLE]
    assert set(tables) == {NAME}, "a model without classes is in the printed tables alone"
    assert re.findall(r"^\| `(\w+)`", printed.partition(names[1])[2], re.MULTILINE) == [
        "attention_map",
        "attention_rollout",
    ]
    for table in tables.values():
        values, low, high = (np.array(table[key], float) for key in ("values", "low", "high"))
        known = np.isfinite(low)  # no interval around one case
        assert known.any()
        assert (low[known] <= values[known] + 1e-6).all()
        assert (values[known] <= high[known] + 1e-6).all()
