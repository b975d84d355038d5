"""The second part of the room: methods to choose, the training while it runs, and those that were made before."""

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
from vitexplorer.ui.rooms.finetune.backbone import Backbone, backbone_of
from vitexplorer.ui.rooms.finetune.choice import PLANNED, TrainingChoice, job_of
from vitexplorer.ui.rooms.finetune.data_part import sides_of
from vitexplorer.ui.rooms.finetune.history import HistoryData, HistoryView, history_data
from vitexplorer.ui.rooms.finetune.methods import MethodsData, MethodsPicker, methods_data
from vitexplorer.ui.rooms.finetune.progress import ProgressView, no_progress, progress_data
from vitexplorer.ui.rooms.finetune.session import Session
from vitexplorer.ui.rooms.finetune.watch import Watch
from vitexplorer.ui.rooms.finetune.words import TRAINING_WORDS, say
from vitexplorer.ui.shell.address import Address
from vitexplorer.ui.shell.room_context import FIGURE, QUICK, WAITING, Desk, Updates

USUAL_OUTPUTS = 10
"""classes that parameters are counted for while there are no images"""
BETWEEN_LOOKS = 1.0
"""seconds"""


class RunPart:
    """Methods, progress, earlier trainings."""

    def __init__(self, desk: Desk, session: Session):
        """Args: desk: what the rooms share; session: what the parts share."""
        self.desk, self.session = desk, session
        self._watch = Watch()

    def build(self) -> None:
        """The components, one under the other."""
        with gr.Column(elem_id="vx-step-methods"):
            self.picker = MethodsPicker(elem_id="vx-training-methods")
        with gr.Column(elem_id="vx-step-training"):
            self.progress = ProgressView(elem_id="vx-training-progress")
            self.history = HistoryView(elem_id="vx-training-history")
        self.timer = gr.Timer(BETWEEN_LOOKS, active=False)
        self.seen = gr.State(None)  # what of the training is on the screen
        asked = [self.session.chosen, self.desk.address, self.desk.language]
        self.picker.count(self.count, asked, self.picker, trigger_mode="always_last", **QUICK)
        self.picker.estimate(self.estimate, asked, self.picker, trigger_mode="multiple", **WAITING)
        mine = [self.session.visitor, self.session.training]
        watched = [self.progress, self.seen, self.timer]
        self.started = self.picker.start(self.start, [*mine, *asked], [self.picker, self.session.training], **WAITING)
        self.started.success(self.look, [*mine, self.desk.language], watched, **QUICK)
        self.ticked = self.timer.tick(self.look_on, [*mine, self.seen, self.desk.language], watched, **QUICK)
        self.progress.stop(self.stop, mine, None, **QUICK)
        resumed = self.progress.resume(self.resume, [*mine, self.desk.language], [self.picker, self.timer], **QUICK)
        resumed.then(self.look, [*mine, self.desk.language], watched, **QUICK)
        self._bind_history()

    def _bind_history(self) -> None:
        """The list of earlier trainings."""
        mine = [self.session.visitor, self.session.training]
        self.listed = gr.State(None)  # what was on the screen of the training that ended last
        self.ticked.then(
            self.earlier_on, [*mine, self.seen, self.listed, self.desk.language], [self.history, self.listed], **QUICK
        )
        watched = [self.progress, self.seen, self.timer]
        self.reopened = self.history.reopen(self.reopen, mine, self.session.training, **QUICK)
        self.removed = self.history.remove(self.remove, mine, self.session.training, **QUICK)
        for event in (self.reopened, self.removed):
            event.then(self.look, [*mine, self.desk.language], watched, **QUICK)

    # -------------------------------------------------------------------------------------- methods

    async def methods(
        self,
        chosen: Chosen | None,
        address: Address,
        language: Language,
        choice: TrainingChoice | None = None,
        estimated: dict | None = None,
        plan: dict[str, str] | None = None,
    ) -> MethodsData:
        """The methods for the model on the screen and the chosen images."""
        outputs, ready = await in_thread(_outputs, chosen)
        backbone = await backbone_of(self.desk.engine, address, choice.backbone if choice else "")
        data = await in_thread(methods_data, backbone.model, outputs, ready, language, choice, estimated)
        data.backbone, data.plan = backbone.text.in_(language), plan or {}
        return data

    def plan(self, visitor: str, training: str) -> dict[str, str]:
        """Plan of an earlier training, for the fields, see `MethodsData.plan`; empty where it is gone."""
        try:
            config = read_config(self.desk.engine.places.training(visitor, training))
        except ExplainedError:
            return {}
        return {
            "training": training,
            **{name: str(getattr(config.plan, name)) for name in PLANNED},
            "backbone": config.model if is_convolutional(config.model) else "",
        }

    async def count(
        self, event: gr.EventData, chosen: Chosen | None, address: Address, language: Language
    ) -> MethodsData:
        """Another tick, setting or backbone: what trains now."""
        if address == Address():
            return gr.skip()
        try:
            return await self.methods(chosen, address, language, TrainingChoice.read(fields_of(event)))
        except ExplainedError as error:
            return MethodsData(refused=error.text.in_(language))

    async def estimate(
        self,
        event: gr.EventData,
        chosen: Chosen | None,
        address: Address,
        language: Language,
        request: gr.Request,
    ) -> AsyncGenerator[MethodsData, None]:
        """Time and memory of every ticked method, from two batches of each, in a turn of many passes."""
        choice, engine, visitor = TrainingChoice.read(fields_of(event)), self.desk.engine, session_of(request)

        async def estimated() -> MethodsData:
            from vitexplorer.finetune.preview import estimates

            config, base = await self._config(choice, chosen, address)
            dataset = (await in_thread(look, chosen)).report.dataset
            found = await engine.long.run(object(), partial(estimates, config, dataset, base.model))
            return await self.methods(chosen, address, language, choice, found)

        engine.leave(visitor, FIGURE)
        try:
            async with aclosing(following(Waiting(visitor, FIGURE), estimated())) as steps:
                async for step in steps:
                    yield step.result if isinstance(step, Done) else MethodsData(working=_line(step, language))
        except ExplainedError as error:
            yield MethodsData(refused=error.text.in_(language))

    async def start(
        self,
        event: gr.EventData,
        visitor: str,
        training: str,
        chosen: Chosen | None,
        address: Address,
        language: Language,
    ) -> Updates:
        """Begin a training in a process of its own, or add methods to the one that is open.

        What is not possible is answered with a sentence.
        """
        try:
            config, _ = await self._config(TrainingChoice.read(fields_of(event)), chosen, address)
            folder = await in_thread(self._started, visitor, training, config)
        except ExplainedError as error:
            return {self.picker: MethodsData(refused=error.text.in_(language))}
        return {self.picker: MethodsData(), self.session.training: folder.name}

    def _started(self, visitor: str, training: str, config: JobConfig) -> Path:
        places = self.desk.engine.places
        check_room(places, visitor)
        folder = self._extended(visitor, training, config) or places.new_training(visitor)
        with places.room_for_one(settings().trainings):
            return detached.start(config, folder).folder

    def _extended(self, visitor: str, training: str, config: JobConfig) -> Path | None:
        """The folder of the open training where it differs in its methods alone, and some are new to it."""
        try:
            state = job_state(self.desk.engine.places.training(visitor, training))
        except ExplainedError:
            return None
        new = {one.key for one in config.candidates} - {run.key for run in state.runs}
        same = state.config and state.config.but_for_candidates() == config.but_for_candidates()
        return state.folder if new and same and state.state != "running" else None

    async def _config(
        self, choice: TrainingChoice, chosen: Chosen | None, address: Address
    ) -> tuple[JobConfig, Backbone]:
        if chosen is None:
            raise JobError(TRAINING_WORDS["data_first"])
        backbone = await backbone_of(self.desk.engine, address, choice.backbone)
        config = await in_thread(job_of, choice, chosen, backbone.model, backbone.picture.model, backbone.weights)
        return config, backbone

    # -------------------------------------------------------------------------------------- the run

    def look(self, visitor: str, training: str, language: Language) -> Updates:
        """A training as it is: the picture, what of it is on the screen, and whether to look again."""
        nothing = {self.progress: no_progress(language), self.seen: None, self.timer: gr.Timer(active=False)}
        if not training:
            return nothing
        try:
            folder = self.desk.engine.places.training(visitor, training)
            state, told = job_state(folder), self._watch.look(folder)
        except ExplainedError:
            return nothing
        return {
            self.progress: progress_data(state, told.events, language),
            self.seen: (training, told.read, state.state),
            self.timer: gr.Timer(active=state.state == "running"),
        }

    def look_on(self, visitor: str, training: str, seen: tuple | None, language: Language) -> Updates:
        """Show the progress where there is news; otherwise nothing moves on the screen."""
        with suppress(ExplainedError):
            folder = self.desk.engine.places.training(visitor, training)
            now = (training, self._watch.look(folder).read, job_state(folder).state)
            if now == seen:
                return gr.skip()
        return self.look(visitor, training, language)

    def stop(self, visitor: str, training: str) -> None:
        """Ask the training to end after its step."""
        with suppress(ExplainedError):
            detached.stop(self.desk.engine.places.training(visitor, training))

    def resume(self, visitor: str, training: str, language: Language) -> Updates:
        """Go on with a training that was stopped or interrupted."""
        places = self.desk.engine.places
        try:
            with places.room_for_one(settings().trainings):
                detached.resume(places.training(visitor, training))
        except ExplainedError as error:
            return {self.picker: MethodsData(refused=error.text.in_(language)), self.timer: gr.Timer(active=False)}
        return {self.picker: MethodsData(), self.timer: gr.Timer(active=True)}

    # -------------------------------------------------------------------------------------- earlier ones

    def earlier(self, visitor: str, training: str, language: Language) -> HistoryData:
        """The visitor's trainings."""
        try:
            return history_data(self.desk.engine.places.trainings(visitor), training, language)
        except ExplainedError:  # a hosted page whose browser did not say who it is
            return history_data((), "", language)

    def earlier_on(
        self, visitor: str, training: str, seen: tuple | None, listed: tuple | None, language: Language
    ) -> Updates:
        """List the earlier trainings once more when the training has ended."""
        if seen is None or seen[-1] == "running" or seen == listed:
            return gr.skip()
        return {self.history: self.earlier(visitor, training, language), self.listed: seen}

    def known(self, visitor: str, training: str) -> str:
        """The training if it is the visitor's and there, otherwise none."""
        try:
            return self.desk.engine.places.training(visitor, training).name
        except ExplainedError:
            return ""

    def reopen(self, event: gr.EventData, visitor: str, training: str) -> str:
        """Another training of the list."""
        return self.known(visitor, str(fields_of(event).get("run"))) or training

    def remove(self, event: gr.EventData, visitor: str, training: str) -> str:
        """Delete one of the list; the one on the screen is closed with it."""
        run = str(fields_of(event).get("run"))
        try:
            self.desk.engine.places.delete(visitor, run)
        except ExplainedError:
            return training
        return "" if run == training else training


def _outputs(chosen: Chosen | None) -> tuple[int, bool]:
    """Outputs that parameters are counted for, and whether the images can be trained on."""
    if chosen is None:
        return USUAL_OUTPUTS, False
    looked = look(chosen)
    return len(looked.report.dataset.classes) or 1, sides_of(looked) is not None


def _line(step: Step, language: Language) -> str:
    """Progress of the estimates."""
    if step.place:
        return say("methods_waiting", language, place=step.place)
    return say("methods_estimating", language, done=step.done, total=step.total)
