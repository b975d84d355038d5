"""What takes files. They are handed over as they came; opening them, and saying what is wrong, is the engine's work.

gradio writes the JSON schema of a file three times into the configuration for each; nobody asks for it here.
"""

from __future__ import annotations

from typing import Any

import gradio as gr
from gradio.data_classes import ImageData


class ImageUpload(gr.Image):
    """Upload, paste, webcam; the value Python reads is the path of the untouched file."""

    is_template = True  # drawn by gradio's own Image

    def __init__(self, **options: Any):
        """Args: options: as for `gr.Image`."""
        super().__init__(
            type="filepath",
            sources=["upload", "clipboard", "webcam"],
            buttons=["fullscreen"],
            image_mode=None,
            **options,
        )

    def get_config(self, cls: type | None = None) -> dict[str, Any]:
        """The configuration of gradio's Image, whose arguments ours are."""
        return super().get_config(cls or gr.Image)

    def preprocess(self, payload: ImageData | None) -> str | None:
        """The path of the uploaded file; gradio's own preprocessing would open it first."""
        if payload is None or payload.path is None:
            return None
        return payload.path

    def api_info(self) -> dict[str, str]:
        """The value's JSON type."""
        return {"type": "object"}


class UploadButton(gr.UploadButton):
    """A button that takes files."""

    is_template = True  # drawn by gradio's own UploadButton

    def get_config(self, cls: type | None = None) -> dict[str, Any]:
        """The configuration of gradio's UploadButton, whose arguments ours are."""
        return super().get_config(cls or gr.UploadButton)

    def api_info(self) -> dict[str, str]:
        """The value's JSON type."""
        return {"type": "object"}
