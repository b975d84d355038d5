"""The Folder room: survey the same questions over every image of a folder; outliers open in the other rooms."""

from __future__ import annotations

from vitexplorer.core.text import Text
from vitexplorer.service.engine import TimedCapture
from vitexplorer.ui.gradio_adapter.types import Block
from vitexplorer.ui.rooms.folder.survey import SurveyData, SurveyView
from vitexplorer.ui.rooms.room import Room
from vitexplorer.ui.shell.address import Address
from vitexplorer.ui.shell.room_context import Updates
from vitexplorer.ui.shell.room_sign import WHY


class FolderRoom(Room):
    """The same questions asked of every image of a folder."""

    key = "folder"
    title = Text("Folder", "图像集")
    invitation = Text("Ask the same of a whole folder", "对整个图像集提同样的问题")
    icon = "M3 6h6l2 2.500h10V20H3z M7 16.500v-3 M11 16.500v-5 M15 16.500v-2"
    group = WHY

    def build(self) -> list[Block]:
        """Build the one component; its requests go to routes of their own, see `routes`."""
        self.view = SurveyView(elem_id="vx-survey")
        return [self.view]

    def fill(self, timed_capture: TimedCapture, address: Address) -> Updates:
        """Tell the component the model for a new survey."""
        return {
            self.view: SurveyData(
                model=address.model,
                title=timed_capture.capture.model.title.in_(address.language),
                weights=address.weights,
                fit=address.fit,
                size=address.picture.size,
                classifies=timed_capture.capture.logits is not None,
            )
        }
