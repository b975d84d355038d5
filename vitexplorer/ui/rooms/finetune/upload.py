"""Upload button with a short configuration: gradio would write the JSON schema of a file into it three times."""

from __future__ import annotations

from typing import Any

import gradio as gr


class UploadButton(gr.UploadButton):
    """gradio's upload button without the JSON schema."""

    is_template = True  # drawn by gradio's own UploadButton

    def get_config(self, cls: type | None = None) -> dict[str, Any]:
        """Return the configuration of gradio's UploadButton, which has the same arguments."""
        return super().get_config(cls or gr.UploadButton)

    def api_info(self) -> dict[str, str]:
        """Return the value's JSON type."""
        return {"type": "object"}
