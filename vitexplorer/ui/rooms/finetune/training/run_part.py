"""Second part of the room: choice of methods, the running training, and earlier trainings."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from functools import partial
from pathlib import Path

import gradio as gr

from vitexplorer.core.settings import settings
from vitexplorer.core.text import ExplainedError, Language
from vitexplorer.finetune.job import detached
from vitexplorer.finetune.job.folder import read_config
from vitexplorer.finetune.job.plan import JobConfig
from vitexplorer.finetune.job.state import job_state
from vitexplorer.models.catalog import is_convolutional
from vitexplorer.service.answer_threads import in_thread
from vitexplorer.service.jobs import Done, Step, Waiting, following
from vitexplorer.service.storage_limits import check_room
from vitexplorer.service.training_images import Chosen, look
from vitexplorer.storage.claims import JobError
from vitexplorer.ui.gradio_adapter.events import fields_of
from vitexplorer.ui.gradio_adapter.page_blocks import session_of
from vitexplorer.ui.rooms.finetune.report import sides_of
from vitexplorer.ui.rooms.finetune.session import Part, Session
from vitexplorer.ui.rooms.finetune.training.backbone import Backbone, backbone_of
from vitexplorer.ui.rooms.finetune.training.choice import PLANNED, TrainingChoice, job_of
from vitexplorer.ui.rooms.finetune.training.history import HistoryData, HistoryView, history_data
from vitexplorer.ui.rooms.finetune.training.methods import MethodsData, MethodsPicker, methods_data
from vitexplorer.ui.rooms.finetune.training.progress import ProgressView, no_progress, progress_data
from vitexplorer.ui.rooms.finetune.training.watch import Watch
from vitexplorer.ui.rooms.finetune.words import TRAINING_WORDS, say
from vitexplorer.ui.shell.address import Address
from vitexplorer.ui.shell.room_context import FIGURE, LATEST, QUICK, WAITING, RoomContext, Updates

USUAL_OUTPUTS = 10
"""Number of classes for which parameters are counted before images are chosen"""


class RunPart(Part):
    """Methods, progress and earlier trainings."""

    def __init__(self, context: RoomContext, session: Session):
        super().__init__(context, session)
        self._watch = Watch()

    def build(self) -> None:
        """Build the components, one under the other, and bind their events."""
        with gr.Column(elem_id="vx-step-methods"):
            self.picker = MethodsPicker(elem_id="vx-training-methods")
        with gr.Column(elem_id="vx-step-training"):
            self.progress = ProgressView(elem_id="vx-training-progress")
            self.history = HistoryView(elem_id="vx-training-history")
        self.seen = gr.State(None)  # training, bytes of its event file and state that are on the screen
        choice_inputs = [self.session.chosen, self.context.address]
        self.picker.count(self.count, choice_inputs, self.picker, **LATEST)
        self.picker.estimate(self.estimate, choice_inputs, self.picker, trigger_mode="multiple", **WAITING)
        watched = [self.progress, self.seen]
        self.started = self.picker.start(
            self.start, [*self.training, *choice_inputs], [self.picker, self.session.training], **WAITING
        )
        self.started.success(self.look, self.here, watched, **QUICK)
        self.ticked = self.progress.tick(
            self.look_on, [*self.training, self.seen, self.context.address], watched, **QUICK
        )
        self.progress.stop(self.stop, self.training, None, **QUICK)
        resumed = self.progress.resume(self.resume, self.here, self.picker, **QUICK)
        resumed.then(self.look, self.here, watched, **QUICK)
        self._bind_history()

    def _bind_history(self) -> None:
        """Bind the list of earlier trainings."""
        self.listed = gr.State(None)  # `seen` of the last ended training that the list contains
        self.ticked.then(
            self.earlier_on,
            [*self.training, self.seen, self.listed, self.context.address],
            [self.history, self.listed],
            **QUICK,
        )
        watched = [self.progress, self.seen]
        self.reopened = self.history.reopen(self.reopen, self.training, self.session.training, **QUICK)
        self.removed = self.history.remove(self.remove, self.training, self.session.training, **QUICK)
        for event in (self.reopened, self.removed):
            event.then(self.look, self.here, watched, **QUICK)

    # -------------------------------------------------------------------------------------- methods

    async def methods(
        self,
        chosen: Chosen | None,
        address: Address,
        choice: TrainingChoice | None = None,
        estimated: dict | None = None,
        plan: dict[str, str] | None = None,
    ) -> MethodsData:
        """Return the methods for the model on the screen and the chosen images.

        `choice` is None for the defaults; `estimated` and `plan` are as in `methods_data` and `MethodsData.plan`.
        """
        outputs, ready = await in_thread(_outputs, chosen)
        backbone = await backbone_of(self.engine, address, choice.backbone if choice else "")
        data = await in_thread(methods_data, backbone.model, outputs, ready, address.language, choice, estimated)
        data.backbone = backbone.text.in_(address.language)
        data.plan = plan or {}
        return data

    def plan(self, visitor: str, training: str) -> dict[str, str]:
        """Return the plan of an earlier training, see `MethodsData.plan`; empty where it was deleted."""
        try:
            config = read_config(self.places.training(visitor, training))
        except ExplainedError:
            return {}
        return {
            "training": training,
            **{name: str(getattr(config.plan, name)) for name in PLANNED},
            "backbone": config.model if is_convolutional(config.model) else "",
        }

    async def count(self, event: gr.EventData, chosen: Chosen | None, address: Address) -> MethodsData:
        """Count the trained parameters after another tick, setting or backbone."""
        if address == Address():
            return gr.skip()
        try:
            return await self.methods(chosen, address, TrainingChoice.read(fields_of(event)))
        except ExplainedError as error:
            return MethodsData(refused=error.text.in_(address.language))

    async def estimate(
        self, event: gr.EventData, chosen: Chosen | None, address: Address, request: gr.Request
    ) -> AsyncGenerator[MethodsData, None]:
        """Estimate time and memory of every ticked method from two batches of each; yield the progress first."""
        choice = TrainingChoice.read(fields_of(event))
        visitor = session_of(request)

        async def estimate_methods() -> MethodsData:
            from vitexplorer.finetune.preview import estimates

            config, base = await self._config(choice, chosen, address)
            dataset = (await in_thread(look, chosen)).report.dataset
            estimated = await self.engine.long.run(object(), partial(estimates, config, dataset, base.model))
            return await self.methods(chosen, address, choice, estimated)

        self.engine.leave(visitor, FIGURE)
        try:
            async with aclosing(following(Waiting(visitor, FIGURE), estimate_methods())) as steps:
                async for step in steps:
                    yield step.result if isinstance(step, Done) else MethodsData(working=_line(step, address.language))
        except ExplainedError as error:
            yield MethodsData(refused=error.text.in_(address.language))

    async def start(
        self, event: gr.EventData, visitor: str, training: str, chosen: Chosen | None, address: Address
    ) -> Updates:
        """Start a training in a process of its own, or add methods to the open one; an error becomes a sentence."""
        try:
            config, _ = await self._config(TrainingChoice.read(fields_of(event)), chosen, address)
            folder = await in_thread(self._start_job, visitor, training, config)
        except ExplainedError as error:
            return {self.picker: MethodsData(refused=error.text.in_(address.language))}
        return {self.picker: MethodsData(), self.session.training: folder.name}

    def _start_job(self, visitor: str, training: str, config: JobConfig) -> Path:
        check_room(self.places, visitor)
        folder = self._extendable_folder(visitor, training, config) or self.places.new_training(visitor)
        with self.places.room_for_one(settings().trainings):
            return detached.start(config, folder).folder

    def _extendable_folder(self, visitor: str, training: str, config: JobConfig) -> Path | None:
        """Return the folder of the open training if only its methods differ and some of them are new to it."""
        try:
            state = job_state(self.places.training(visitor, training))
        except ExplainedError:
            return None
        new = {candidate.key for candidate in config.candidates} - {run.key for run in state.runs}
        same = state.config and state.config.but_for_candidates() == config.but_for_candidates()
        return state.folder if new and same and state.state != "running" else None

    async def _config(
        self, choice: TrainingChoice, chosen: Chosen | None, address: Address
    ) -> tuple[JobConfig, Backbone]:
        if chosen is None:
            raise JobError(TRAINING_WORDS["data_first"])
        backbone = await backbone_of(self.engine, address, choice.backbone)
        config = await in_thread(job_of, choice, chosen, backbone)
        return config, backbone

    # -------------------------------------------------------------------------------------- the run

    def look(self, visitor: str, training: str, address: Address) -> Updates:
        """Show the present state of a training."""
        nothing = {self.progress: no_progress(address.language), self.seen: None}
        if not training:
            return nothing
        try:
            folder = self.places.training(visitor, training)
            state = job_state(folder)
            log = self._watch.look(folder)
        except ExplainedError:
            return nothing
        return {
            self.progress: progress_data(state, log.events, address.language),
            self.seen: (training, log.read, state.state),
        }

    def look_on(self, visitor: str, training: str, seen: tuple | None, address: Address) -> Updates:
        """Show the progress if it differs from the screen; otherwise change nothing."""
        with suppress(ExplainedError):
            folder = self.places.training(visitor, training)
            current = (training, self._watch.look(folder).read, job_state(folder).state)
            if current == seen:
                return gr.skip()
        return self.look(visitor, training, address)

    def stop(self, visitor: str, training: str) -> None:
        """Ask the training to end after its current step."""
        with suppress(ExplainedError):
            detached.stop(self.places.training(visitor, training))

    def resume(self, visitor: str, training: str, address: Address) -> Updates:
        """Resume a training that was stopped or interrupted."""
        try:
            with self.places.room_for_one(settings().trainings):
                detached.resume(self.places.training(visitor, training))
        except ExplainedError as error:
            return {self.picker: MethodsData(refused=error.text.in_(address.language))}
        return {self.picker: MethodsData()}

    # -------------------------------------------------------------------------------------- earlier trainings

    def earlier(self, visitor: str, training: str, address: Address) -> HistoryData:
        """List the visitor's trainings."""
        try:
            return history_data(self.places.trainings(visitor), training, address.language)
        except ExplainedError:  # a hosted page whose browser sent no visitor name
            return history_data((), "", address.language)

    def earlier_on(
        self, visitor: str, training: str, seen: tuple | None, listed: tuple | None, address: Address
    ) -> Updates:
        """List the earlier trainings again when the training has ended."""
        if seen is None or seen[-1] == "running" or seen == listed:
            return gr.skip()
        return {self.history: self.earlier(visitor, training, address), self.listed: seen}

    def known(self, visitor: str, training: str) -> str:
        """Return the training's name if it exists and belongs to the visitor, otherwise an empty one."""
        try:
            return self.places.training(visitor, training).name
        except ExplainedError:
            return ""

    def reopen(self, event: gr.EventData, visitor: str, training: str) -> str:
        """Open another training of the list."""
        return self.known(visitor, str(fields_of(event).get("run"))) or training

    def remove(self, event: gr.EventData, visitor: str, training: str) -> str:
        """Delete a training of the list, and close it if it is the open one."""
        run = str(fields_of(event).get("run"))
        try:
            self.places.delete(visitor, run)
        except ExplainedError:
            return training
        return "" if run == training else training


def _outputs(chosen: Chosen | None) -> tuple[int, bool]:
    """Return the number of outputs for the counts, and True where the images can be trained on."""
    if chosen is None:
        return USUAL_OUTPUTS, False
    looked = look(chosen)
    return len(looked.report.dataset.classes) or 1, sides_of(looked) is not None


def _line(step: Step, language: Language) -> str:
    """Return the progress of the estimates in words."""
    if step.place:
        return say("methods_waiting", language, place=step.place)
    return say("methods_estimating", language, done=step.done, total=step.total)
