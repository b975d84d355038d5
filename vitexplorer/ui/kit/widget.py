"""Widget: a gradio component that a JavaScript module of its own draws from one value.

Everything travels in `value` (custom properties are lost when a component is hidden and shown again), and text reaches
the page through `textContent` alone. Markup, style and script of a class are in the page once, see `static_files.py`.
"""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import gradio as gr
from pydantic import BaseModel

_UI = Path(__file__).parent.parent
_UNUSED = ("_retryable", "_undoable", "likeable", "streamable", "css_template", "buttons", "props")


class Widget(gr.HTML):
    """A `gr.HTML` whose markup, style and module are the files `<stem>.html`, `.css` and `.js` beside its module.

    The JavaScript module exports `mount`, see `kit/widget.js`. Every selector of the style sheet begins with the class
    of the component's own root, for all sheets are one.
    """

    stem: str
    sends: tuple[str, ...] = ()
    """Names of its own events; `events` is gradio's"""

    def __init__(self, value: Any = None, **options: Any):
        """Make a component.

        Args:
            value: the component's data model or None.
            options: options of `gr.HTML`.
        """
        events = json.dumps(self.sends)  # gradio takes for an event of the component what its script has in quotes
        super().__init__(
            value=value,
            html_template="",
            js_on_load=f"vxMount('{self.module_path()}', {events}, {{element, props, trigger, watch}});",
            apply_default_css=False,
            **options,
        )

    @classmethod
    def module_path(cls) -> str:
        """Return the path of its JavaScript module, relative to `ui`."""
        return Path(inspect.getfile(cls)).with_name(f"{cls.stem}.js").relative_to(_UI).as_posix()

    def postprocess(self, value: Any) -> Any:
        """Send the data model to the browser as it is."""
        return value.model_dump() if isinstance(value, BaseModel) else value

    def preprocess(self, payload: Any) -> None:
        """Ignore the browser's copy of the value."""

    def get_config(self, cls: type | None = None) -> dict[str, Any]:
        """Return the configuration of gradio's HTML without entries that are empty, or used by its chat alone."""
        return {name: value for name, value in super().get_config().items() if name not in _UNUSED}

    def api_info(self) -> dict[str, str]:
        """Return the value's JSON type."""
        return {"type": "object"}
