"""Keys that a visit keeps of fine-tuning; images, trainings and models lie on the disk or in shared caches."""

from __future__ import annotations

from dataclasses import dataclass

import gradio as gr


@dataclass(frozen=True)
class Session:
    """The states that the parts of the room share."""

    visitor: gr.State
    """which browser it is, see `visitor`"""
    chosen: gr.State
    """the images, `images.Chosen`, or None"""
    training: gr.State
    """name of the training that is open; empty for none"""
    run: gr.State
    """key of the method whose results are shown; empty for the best one"""
