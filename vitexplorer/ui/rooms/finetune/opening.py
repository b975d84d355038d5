"""Opening a tuned model, a wrong image or a taught picture in the other rooms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import gradio as gr

from vitexplorer.core.text import ExplainedError
from vitexplorer.finetune.comparison import load_comparison
from vitexplorer.service.image_store import keep_upload
from vitexplorer.ui.gradio_adapter.events import fields_of
from vitexplorer.ui.gradio_adapter.page_blocks import not_possible
from vitexplorer.ui.gradio_adapter.types import Dependency
from vitexplorer.ui.rooms.finetune.results import ResultsView, image_path
from vitexplorer.ui.rooms.finetune.session import Part
from vitexplorer.ui.rooms.finetune.teach.teach import Teach
from vitexplorer.ui.shell.address import Address
from vitexplorer.ui.shell.room_context import QUICK, WAITING, Updates
from vitexplorer.ui.shell.visit import Visit

ARRIVE = """() => {
  window.vxAddress({room: 'attention'});
  window.scrollTo({top: 0});
  document.dispatchEvent(new CustomEvent('vx-opened'));
}"""


class Opening(Part):
    """Events that open a model or picture in the other rooms."""

    def lead(
        self, results: ResultsView, teach: Teach, visit: Visit, then_explore: Callable[[Dependency], None]
    ) -> None:
        """Bind the buttons that open a model, a model with a wrong image, or a taught picture."""
        self.visit = visit
        model_opened = results.open(self.open, [*self.training, visit.requested], visit.of_choice, **WAITING)
        picture_opened = teach.open(self.look, visit.requested, visit.of_choice, **WAITING)
        for event in (model_opened, picture_opened):
            event.success(None, None, None, js=ARRIVE, **QUICK)
            then_explore(event)

    def open(self, event: gr.EventData, visitor: str, training: str, address: Address) -> Updates:
        """Open the tuned model in the Attention room, with the validation image if one was pressed."""
        index = fields_of(event).get("index")
        try:
            folder = self.places.training(visitor, training)
            result = load_comparison(folder)[str(fields_of(event).get("run"))]
            if index is not None and 0 <= index < len(result.paths):
                path = image_path(folder, result, index)
                address = replace(address, image=keep_upload(str(path)))
        except ExplainedError as error:
            raise not_possible(error, address.language) from error
        model = self.places.name_of(result.file)
        return self.visit.enter(
            replace(address, model=model, weights="trained", room="attention", block="", head="", query="")
        )

    def look(self, event: gr.EventData, address: Address) -> Updates:
        """Open a taught or tested picture in the Attention room, with the model on the screen."""
        image = Address.exactly(image=str(fields_of(event).get("image"))).image
        return self.visit.enter(replace(address, image=image, room="attention", head="", query=""))
