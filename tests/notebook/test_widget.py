"""`vx.widget`: values synchronised both ways, and in Chromium the page's canvas on the bytes sent with it."""

from __future__ import annotations

import base64
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import traitlets
from playwright.sync_api import Browser, Page

import vitexplorer as vx
import vitexplorer.ui
from tests.helpers.room_checks import painted
from tests.helpers.small_models import capture_small
from vitexplorer.core.registry import UnknownNameError
from vitexplorer.core.text import SettingError, UnsupportedError
from vitexplorer.notebook.attention_widget import AttentionWidget
from vitexplorer.ui.canvas import all_heads
from vitexplorer.ui.canvas.payload import packed_bytes

CANVAS = Path(vitexplorer.ui.__file__).parent / "canvas"


# ---------------------------------------------------------------------------------------------- in Python


def test_what_is_set_is_checked_and_sent():
    captured = capture_small("vit")
    widget = vx.widget(captured, block=0, query=(1, 2))
    assert (widget.block, widget.head, widget.query) == (0, "mean", (1, 2))
    before = widget._attention
    widget.block = 1
    assert widget.query == (1, 2)
    assert widget._value["block"] == 1
    assert widget._attention != before
    widget.head, widget.query = 2, "cls"
    assert widget.get_state(["head", "query"]) == {"head": "2", "query": "cls"}
    assert (widget._value["head"], widget._value["query"], widget._value["asked"]) == ("2", "cls", 0)
    with pytest.raises(SettingError, match="There is no block 99"):
        widget.block = 99
    with pytest.raises(SettingError):
        widget.query = (40, 0)
    with pytest.raises(UnknownNameError):
        widget.head = "median"
    with pytest.raises(traitlets.TraitError):
        widget.opacity = 2.0
    with pytest.raises(traitlets.TraitError):
        widget.colormap = "jet"


def test_a_click_in_the_notebook_is_read_and_answered_once():
    widget = vx.widget(capture_small("vit"))
    answered: list[int] = []
    widget.observe(lambda change: answered.append(change["new"]["asked"]), "_value")
    widget.set_state({"block": 1, "head": "1", "query": "2,3", "_asked": 7})
    assert (widget.block, widget.head, widget.query) == (1, 1, (2, 3))
    assert answered == [7]


def test_a_patch_keeps_its_place_where_the_next_block_has_another_grid():
    captured = capture_small("swin")
    finest, coarsest = captured.grid(0), captured.grid(captured.depth - 1)
    widget = vx.widget(captured, block=0, query=(finest.rows - 1, finest.cols - 1))
    widget.block = captured.depth - 1
    assert widget.query == (coarsest.rows - 1, coarsest.cols - 1)


def test_what_is_too_large_for_one_piece_is_sent_a_query_at_a_time(monkeypatch):
    captured = capture_small("vit")
    monkeypatch.setattr("vitexplorer.ui.canvas.files.size", lambda capture, block: 10**9)
    widget = vx.widget(captured, query=(0, 1))
    windows, keys = captured.positions(widget.block).shape
    assert len(widget._attention) == packed_bytes(windows, captured.num_heads(widget.block), 1, keys)
    row = widget._attention
    widget.query = (1, 1)
    assert widget._attention != row
    monkeypatch.setattr(all_heads, "MOST_WEIGHTS", 0)
    widget.query = (1, 2)
    assert widget._value["strip"] is None
    assert widget._rows == b""


def test_the_choices_are_those_of_the_canvas():
    source = (CANVAS / "selection.js").read_text(encoding="utf-8")
    for name, trait in (("MODES", "mode"), ("SCALES", "scale")):
        written = re.search(rf"{name} = \[(.*?)\]", source)[1]
        assert re.findall(r"'(\w+)'", written) == AttentionWidget.class_traits()[trait].values
    maps = re.findall(r"^  (\w+): \[$", (CANVAS / "colours.js").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(maps) == sorted(AttentionWidget.class_traits()["colormap"].values)
    (first,) = re.findall(r"^ +mode: .overlay.*?\};$", source, re.MULTILINE | re.DOTALL)
    display = [choice for choice in re.findall(r"(\w+): '?([\w.]+)'?", first) if choice[0] != "sharpen"]  # asks Python
    assert len(display) == 6
    for name, value in display:
        assert str(AttentionWidget.class_traits()[name].default_value).removesuffix(".0").lower() == value


def test_a_missing_package_is_named_with_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(UnsupportedError, match="pip install anywidget"):
        vx.widget(capture_small("vit"))


# ---------------------------------------------------------------------------------------------- in a browser

PAGE = """<!doctype html><meta charset="utf-8"><body style="margin: 0"><div id="out"></div>"""
MOUNT = """async ([script, style, state]) => {
  const view = ({bytes}) => new DataView(Uint8Array.from(atob(bytes), (letter) => letter.charCodeAt(0)).buffer);
  const unpacked = (state) => Object.fromEntries(Object.entries(state)
    .map(([name, value]) => [name, value?.bytes === undefined ? value : view(value)]));
  const values = unpacked(state), hearing = {};
  let unsaved = {};
  const take = (changes) => {
    const changed = Object.keys(changes).filter((name) => values[name] !== changes[name]);
    Object.assign(values, changes);
    for (const name of changed) for (const hear of hearing[`change:${name}`] ?? []) hear();
  };
  window.model = {
    get: (name) => values[name],
    set: (name, value) => { if (values[name] !== value) { unsaved[name] = value; take({[name]: value}); } },
    on: (event, hear) => { (hearing[event] ??= []).push(hear); },
    off: (event, hear) => { hearing[event] = hearing[event].filter((one) => one !== hear); },
    async save_changes() {
      const changes = unsaved;
      unsaved = {};
      if (Object.keys(changes).length) take(unpacked(await toPython(changes)));
    },
  };
  window.fromPython = (state) => take(unpacked(state));
  document.head.append(Object.assign(document.createElement('style'), {textContent: style}));
  const module = await import(URL.createObjectURL(new Blob([script], {type: 'text/javascript'})));
  window.end = await module.default.render({model, el: document.getElementById('out')});
}"""


def packed(state: dict[str, Any]) -> dict[str, Any]:
    """Return a widget's state as JSON."""
    return {
        name: {"bytes": base64.b64encode(value).decode()} if isinstance(value, bytes) else value
        for name, value in state.items()
        if not name.startswith(("_esm", "_css", "layout"))
    }


class Notebook:
    """Plain page with one widget and no network; each side receives the other's changes."""

    def __init__(self, page: Page, widget: AttentionWidget):
        self.page, self.widget = page, widget
        page.expose_function("toPython", self._heard)
        page.set_content(PAGE)
        page.evaluate(MOUNT, [widget._esm, widget._css, packed(widget.get_state())])
        page.wait_for_selector(".vx-canvas[data-state=ready]")

    def _heard(self, changes: dict[str, Any]) -> dict[str, Any]:
        before = self.widget.get_state()
        self.widget.set_state(changes)
        after = self.widget.get_state()
        return packed({name: value for name, value in after.items() if value != before[name]})

    def set(self, **values: Any) -> None:
        """Set values as a cell of the notebook does."""
        before = self.widget.get_state()
        for name, value in values.items():
            setattr(self.widget, name, value)
        after = self.widget.get_state()
        self.page.evaluate("(state) => fromPython(state)", packed({n: v for n, v in after.items() if v != before[n]}))

    def read(self) -> dict[str, Any]:
        """Return the numbers on the screen, once the canvas has painted."""
        painted(self.page)
        return self.page.evaluate(
            "() => { const read = document.querySelector('.vx-canvas').vx.read(); "
            "return {...read, map: [...read.map]}; }"
        )


@pytest.fixture
def notebook(chromium: Browser):
    captured = capture_small("vit")
    with chromium.new_context(offline=True, viewport={"width": 1000, "height": 900}) as context:
        yield Notebook(context.new_page(), vx.widget(captured, block=0))


def test_the_canvas_of_the_page_shows_the_widgets_numbers(notebook):
    page, widget, captured = notebook.page, notebook.widget, notebook.widget.capture
    grid, prefix = captured.grid(0), len(captured.prefix_tokens)

    def expected(block: int, query: tuple[int, int], head: int | str) -> np.ndarray:
        rows = captured.attention(block)[:, prefix + query[0] * grid.cols + query[1], prefix:].numpy()
        return rows.mean(0) if head == "mean" else rows[head]

    box = page.locator(".view").bounding_box()
    row, col = grid.rows - 1, 0
    at = box["x"] + box["width"] * (col + 0.5) / grid.cols, box["y"] + box["height"] * (row + 0.5) / grid.rows
    page.mouse.move(*at)
    np.testing.assert_allclose(notebook.read()["map"], expected(0, (row, col), "mean"), atol=1 / 255)
    assert widget.query == "cls"
    page.mouse.click(*at)
    page.wait_for_function(f"() => model.get('query') === '{row},{col}'")
    assert widget.query == (row, col)
    page.mouse.move(0, 0)
    notebook.set(query=(1, 2), head=1)
    assert notebook.read()["query"] == "1,2"
    np.testing.assert_allclose(notebook.read()["map"], expected(0, (1, 2), 1), atol=1 / 255)

    page.locator(".blocks .after").click()
    page.wait_for_selector(".vx-canvas[data-block='1'][data-part=whole]")
    page.wait_for_function("() => model.get('block') === 1")
    assert (widget.block, widget.query, widget.head) == (1, (1, 2), 1)
    np.testing.assert_allclose(notebook.read()["map"], expected(1, (1, 2), 1), atol=1 / 255)

    notebook.set(block=2, head="mean", colormap="viridis")
    page.wait_for_selector(".vx-canvas[data-block='2'][data-part=whole]")
    np.testing.assert_allclose(notebook.read()["map"], expected(2, (1, 2), "mean"), atol=1 / 255)
    assert page.locator("select.colormap").input_value() == "viridis"
    assert page.get_by_text("RANDOM").count() == 1
