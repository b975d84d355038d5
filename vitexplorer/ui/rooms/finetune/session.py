"""State of a visit to the Fine-tune room, and what the parts of the room have in common.

States hold keys only; images, trainings and models are on disk or in shared caches.
"""

from __future__ import annotations

from dataclasses import dataclass

import gradio as gr

from vitexplorer.ui.shell.room_context import RoomContext


@dataclass(frozen=True)
class Session:
    """States that the parts of the room share."""

    visitor: gr.State
    """Name of the visitor's browser, see `visitor_names`"""
    chosen: gr.State
    """Chosen images, `training_images.Chosen`, or None"""
    training: gr.State
    """Name of the open training; empty for none"""
    run: gr.State
    """Key of the method whose results are shown; empty for the best one"""


class Part:
    """Part of the room: components, their events, and the states that these read."""

    def __init__(self, context: RoomContext, session: Session):
        self.context = context
        self.session = session
        self.engine = context.engine
        self.places = context.engine.places
        self.training = [session.visitor, session.training]
        self.here = [*self.training, context.address]
