"""Example notebooks in `assets` run from top to bottom, and their last values have displays."""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from vitexplorer.core.notebook_display import NotebookDisplay
from vitexplorer.core.settings import ASSETS
from vitexplorer.notebook.attention_widget import AttentionWidget

NOTEBOOKS = sorted(ASSETS.glob("*.ipynb"))


def cells(path: Path, kind: str) -> list[str]:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    return ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == kind]


def run(code: str, names: dict[str, Any]) -> Any:
    """Run a cell and return its last value; None if that is no expression."""
    body = ast.parse(code).body
    last = body.pop() if isinstance(body[-1], ast.Expr) else None
    exec(compile(ast.Module(body, []), "cell", "exec"), names)
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names) if last else None


def test_the_cells_run_and_show_themselves(monkeypatch, thorough):
    monkeypatch.chdir(ASSETS)
    monkeypatch.setattr(sys, "path", [*sys.path])
    names: dict[str, Any] = {}
    *quick, training = cells(ASSETS / "notebook.ipynb", "code")
    results = [run(code, names) for code in quick]
    drawn = [thing._repr_mimebundle_() for thing in results if isinstance(thing, NotebookDisplay)]
    assert len(drawn) == 7
    assert all("text/html" in bundle and bundle["text/plain"] for bundle in drawn)
    canvas, query, alike = results[-3:]
    assert isinstance(canvas, AttentionWidget)
    assert query == (4, 5)
    assert (canvas.block, canvas._value["query"]) == (4, "4,5")
    assert alike.shape == (names["capture"].depth, names["other"].depth)
    assert np.all((alike >= 0) & (alike <= 1))
    rather, alone = results[5], results[4]
    assert not np.allclose(rather.values, alone.values)
    if thorough:
        tuned = run(training, names)
        assert len(tuned.model.class_names) == len(tuned.confusion) == 12
        assert tuned.value > tuned.baseline.constant
        assert "<table" in tuned._repr_mimebundle_()["text/html"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_they_are_saved_without_outputs_and_say_the_same(path):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert [cell["outputs"] for cell in notebook["cells"] if cell["cell_type"] == "code"] == [[]] * 11
    assert cells(path, "code") == cells(ASSETS / "notebook.ipynb", "code")
    assert len(cells(path, "markdown")) == 11


def test_there_is_one_in_each_language():
    assert [path.name for path in NOTEBOOKS] == ["notebook.ipynb", "notebook.zh.ipynb"]
