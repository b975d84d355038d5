"""A gradio component that draws itself in the browser from one value.

Everything travels in `value` (custom properties are lost when a component is hidden and shown again), and text reaches
the page through `textContent` alone: gradio evaluates what stands in templates.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gradio as gr

TRIGGER = Path(__file__).parent / "trigger.js"


class Widget(gr.HTML):
    """A `gr.HTML` whose markup, style and script are the files `<stem>.html`, `.css` and `.js` beside its module."""

    stem: str
    folder = Path(__file__).parent
    scripts: tuple[str, ...] = ()
    """script files in order where one is not enough; they share one scope"""

    def __init__(self, value: Any = None, **options: Any):
        """Args: value: the component's data model or None; options: as for `gr.HTML`."""
        super().__init__(
            value=value,
            html_template=(self.folder / f"{self.stem}.html").read_text(encoding="utf-8"),
            css_template=(self.folder / f"{self.stem}.css").read_text(encoding="utf-8"),
            js_on_load="\n".join(script.read_text(encoding="utf-8") for script in self._scripts()),
            apply_default_css=False,
            **options,
        )

    def _scripts(self) -> list[Path]:
        return [TRIGGER, *(self.folder / name for name in self.scripts or (f"{self.stem}.js",))]

    def postprocess(self, value: Any) -> Any:
        """The data model goes to the browser as it is."""
        return value

    def preprocess(self, payload: Any) -> None:
        """Nothing is ever read back from the browser's copy of the value."""

    def api_info(self) -> dict[str, str]:
        """The value's JSON type."""
        return {"type": "object"}
