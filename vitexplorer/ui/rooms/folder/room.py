"""The room Folder: the same questions asked of every image of a folder, and whichever stands out one click away."""

from __future__ import annotations

from vitexplorer.core.text import Language
from vitexplorer.service.engine import Explored
from vitexplorer.ui.gradio_adapter.types import Block
from vitexplorer.ui.rooms.folder.view import SurveyData, SurveyView
from vitexplorer.ui.rooms.room import Room
from vitexplorer.ui.shell.address import Address
from vitexplorer.ui.shell.room_context import Updates


class SurveyRoom(Room):
    """What does the model do with all of my images?"""

    key = "survey"

    def build(self) -> list[Block]:
        """One component; what it asks goes to addresses of its own, see `surveying.routes`."""
        self.view = SurveyView(elem_id="vx-survey")
        return [self.view]

    def fill(self, explored: Explored, address: Address, language: Language) -> Updates:
        """The model that a survey would be of."""
        return {
            self.view: SurveyData(
                model=address.model,
                weights=address.weights,
                fit=address.fit,
                size=address.picture.size,
                classifies=explored.capture.logits is not None,
                language=language,
            )
        }
