"""Script and style of the canvas for a notebook: the page's own modules and sheets, bundled into one file each."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path

import vitexplorer.ui
from vitexplorer.ui.server.script import enclosed, needed
from vitexplorer.ui.shell.theme import theme

_HERE, _PAGE = Path(__file__).parent, Path(vitexplorer.ui.__file__).parent
_MODULE = "notebook/attention_widget.js"
_SHEETS = ("kit/theme.css", "kit/frame.css", "kit/part.css", "canvas/canvas.css")


@cache
def widget_script() -> str:
    """Return the module for anywidget. Each widget instantiates its own modules, so that widgets share no state."""
    paths = [*sorted(_PAGE.rglob("*.js")), *sorted(_HERE.rglob("*.js"))]
    sources = {path.relative_to(_HERE.parent).as_posix(): path.read_text(encoding="utf-8") for path in paths}
    markup = json.dumps((_PAGE / "canvas" / "canvas.html").read_text(encoding="utf-8"))
    start = f"export default {{render: (widget) => modules()('{_MODULE}').render({markup}, widget)}};\n"
    return enclosed(needed(sources, _MODULE)) + start


@cache
def widget_style() -> str:
    """Return the style sheets and the theme's variables, scoped to the widget."""
    colours = re.sub(r"@font-face\s*\{[^}]*\}", "", theme()._get_theme_css())
    colours = colours.replace(":root.dark, :root .dark {", ".dark {").replace(":root {", "& {")
    sheets = [(_PAGE / name).read_text(encoding="utf-8") for name in _SHEETS]
    own = (_HERE / "notebook.css").read_text(encoding="utf-8")
    return "\n".join([":is(.vx-notebook, #vx) {", colours, *sheets, own, "}"])
