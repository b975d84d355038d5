"""The way from fine-tuning into the other rooms: a tuned model, or its wrong image."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import gradio as gr

from vitexplorer.core.text import ExplainedError, Language
from vitexplorer.finetune.comparison import load_comparison
from vitexplorer.service.image_store import keep_upload
from vitexplorer.ui.gradio_adapter.events import fields_of
from vitexplorer.ui.gradio_adapter.page_blocks import not_possible
from vitexplorer.ui.gradio_adapter.types import Dependency
from vitexplorer.ui.rooms.finetune.results import ResultsView, image_path
from vitexplorer.ui.rooms.finetune.session import Session
from vitexplorer.ui.rooms.finetune.teach import Teach
from vitexplorer.ui.shell.address import Address
from vitexplorer.ui.shell.room_context import QUICK, WAITING, Desk, Updates
from vitexplorer.ui.shell.visit import Visit

ARRIVE = """() => {
  window.vxAddress({room: 'attention'});
  window.scrollTo({top: 0});
  document.dispatchEvent(new CustomEvent('vx-opened'));
}"""


class Opening:
    """Events that follow when a model is opened."""

    def __init__(self, desk: Desk, session: Session):
        """Args: desk: what the rooms share; session: what the parts share."""
        self.desk, self.session = desk, session

    def lead(
        self, results: ResultsView, teach: Teach, visit: Visit, then_explore: Callable[[Dependency], None]
    ) -> None:
        """A wrong image and its model, a model alone or a picture open in the other rooms."""
        self.visit, language = visit, self.desk.language
        mine = [self.session.visitor, self.session.training]
        opened = results.open(self.open, [*mine, visit.wanted, language], visit.of_choice, **WAITING)
        looked = teach.open(self.look, [visit.wanted, language], visit.of_choice, **WAITING)
        for event in (opened, looked):
            event.success(None, None, None, js=ARRIVE, **QUICK)
            then_explore(event)

    def open(self, event: gr.EventData, visitor: str, training: str, wanted: Address, language: Language) -> Updates:
        """The tuned model in the Attention room, on one of the validation images where one was pressed."""
        places, index = self.desk.engine.places, fields_of(event).get("index")
        try:
            folder = places.training(visitor, training)
            found = load_comparison(folder)[str(fields_of(event).get("run"))]
            if index is not None and 0 <= index < len(found.paths):
                path = image_path(folder, found, index)
                wanted = replace(wanted, image=keep_upload(str(path)))
        except ExplainedError as error:
            raise not_possible(error, language) from error
        return self.visit.enter(tuned(places.name_of(found.file), wanted), language)

    def look(self, event: gr.EventData, wanted: Address, language: Language) -> Updates:
        """A picture that was taught or asked about, in the Attention room, with the model on the screen."""
        image = Address.exactly(image=str(fields_of(event).get("image"))).image
        return self.visit.enter(replace(wanted, image=image, room="attention", head="", query=""), language)


def tuned(model: str, wanted: Address) -> Address:
    """A tuned model in the Attention room; block, head and query start anew."""
    return replace(wanted, model=model, weights="trained", room="attention", block="", head="", query="")
