"""The Fine-tune room: train a model on a visitor's images by several methods, and compare the results.

It opens with boxes for example pictures and a linear probe that answers at once. Below are four steps: images and their
report; methods; the running training and earlier ones; results.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import gradio as gr
from gradio.components import Component

from vitexplorer.core.settings import Settings
from vitexplorer.core.text import ExplainedError, Text
from vitexplorer.service.training_images import Chosen
from vitexplorer.service.visitor_names import VISITOR, training_of, visitor_of
from vitexplorer.ui.gradio_adapter.page_blocks import session_of
from vitexplorer.ui.gradio_adapter.types import Dependency
from vitexplorer.ui.rooms.finetune.data_part import DataPart
from vitexplorer.ui.rooms.finetune.opening import Opening
from vitexplorer.ui.rooms.finetune.report import empty_report
from vitexplorer.ui.rooms.finetune.result_part import ResultPart
from vitexplorer.ui.rooms.finetune.session import Session
from vitexplorer.ui.rooms.finetune.steps import Steps, steps_data
from vitexplorer.ui.rooms.finetune.teach.teach import Teach, teach_data
from vitexplorer.ui.rooms.finetune.training.methods import MethodsData
from vitexplorer.ui.rooms.finetune.training.run_part import RunPart
from vitexplorer.ui.rooms.room import Room
from vitexplorer.ui.shell.address import Address
from vitexplorer.ui.shell.room_context import QUICK, WAITING, Listen, Updates, UpdateStream
from vitexplorer.ui.shell.room_sign import CHANGE
from vitexplorer.ui.shell.visit import Visit


class FinetuneRoom(Room):
    """Methods of fine-tuning on your own images, compared on one split."""

    key = "finetune"
    title = Text("Fine-tune", "微调")
    invitation = Text("Teach it your own classes", "教它认识您的类别")
    icon = "M3 7h9 M16 7h5 M14 4.5v5 M3 17h4 M11 17h10 M9 14.5v5 M3 12h18"
    group = CHANGE

    @classmethod
    def is_offered(cls, settings: Settings) -> bool:
        """Return True where this installation allows trainings."""
        return settings.trainings > 0

    def build(self) -> list[Component]:
        """Build the steps and bind the events that lead from one to the next."""
        context = self.context
        visitor = context.visitor if context.visitor is not None else gr.State("")
        self.session = session = Session(visitor, gr.State(None), gr.State(""), gr.State(""))
        self.data = DataPart(context, session)
        self.runs = RunPart(context, session)
        self.results = ResultPart(context, session)
        self.opening = Opening(context, session)
        self._last_count: dict[str, object] = {}  # of each visitor, while it runs
        self.filled = gr.State(None)  # the address for which the methods were counted
        self.greeted = gr.State(False)  # True once the report shows its hint
        with gr.Column(elem_classes=["vx-finetune"]):
            self.teach = Teach(elem_id="vx-teach")
            self.steps = Steps(elem_id="vx-training-steps")
            other_images = (*self.data.build(), self.data.follow(self.teach))
            self.runs.build()
            with gr.Column(elem_id="vx-step-results"):
                self.results.build()
        for event in other_images:
            event.then(self.count, [session.chosen, context.address], [self.runs.picker, self.filled], **QUICK)
        training = [session.visitor, session.training]
        self.images = [self.data.report, session.chosen, self.runs.picker, self.filled]
        choice = [session.chosen, context.address]
        self.runs.reopened.success(self.remember, [*training, *choice], self.images, **WAITING)
        self.runs.removed.success(self.let_go, choice, self.images, **QUICK)
        for event in (self.runs.started, self.runs.removed, self.runs.reopened):
            event.then(self.runs.earlier, [*training, context.address], self.runs.history, **QUICK)
            self.results.follow(event)
            self.results.changes.hide_after(event)
        self.results.follow_on(self.runs.ticked)
        return []

    def enter_on(self, listen: Listen, active: gr.State) -> None:
        """Count for the current model when the room is entered or the model changes, and reopen the open training."""
        session = self.session
        here = [active, self.context.address]
        entered = listen(
            self.enter,
            [self.context.browser, *here, self.greeted, session.chosen, session.training],
            [self.teach, self.steps, self.data.report, session.visitor, session.training, self.greeted],
            js=VISITOR,
            **QUICK,
        )
        counted = entered.then(
            self.count_here, [*here, self.filled, session.chosen], [self.runs.picker, self.filled], **QUICK
        )
        training = [session.visitor, session.training]
        counted.success(
            self.remember_first, [active, *training, session.chosen, self.context.address], self.images, **WAITING
        )
        opened = entered.success(
            self.runs.look_on,
            [*training, self.runs.seen, self.context.address],
            [self.runs.progress, self.runs.seen],
            **QUICK,
        )
        opened.then(self.runs.earlier, [*training, self.context.address], self.runs.history, **QUICK)
        self.results.follow_on(entered)

    def lead(self, visit: Visit, then_explore: Callable[[Dependency], None]) -> None:
        """Bind the buttons that open a tuned model or an image in the other rooms."""
        self.opening.lead(self.results.results, self.teach, visit, then_explore)

    # -------------------------------------------------------------------------------------- events

    def enter(
        self, browser: str | None, active: str, address: Address, greeted: bool, chosen: Chosen | None, training: str
    ) -> Updates:
        """Store the visitor's name and the training of the browser's address; at first entry show the report's hint."""
        visitor = visitor_of(browser)
        entered: Updates = {self.session.visitor: visitor}
        if active != self.key or address == Address():
            return entered
        entered[self.teach] = teach_data(address)
        if not greeted:
            report = self.data.show(chosen, address)
            entered |= {self.steps: steps_data(address.language), self.data.report: report, self.greeted: True}
        return entered | {self.session.training: training or self.runs.known(visitor, training_of(browser))}

    async def count_here(
        self, active: str, address: Address, filled: Address | None, chosen: Chosen | None, request: gr.Request
    ) -> Updates:
        """Count the methods for the current model, unless they were counted for it already."""
        if active != self.key or address == Address():
            return gr.skip()
        if filled is not None and (filled.model, filled.weights) == (address.model, address.weights):
            return gr.skip()
        return await self.count(chosen, address, request)

    async def remember(
        self, visitor: str, training: str, chosen: Chosen | None, address: Address, request: gr.Request
    ) -> UpdateStream:
        """Choose the images of the open training, and count the methods for them under its plan."""
        async for updates in self.data.remember(visitor, training, chosen, address, request):
            if images := updates.get(self.session.chosen):
                plan = self.runs.plan(visitor, training)
                updates |= await self.count(images, address, request, plan)
            yield updates

    async def remember_first(
        self, active: str, visitor: str, training: str, chosen: Chosen | None, address: Address, request: gr.Request
    ) -> UpdateStream:
        """Choose the images of the open training on a page that has none, such as a reloaded one."""
        if active == self.key and chosen is None and address != Address():
            async for updates in self.remember(visitor, training, chosen, address, request):
                yield updates

    async def let_go(self, chosen: Chosen | None, address: Address, request: gr.Request) -> Updates:
        """Unset the chosen images where they were deleted with their training."""
        if chosen is None or Path(chosen.folder).is_dir():
            return gr.skip()
        no_images = {self.data.report: empty_report(address.language), self.session.chosen: None}
        return no_images | await self.count(None, address, request)

    async def count(
        self, chosen: Chosen | None, address: Address, request: gr.Request, plan: dict[str, str] | None = None
    ) -> Updates:
        """Count every method for the images and the model; `plan` fills the fields.

        A count that a later one of the same visitor overtook changes nothing: it was for earlier images.
        """
        visitor, this = session_of(request), object()
        self._last_count[visitor] = this
        try:
            methods = {self.runs.picker: await self.runs.methods(chosen, address, plan=plan), self.filled: address}
        except ExplainedError as error:
            methods = {self.runs.picker: MethodsData(refused=error.text.in_(address.language))}
        if self._last_count.get(visitor) is not this:
            return {self.runs.picker: gr.skip()}
        del self._last_count[visitor]
        return methods
