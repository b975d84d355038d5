"""Attention canvas as a widget of Jupyter and Colab: the page's JavaScript, with values read and set in Python.

One block's attention is sent at a time, packed as for the page (`ui/canvas/payload.py`); the notebook handles hovering,
heads, colours and saving. Attention that is too large for one message is sent one query at a time.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import anywidget
import traitlets
from traitlets import Bool, Bytes, Dict, Enum, Float, Int

import vitexplorer.ui
from vitexplorer.capturing.capture import Capture
from vitexplorer.controls import BlockControl, HeadControl, QueryControl, written_value
from vitexplorer.core.text import Language
from vitexplorer.core.types import Query
from vitexplorer.figures.page import png_address
from vitexplorer.ui.canvas.all_heads import packed_strip, queries_of_strip
from vitexplorer.ui.canvas.block_data import block_facts, carried, default_query, frame_data, packed_row, valid_query
from vitexplorer.ui.canvas.canvas import Strip
from vitexplorer.ui.canvas.files import packed_block
from vitexplorer.ui.kit.served_files import FileAddress, ServedFile
from vitexplorer.ui.server.script import enclosed, needed
from vitexplorer.ui.shell.frame import about
from vitexplorer.ui.shell.theme import theme
from vitexplorer.views import VIEWS

_HERE, _PAGE = Path(__file__).parent, Path(vitexplorer.ui.__file__).parent
_MODULE = "notebook/attention_widget.js"
_SHEETS = ("kit/theme.css", "kit/frame.css", "kit/part.css", "canvas/canvas.css")
_DISPLAY = ("mode", "colormap", "opacity", "scale", "keep_mass", "smooth")


def _script() -> str:
    """Return the module for anywidget. Each widget instantiates its own modules, so that widgets share no state."""
    paths = [*sorted(_PAGE.rglob("*.js")), *sorted(_HERE.rglob("*.js"))]
    sources = {path.relative_to(_HERE.parent).as_posix(): path.read_text(encoding="utf-8") for path in paths}
    markup = json.dumps((_PAGE / "canvas" / "canvas.html").read_text(encoding="utf-8"))
    start = f"export default {{render: (widget) => modules()('{_MODULE}').render({markup}, widget)}};\n"
    return enclosed(needed(sources, _MODULE)) + start


def _style() -> str:
    """Return the style sheets and the theme's variables, scoped to the widget."""
    colours = re.sub(r"@font-face\s*\{[^}]*\}", "", theme()._get_theme_css())
    colours = colours.replace(":root.dark, :root .dark {", ".dark {").replace(":root {", "& {")
    sheets = [(_PAGE / name).read_text(encoding="utf-8") for name in _SHEETS]
    own = (_HERE / "notebook.css").read_text(encoding="utf-8")
    return "\n".join([":is(.vx-notebook, #vx) {", colours, *sheets, own, "}"])


def _read_head(text: Any, widget: Any) -> int | str:
    return int(text) if str(text).isdigit() else text


def _read_query(text: Any, widget: Any) -> Any:
    return tuple(map(int, text.split(","))) if isinstance(text, str) and "," in text else text


def _written_head(head: int | str, widget: Any) -> str:
    return str(head)


def _written_query(query: Query, widget: Any) -> str:
    return written_value(query)


class AttentionWidget(anywidget.AnyWidget):
    """Widget whose traits follow the user's picks at once, and whose display follows the traits.

    Raises SettingError if block, head or query is set to a value that the model lacks, and traitlets' TraitError for a
    wrong mode, colour map or share.
    """

    _esm = _script()
    _css = _style()

    block = traitlets.Any(help="counted from 0").tag(sync=True)
    head = traitlets.Any(help="mean, max, min or a number").tag(sync=True, to_json=_written_head, from_json=_read_head)
    query = traitlets.Any(help='"cls", "dist", "mean" or (row, col): what looks').tag(
        sync=True, to_json=_written_query, from_json=_read_query
    )
    mode = Enum(["overlay", "map", "reveal"], "overlay").tag(sync=True)
    colormap = Enum(["inferno", "viridis", "magma", "cividis", "greys"], "inferno").tag(sync=True)
    opacity = Float(0.8, min=0, max=1).tag(sync=True)
    scale = Enum(["map", "heads", "block"], "map", help="where the colours end").tag(sync=True)
    keep_mass = Float(1.0, min=0.01, max=1, help="share of the mass on patches that is shown").tag(sync=True)
    smooth = Bool(False).tag(sync=True)

    _value = Dict().tag(sync=True)
    _attention = Bytes().tag(sync=True)
    _rows = Bytes().tag(sync=True)
    _asked = Int().tag(sync=True)

    def __init__(self, capture: Capture, language: Language, **chosen: Any):
        """Show a capture; `chosen` are initial values of any traits above."""
        self.capture = capture
        self._language = language
        self._from_notebook = False
        chosen.setdefault("block", capture.depth - 1)
        block = BlockControl().parse(chosen["block"], capture, {})
        super().__init__(**{"head": "mean", "query": default_query(capture, block), **chosen, "block": block})
        self.observe(self._follow, ["block", "head", "query"])
        self.observe(self._answer, "_asked")
        self._show(0)

    @traitlets.validate("block")
    def _check_block(self, proposal: Any) -> int:
        return BlockControl().parse(proposal["value"], self.capture, {})

    @traitlets.validate("head")
    def _check_head(self, proposal: Any) -> int | str:
        return HeadControl().parse(proposal["value"], self.capture, {"block": self.block})

    @traitlets.validate("query")
    def _check_query(self, proposal: Any) -> Query:
        return QueryControl().parse(proposal["value"], self.capture, {"block": self.block})

    def set_state(self, sync_data: dict[str, Any]) -> None:
        """Take the notebook's state; its request is answered once, by the number that comes with it."""
        self._from_notebook = True
        try:
            super().set_state(sync_data)
        finally:
            self._from_notebook = False

    def _follow(self, change: Any) -> None:
        """Follow a change from Python; another block keeps the patch's position, and the head if it has it."""
        if self._from_notebook:
            return
        if change["name"] == "block":
            self._from_notebook = True
            self.query = carried(self.capture, self.query, change["old"], self.block)
            if isinstance(self.head, int) and self.head >= self.capture.num_heads(self.block):
                self.head = "mean"
            self._from_notebook = False
        self._show(0)

    def _answer(self, change: Any) -> None:
        self._show(self._asked)

    def _show(self, asked: int) -> None:
        """Send the block, the rows of its query in all blocks, and their metadata."""
        capture, block, query = self.capture, self.block, self.query
        image = ServedFile(url=png_address(capture.input.pixels), name="image.png")
        data = frame_data(capture, block, self._language, image)
        looking = valid_query(capture, block, query)
        sent_whole = data.attention is not None
        attention = packed_block(capture, block) if sent_whole else packed_row(capture, block, looking)
        data.attention = FileAddress(url=f"_attention/{block}/{'' if sent_whole else written_value(looking)}")
        queries = queries_of_strip(capture, block, query)
        if queries is not None:
            facts = [block_facts(capture, other, self._language) for other in range(capture.depth)]
            blocks = [fact.model_copy(update={"attention": None, "ahead": False}) for fact in facts]
            name = "/".join(["_rows", *map(written_value, queries)])
            data.strip = Strip(rows=ServedFile(url=name, name="heads.bin"), blocks=blocks)
        given = {"asked": asked, "head": str(self.head), "query": written_value(query), "link": ""}
        given |= {name: getattr(self, name) for name in _DISPLAY} | {"walks": capture.depth > 1}
        data = data.model_copy(update=about(VIEWS["attention_map"], self._language) | given)
        with self.hold_sync():
            self.set_trait("_attention", attention)
            self.set_trait("_rows", packed_strip(capture, queries) if queries else b"")
            self.set_trait("_value", data.model_dump())
