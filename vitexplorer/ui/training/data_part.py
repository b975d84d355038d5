"""The first part of the room: images from a zip, the example or a folder, and the report on them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace

import gradio as gr
from gradio.events import Dependency

from vitexplorer.finetune.data import DataError, Pick, Split, split
from vitexplorer.finetune.job.folder import read_config
from vitexplorer.progress import Progress
from vitexplorer.ui.background import Background, Done
from vitexplorer.ui.desk import Desk, Updates
from vitexplorer.ui.parts.upload import UploadButton
from vitexplorer.ui.training.images import Chosen, Looked, draw, look, of_training, point_at, unpack
from vitexplorer.ui.training.report import DataReportView, ReportData, empty_report, report_data
from vitexplorer.ui.training.session import Session
from vitexplorer.ui.training.words import say
from vitexplorer.words import ExplainedError, Language

READING = {"concurrency_limit": 4, "show_progress": "hidden", "api_visibility": "private"}
"""options of events that take a while and tell how far they are"""


class DataPart:
    """Images and their report."""

    def __init__(self, desk: Desk, session: Session):
        """Args: desk: what the rooms share; session: what the parts share."""
        self.desk, self.session = desk, session
        self._reading = Background(threading.RLock())  # decoding takes its own turn, not the model's

    def build(self) -> tuple[Dependency, ...]:
        """Buttons and report; returns the events after which there are other images."""
        t, local = self.desk.t, not self.desk.engine.places.hosted
        with gr.Row(elem_id="vx-step-images"):
            with gr.Column(elem_classes=["vx-choose"]):
                zipped = UploadButton(
                    t("training_zip"), file_types=[".zip"], variant="primary", size="md", elem_id="vx-training-zip"
                )
                scenes = gr.Button(t("training_scenes"), size="md", elem_id="vx-training-scenes")
                if local:
                    folder = gr.Textbox(
                        label=t("training_folder"),
                        show_label=False,
                        placeholder=t("training_folder"),
                        container=False,
                        elem_id="vx-training-folder",
                    )
                    read = gr.Button(t("training_read"), size="md")
            self.report = DataReportView(elem_id="vx-training-report")
        state = [self.session.visitor, self.desk.language]
        outputs = [self.report, self.session.chosen]
        events = [
            zipped.upload(self.read_zip, [zipped, *state], outputs, **READING),
            scenes.click(self.read_scenes, state, outputs, **READING),
            self.report.pick(self.read_columns, [self.session.chosen, self.desk.language], outputs, **READING),
        ]
        if local:
            asked = gr.on([read.click, folder.submit], self.read_folder, [folder, *state], outputs, **READING)
            events.append(asked)
        return tuple(events)

    def show(self, chosen: Chosen | None, language: Language) -> ReportData:
        """The report of images that were chosen before; the hint where there are none."""
        if chosen is None:
            return empty_report(language)
        looked = look(chosen)
        return report_data(chosen, looked, sides_of(looked), language)

    def remember(
        self, visitor: str, training: str, chosen: Chosen | None, language: Language, request: gr.Request
    ) -> Iterator[Updates]:
        """The images of the training that is open; those that are chosen stay where there are none of it."""
        try:
            images = of_training(read_config(self.desk.engine.places.training(visitor, training)))
        except ExplainedError:
            return
        if images is not None and images != chosen:
            yield from self._read(lambda report: images, "reading", language, request)

    # -------------------------------------------------------------------------------------- events

    def read_zip(self, path: str | None, visitor: str, language: Language, request: gr.Request) -> Iterator[Updates]:
        """A zip from the visitor."""
        if path is None:
            return
        places = self.desk.engine.places
        yield from self._read(lambda report: unpack(places, visitor, path, report), "reading", language, request)

    def read_scenes(self, visitor: str, language: Language, request: gr.Request) -> Iterator[Updates]:
        """The drawn scenes."""
        places = self.desk.engine.places
        yield from self._read(lambda report: draw(places, visitor), "drawing", language, request)

    def read_folder(self, path: str, visitor: str, language: Language, request: gr.Request) -> Iterator[Updates]:
        """A folder of this machine."""
        places = self.desk.engine.places
        yield from self._read(lambda report: point_at(places, path), "reading", language, request)

    def read_columns(
        self, event: gr.EventData, chosen: Chosen | None, language: Language, request: gr.Request
    ) -> Iterator[Updates]:
        """Other columns of the same table; where they cannot be learned the report before stays, with the reason."""
        if chosen is None:
            return
        sent = {name: str(event._data.get(name) or "") or None for name in ("image", "target", "task")}
        task = sent["task"] if sent["task"] in ("classification", "regression") else None
        picked = replace(chosen, pick=Pick(sent["image"], sent["target"], task))
        for read in self._read(lambda report: picked, "reading", language, request):
            report: ReportData = read[self.report]
            if report.refused:
                before = self.show(chosen, language)
                before.refused = report.refused
                read = {self.report: before}
            yield read

    def _read(
        self, get: Callable[[Progress], Chosen], doing: str, language: Language, request: gr.Request
    ) -> Iterator[Updates]:
        """How far it is, then the report; or why there is none, and nothing changes."""

        def work(report: Progress) -> tuple[Chosen, Looked]:
            chosen = get(report)
            return chosen, look(chosen, report)

        steps = self._reading.run(request.session_hash or "", work)
        try:
            with closing(steps):
                for step in steps:
                    if isinstance(step, Done):
                        chosen, looked = step.result
                        report = report_data(chosen, looked, sides_of(looked), language)
                        yield {self.report: report, self.session.chosen: chosen}
                        return
                    line = say(f"report_{doing}", language)
                    if step.total:
                        line = say("report_progress", language, done=step.done, total=step.total)
                    yield {self.report: empty_report(language, working=line)}
        except ExplainedError as error:
            yield {self.report: empty_report(language, refused=error.text.in_(language))}


def sides_of(looked: Looked) -> Split | None:
    """How the images would be divided; None where they cannot be trained on."""
    if not looked.report.can_train:
        return None
    try:
        return split(looked.report.dataset)
    except DataError:
        return None
