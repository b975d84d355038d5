"""First part of the room: images from a zip, the example or a folder, and the report on them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import aclosing
from dataclasses import replace

import gradio as gr

from vitexplorer.core.text import ExplainedError, Progress
from vitexplorer.finetune.data import Pick
from vitexplorer.finetune.job.folder import read_config
from vitexplorer.service.jobs import Done, Report, Waiting, following
from vitexplorer.service.scheduler import Scheduler
from vitexplorer.service.training_images import Chosen, copy_taught, draw, look, of_training, point_at, unpack
from vitexplorer.ui.gradio_adapter.events import fields_of
from vitexplorer.ui.gradio_adapter.page_blocks import session_of
from vitexplorer.ui.gradio_adapter.types import Dependency
from vitexplorer.ui.rooms.finetune.report import DataReportView, ReportData, empty_report, report_data
from vitexplorer.ui.rooms.finetune.session import Part, Session
from vitexplorer.ui.rooms.finetune.teach.teach import Teach
from vitexplorer.ui.rooms.finetune.words import say
from vitexplorer.ui.shell.address import Address
from vitexplorer.ui.shell.room_context import WAITING, RoomContext, UpdateStream


class DataPart(Part):
    """Images to train on, and the report on them."""

    def __init__(self, context: RoomContext, session: Session):
        super().__init__(context, session)
        self._reading = Scheduler("reading")  # decoding images must not wait for the model

    def build(self) -> tuple[Dependency, ...]:
        """Build the component; return the events that choose other images."""
        local = not self.places.hosted
        self.report = DataReportView(elem_id="vx-step-images", elem_classes=["vx-local"] if local else [])
        state = [self.session.visitor, self.context.address]
        outputs = [self.report, self.session.chosen]
        events = [
            self.report.unpack(self.read_zip, state, outputs, **WAITING),
            self.report.draw(self.read_scenes, state, outputs, **WAITING),
            self.report.pick(self.read_columns, [self.session.chosen, self.context.address], outputs, **WAITING),
        ]
        if local:
            events.append(self.report.read(self.read_folder, state, outputs, **WAITING))
        return tuple(events)

    def follow(self, teach: Teach) -> Dependency:
        """Bind the button that trains on the taught images; return the event that chooses them."""
        state = [self.session.visitor, self.context.address]
        return teach.compare(self.read_taught, state, [self.report, self.session.chosen], **WAITING)

    def show(self, chosen: Chosen | None, address: Address) -> ReportData:
        """Return the report on the chosen images, or a hint where there are none."""
        if chosen is None:
            return empty_report(address.language)
        return report_data(chosen, look(chosen), address.language)

    async def remember(
        self, visitor: str, training: str, chosen: Chosen | None, address: Address, request: gr.Request
    ) -> UpdateStream:
        """Choose the images of the open training; the chosen images stay where it has none."""
        try:
            images = of_training(read_config(self.places.training(visitor, training)))
        except ExplainedError:
            return
        if images is not None and images != chosen:
            async for updates in self._read(lambda report: images, address, request):
                yield updates

    # -------------------------------------------------------------------------------------- events

    async def read_zip(self, event: gr.EventData, visitor: str, address: Address, request: gr.Request) -> UpdateStream:
        """Read an uploaded zip."""
        for path in (fields_of(event).get("files") or [])[:1]:
            async for updates in self._read(
                lambda report, path=path: unpack(self.places, visitor, path, report), address, request
            ):
                yield updates

    async def read_scenes(self, visitor: str, address: Address, request: gr.Request) -> UpdateStream:
        """Draw and read the example scenes."""
        async for updates in self._read(lambda report: draw(self.places, visitor), address, request, "drawing"):
            yield updates

    async def read_taught(self, visitor: str, address: Address, request: gr.Request) -> UpdateStream:
        """Read a copy of the pictures in the visitor's teaching boxes."""
        async for updates in self._read(
            lambda report: copy_taught(self.places, visitor, address.language), address, request
        ):
            yield updates

    async def read_folder(
        self, event: gr.EventData, visitor: str, address: Address, request: gr.Request
    ) -> UpdateStream:
        """Read a folder of this machine."""
        path = fields_of(event).get("text") or ""
        async for updates in self._read(lambda report: point_at(self.places, path), address, request):
            yield updates

    async def read_columns(
        self, event: gr.EventData, chosen: Chosen | None, address: Address, request: gr.Request
    ) -> UpdateStream:
        """Read other columns of the same table; where they cannot be learned, add the reason to the present report."""
        if chosen is None:
            return
        sent = {name: fields_of(event).get(name) or None for name in ("image", "target", "task")}
        task = sent["task"] if sent["task"] in ("classification", "regression") else None
        picked = replace(chosen, pick=Pick(sent["image"], sent["target"], task))
        async for updates in self._read(lambda report: picked, address, request):
            report: ReportData = updates[self.report]
            if report.refused:
                previous = self.show(chosen, address)
                previous.refused = report.refused
                updates = {self.report: previous}
            yield updates

    async def _read(
        self, get: Callable[[Progress], Chosen], address: Address, request: gr.Request, doing: str = "reading"
    ) -> UpdateStream:
        """Yield the progress of reading, then the report.

        An error is reported and changes nothing else. Choosing other images stops the reading.
        """

        def work(report: Report) -> tuple[Chosen, ReportData]:
            chosen = get(report)
            return chosen, report_data(chosen, look(chosen, report), address.language)

        visitor = session_of(request)
        self._reading.leave(visitor)
        try:
            async with aclosing(following(Waiting(visitor), self._reading.run(object(), work))) as steps:
                async for step in steps:
                    if isinstance(step, Done):
                        chosen, report = step.result
                        yield {self.report: report, self.session.chosen: chosen}
                        return
                    line = say(f"report_{doing}", address.language)
                    if step.total:
                        line = say("report_progress", address.language, done=step.done, total=step.total)
                    yield {self.report: empty_report(address.language, working=line)}
        except ExplainedError as error:
            yield {self.report: empty_report(address.language, refused=error.text.in_(address.language))}
