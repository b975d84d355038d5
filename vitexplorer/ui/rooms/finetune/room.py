"""The Fine-tune room: a visitor's images, methods compared on them, and what the tuned model became.

It opens with boxes that a visitor fills and a probe that answers at once. Behind them are four steps, one under the
other: images and their report; methods; the training while it runs, with earlier ones; results.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from pathlib import Path

import gradio as gr
from gradio.components import Component

from vitexplorer.core.settings import Settings
from vitexplorer.core.text import ExplainedError, Language, Text
from vitexplorer.service.training_images import Chosen
from vitexplorer.service.visitor_names import VISITOR, training_of, visitor_of
from vitexplorer.ui.gradio_adapter.types import Dependency
from vitexplorer.ui.rooms.finetune.data_part import DataPart
from vitexplorer.ui.rooms.finetune.methods import MethodsData
from vitexplorer.ui.rooms.finetune.opening import Opening
from vitexplorer.ui.rooms.finetune.report import empty_report
from vitexplorer.ui.rooms.finetune.result_part import ResultPart
from vitexplorer.ui.rooms.finetune.run_part import RunPart
from vitexplorer.ui.rooms.finetune.session import Session
from vitexplorer.ui.rooms.finetune.steps import Steps, steps_data
from vitexplorer.ui.rooms.finetune.teach import Teach, teach_data
from vitexplorer.ui.rooms.room import Room
from vitexplorer.ui.shell.address import Address
from vitexplorer.ui.shell.room_context import QUICK, WAITING, Listen, Updates
from vitexplorer.ui.shell.visit import Visit


class FinetuneRoom(Room):
    """Methods of fine-tuning on your own images, compared on one split."""

    key = "finetune"
    title = Text("Fine-tune", "微调")
    invitation = Text("Teach it your own classes", "教它认识你的类别")
    icon = "M3 7h9 M16 7h5 M14 4.5v5 M3 17h4 M11 17h10 M9 14.5v5 M3 12h18"

    @classmethod
    def is_offered(cls, settings: Settings) -> bool:
        """Return whether trainings are allowed."""
        return settings.trainings > 0

    def build(self) -> list[Component]:
        """The steps, and what follows from one to the next."""
        desk, language = self.desk, self.desk.language
        visitor = desk.visitor if desk.visitor is not None else gr.State("")
        self.session = session = Session(visitor, gr.State(None), gr.State(""), gr.State(""))
        self.data, self.runs, self.results = (part(desk, session) for part in (DataPart, RunPart, ResultPart))
        self.opening = Opening(desk, session)
        self.browser = gr.Textbox(visible=False)  # through which it says who it is, and what its address names
        self.filled = gr.State(None)  # the address that the methods were counted for
        self.greeted = gr.State(False)  # whether the report has said its first words
        with gr.Column(elem_classes=["vx-finetune"]):
            self.teach = Teach(elem_id="vx-teach")
            self.steps = Steps(elem_id="vx-training-steps")
            other_images = (*self.data.build(), self.data.follow(self.teach))
            self.runs.build()
            with gr.Column(elem_id="vx-step-results"):
                self.results.build()
        for event in other_images:
            event.then(
                self.count, [session.chosen, self.desk.address, language], [self.runs.picker, self.filled], **QUICK
            )
        mine = [session.visitor, session.training]
        self.images = [self.data.report, session.chosen, self.runs.picker, self.filled]
        asked = [*mine, session.chosen, self.desk.address, language]
        self.runs.reopened.success(self.remember, asked, self.images, **WAITING)
        self.runs.removed.success(self.let_go, asked[2:], self.images, **QUICK)
        for event in (self.runs.started, self.runs.removed, self.runs.reopened):
            event.then(self.runs.earlier, [*mine, language], self.runs.history, **QUICK)
            self.results.follow(event)
            self.results.changes.hide_after(event)
        self.results.follow_on(self.runs.ticked)
        return []

    def enter_on(self, listen: Listen, active: gr.State) -> None:
        """Count for the model on the screen when the room is entered or the model is another; open what was open."""
        session = self.session
        here = [active, self.desk.address]
        entered = listen(
            self.enter,
            [self.browser, *here, self.greeted, session.chosen, session.training, self.desk.language],
            [self.teach, self.steps, self.data.report, session.visitor, session.training, self.greeted],
            js=VISITOR,
            **QUICK,
        )
        counted = entered.then(
            self.count_here,
            [*here, self.filled, session.chosen, self.desk.language],
            [self.runs.picker, self.filled],
            **QUICK,
        )
        mine = [session.visitor, session.training]
        counted.success(
            self.remember_first,
            [active, *mine, session.chosen, self.desk.address, self.desk.language],
            self.images,
            **WAITING,
        )
        opened = entered.success(
            self.runs.look_on,
            [*mine, self.runs.seen, self.desk.language],
            [self.runs.progress, self.runs.seen, self.runs.timer],
            **QUICK,
        )
        opened.then(self.runs.earlier, [*mine, self.desk.language], self.runs.history, **QUICK)
        self.results.follow_on(entered)

    def lead(self, visit: Visit, then_explore: Callable[[Dependency], None]) -> None:
        """A wrong image or a tuned model opens in the other rooms."""
        self.opening.lead(self.results.results, self.teach, visit, then_explore)

    # -------------------------------------------------------------------------------------- events

    def enter(
        self,
        browser: str,
        active: str,
        address: Address,
        greeted: bool,
        chosen: Chosen | None,
        training: str,
        language: Language,
    ) -> Updates:
        """Note whose page this is and the training of its address; the first time show the report's hint."""
        visitor = visitor_of(browser)
        entered: Updates = {self.session.visitor: visitor}
        if active != self.key or address == Address():  # nothing is captured yet
            return entered
        entered[self.teach] = teach_data(address, language)
        if not greeted:
            report = self.data.show(chosen, language)
            entered |= {self.steps: steps_data(language), self.data.report: report, self.greeted: True}
        return entered | {self.session.training: training or self.runs.known(visitor, training_of(browser))}

    async def count_here(
        self, active: str, address: Address, filled: Address | None, chosen: Chosen | None, language: Language
    ) -> Updates:
        """Methods for the model on the screen, where it is another than they were counted for."""
        if active != self.key or address == Address():
            return gr.skip()
        if filled is not None and (filled.model, filled.weights) == (address.model, address.weights):
            return gr.skip()
        return await self.count(chosen, address, language)

    async def remember(
        self,
        visitor: str,
        training: str,
        chosen: Chosen | None,
        address: Address,
        language: Language,
        request: gr.Request,
    ) -> AsyncGenerator[Updates, None]:
        """The images of the training that is open, and the methods for them with its plan."""
        async for read in self.data.remember(visitor, training, chosen, language, request):
            if images := read.get(self.session.chosen):
                plan = self.runs.plan(visitor, training)
                read |= await self.count(images, address, language, plan)
            yield read

    async def remember_first(
        self,
        active: str,
        visitor: str,
        training: str,
        chosen: Chosen | None,
        address: Address,
        language: Language,
        request: gr.Request,
    ) -> AsyncGenerator[Updates, None]:
        """Remember the images in a page that has none yet, since it was loaded anew."""
        if active == self.key and chosen is None and address != Address():
            async for read in self.remember(visitor, training, chosen, address, language, request):
                yield read

    async def let_go(self, chosen: Chosen | None, address: Address, language: Language) -> Updates:
        """Images that went with the training that was deleted are no longer chosen."""
        if chosen is None or Path(chosen.folder).is_dir():
            return gr.skip()
        gone = {self.data.report: empty_report(language), self.session.chosen: None}
        return gone | await self.count(None, address, language)

    async def count(
        self, chosen: Chosen | None, address: Address, language: Language, plan: dict[str, str] | None = None
    ) -> Updates:
        """Every method for these images and this model; `plan` is put into the fields."""
        try:
            methods = await self.runs.methods(chosen, address, language, plan=plan)
        except ExplainedError as error:
            return {self.runs.picker: MethodsData(refused=error.text.in_(language))}
        return {self.runs.picker: methods, self.filled: address}
