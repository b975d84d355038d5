"""A button that takes files and hands them over as they came: opening them is the engine's work.

gradio writes the JSON schema of a file three times into the configuration for each; nobody asks for it here.
"""

from __future__ import annotations

from typing import Any

import gradio as gr


class UploadButton(gr.UploadButton):
    """A button that takes files."""

    is_template = True  # drawn by gradio's own UploadButton

    def get_config(self, cls: type | None = None) -> dict[str, Any]:
        """The configuration of gradio's UploadButton, whose arguments ours are."""
        return super().get_config(cls or gr.UploadButton)

    def api_info(self) -> dict[str, str]:
        """The value's JSON type."""
        return {"type": "object"}
