"""The first part of the room: images from a zip, the example or a folder, and the report on them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import replace

import gradio as gr

from vitexplorer.core.text import ExplainedError, Language, Progress
from vitexplorer.finetune.data import DataError, Pick, Split, split
from vitexplorer.finetune.job.folder import read_config
from vitexplorer.service.jobs import Done, Report, Waiting, following
from vitexplorer.service.scheduler import Scheduler
from vitexplorer.service.training_images import Chosen, Looked, copy_taught, draw, look, of_training, point_at, unpack
from vitexplorer.ui.gradio_adapter.events import fields_of
from vitexplorer.ui.gradio_adapter.page_blocks import session_of
from vitexplorer.ui.gradio_adapter.types import Dependency
from vitexplorer.ui.rooms.finetune.report import DataReportView, ReportData, empty_report, report_data
from vitexplorer.ui.rooms.finetune.session import Session
from vitexplorer.ui.rooms.finetune.teach import Teach
from vitexplorer.ui.rooms.finetune.upload import UploadButton
from vitexplorer.ui.rooms.finetune.words import TRAINING_WORDS, say
from vitexplorer.ui.shell.room_context import WAITING, Desk, Updates


class DataPart:
    """Images and their report."""

    def __init__(self, desk: Desk, session: Session):
        """Args: desk: what the rooms share; session: what the parts share."""
        self.desk, self.session = desk, session
        self._reading = Scheduler("reading")  # decoding takes its own turn, not the model's

    def build(self) -> tuple[Dependency, ...]:
        """Buttons and report; returns the events after which there are other images."""
        local = not self.desk.engine.places.hosted
        zip_text, scenes_text, folder_text, read_text = (
            self.desk.t(TRAINING_WORDS[f"training_{name}"]) for name in ("zip", "scenes", "folder", "read")
        )
        with gr.Row(elem_id="vx-step-images"):
            with gr.Column(elem_classes=["vx-choose"]):
                zipped = UploadButton(
                    zip_text, file_types=[".zip"], variant="primary", size="md", elem_id="vx-training-zip"
                )
                scenes = gr.Button(scenes_text, size="md", elem_id="vx-training-scenes")
                if local:
                    folder = gr.Textbox(
                        label=folder_text,
                        show_label=False,
                        placeholder=folder_text,
                        container=False,
                        elem_id="vx-training-folder",
                    )
                    read = gr.Button(read_text, size="md")
            self.report = DataReportView(elem_id="vx-training-report")
        state = [self.session.visitor, self.desk.language]
        outputs = [self.report, self.session.chosen]
        events = [
            zipped.upload(self.read_zip, [zipped, *state], outputs, **WAITING),
            scenes.click(self.read_scenes, state, outputs, **WAITING),
            self.report.pick(self.read_columns, [self.session.chosen, self.desk.language], outputs, **WAITING),
        ]
        if local:
            asked = gr.on([read.click, folder.submit], self.read_folder, [folder, *state], outputs, **WAITING)
            events.append(asked)
        return tuple(events)

    def follow(self, teach: Teach) -> Dependency:
        """Take what was taught when it is to be compared on; there are other images after the event."""
        state = [self.session.visitor, self.desk.language]
        return teach.compare(self.read_taught, state, [self.report, self.session.chosen], **WAITING)

    def show(self, chosen: Chosen | None, language: Language) -> ReportData:
        """The report of images that were chosen before; the hint where there are none."""
        if chosen is None:
            return empty_report(language)
        looked = look(chosen)
        return report_data(chosen, looked, sides_of(looked), language)

    async def remember(
        self, visitor: str, training: str, chosen: Chosen | None, language: Language, request: gr.Request
    ) -> AsyncGenerator[Updates, None]:
        """The images of the training that is open; those that are chosen stay where there are none of it."""
        try:
            images = of_training(read_config(self.desk.engine.places.training(visitor, training)))
        except ExplainedError:
            return
        if images is not None and images != chosen:
            async for read in self._read(lambda report: images, "reading", language, request):
                yield read

    # -------------------------------------------------------------------------------------- events

    async def read_zip(
        self, path: str | None, visitor: str, language: Language, request: gr.Request
    ) -> AsyncGenerator[Updates, None]:
        """A zip from the visitor."""
        if path is None:
            return
        places = self.desk.engine.places
        async for read in self._read(
            lambda report: unpack(places, visitor, path, report), "reading", language, request
        ):
            yield read

    async def read_scenes(self, visitor: str, language: Language, request: gr.Request) -> AsyncGenerator[Updates, None]:
        """The drawn scenes."""
        places = self.desk.engine.places
        async for read in self._read(lambda report: draw(places, visitor), "drawing", language, request):
            yield read

    async def read_taught(self, visitor: str, language: Language, request: gr.Request) -> AsyncGenerator[Updates, None]:
        """The pictures that the visitor teaches with, as they are now."""
        places = self.desk.engine.places
        async for read in self._read(
            lambda report: copy_taught(places, visitor, language), "reading", language, request
        ):
            yield read

    async def read_folder(
        self, path: str, visitor: str, language: Language, request: gr.Request
    ) -> AsyncGenerator[Updates, None]:
        """A folder of this machine."""
        places = self.desk.engine.places
        async for read in self._read(lambda report: point_at(places, path), "reading", language, request):
            yield read

    async def read_columns(
        self, event: gr.EventData, chosen: Chosen | None, language: Language, request: gr.Request
    ) -> AsyncGenerator[Updates, None]:
        """Other columns of the same table; where they cannot be learned the report before stays, with the reason."""
        if chosen is None:
            return
        sent = {name: fields_of(event).get(name) or None for name in ("image", "target", "task")}
        task = sent["task"] if sent["task"] in ("classification", "regression") else None
        picked = replace(chosen, pick=Pick(sent["image"], sent["target"], task))
        async for read in self._read(lambda report: picked, "reading", language, request):
            report: ReportData = read[self.report]
            if report.refused:
                before = self.show(chosen, language)
                before.refused = report.refused
                read = {self.report: before}
            yield read

    async def _read(
        self, get: Callable[[Progress], Chosen], doing: str, language: Language, request: gr.Request
    ) -> AsyncGenerator[Updates, None]:
        """Progress of the reading, then the report; or why there is none, and nothing changes. Other images stop it."""

        def work(report: Report) -> tuple[Chosen, ReportData]:
            chosen = get(report)
            looked = look(chosen, report)
            return chosen, report_data(chosen, looked, sides_of(looked), language)

        visitor = session_of(request)
        self._reading.leave(visitor)
        try:
            async with aclosing(following(Waiting(visitor), self._reading.run(object(), work))) as steps:
                async for step in steps:
                    if isinstance(step, Done):
                        chosen, report = step.result
                        yield {self.report: report, self.session.chosen: chosen}
                        return
                    line = say(f"report_{doing}", language)
                    if step.total:
                        line = say("report_progress", language, done=step.done, total=step.total)
                    yield {self.report: empty_report(language, working=line)}
        except ExplainedError as error:
            yield {self.report: empty_report(language, refused=error.text.in_(language))}


def sides_of(looked: Looked) -> Split | None:
    """Division of the images; None where they cannot be trained on."""
    if not looked.report.can_train:
        return None
    try:
        return split(looked.report.dataset)
    except DataError:
        return None
