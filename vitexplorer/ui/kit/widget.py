"""Widget: a gradio component that its own JavaScript module draws from one value.

All data are in `value`, since custom properties are lost when a component is hidden and shown again. Text is set as
`textContent`, never as markup. Markup, style and script of a class are in the page once, see `static_files.py`.
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
    """A `gr.HTML` whose markup, style and module are the `.html`, `.css` and `.js` of the same name beside its module.

    The JavaScript module exports `mount`, see `kit/widget.js`. Every selector of a style sheet begins with the class of
    a component's own root, since all sheets are joined into one; components that belong together share a sheet.
    """

    sends: tuple[str, ...] = ()
    """Names of its events; `events` is gradio's attribute"""

    def __init__(self, value: Any = None, **options: Any):
        """Make a component of its data model or None; `options` are those of `gr.HTML`."""
        events = json.dumps(self.sends)  # gradio recognises a component's events by the quoted names in its script
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
        return Path(inspect.getfile(cls)).with_suffix(".js").relative_to(_UI).as_posix()

    def postprocess(self, value: Any) -> Any:
        """Send the data model to the browser as it is."""
        return value.model_dump() if isinstance(value, BaseModel) else value

    def preprocess(self, payload: Any) -> None:
        """Ignore the browser's copy of the value."""

    def get_config(self, cls: type | None = None) -> dict[str, Any]:
        """Return gradio's configuration without entries that are empty or that only its chat uses."""
        return {name: value for name, value in super().get_config().items() if name not in _UNUSED}

    def api_info(self) -> dict[str, str]:
        """Return the value's JSON type."""
        return {"type": "object"}


class BrowserText(gr.HTML):
    """Input of events whose text a script of the page writes when they are sent; it shows nothing."""

    def __init__(self):
        super().__init__(visible=False)
