"""The third part of the room: what was found, and the way from there into the other rooms and home."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.components.base import Component
from gradio.data_classes import FileData
from gradio.events import Dependency

from vitexplorer.finetune.records import FinetuneResult
from vitexplorer.finetune.running import Comparison, load_comparison
from vitexplorer.finetune.trainer.folder import read_config, stem_of
from vitexplorer.finetune.trainer.plan import JobConfig
from vitexplorer.models.images import open_shrunk
from vitexplorer.progress import Progress
from vitexplorer.settings import settings
from vitexplorer.ui import visit
from vitexplorer.ui.address import Address
from vitexplorer.ui.background import Done
from vitexplorer.ui.desk import QUICK, Desk
from vitexplorer.ui.figure_panel.component import FigurePanel, PanelData
from vitexplorer.ui.files import cached_file, image_file
from vitexplorer.ui.language import word
from vitexplorer.ui.pictures import keep_upload
from vitexplorer.ui.training.change_part import ChangePart
from vitexplorer.ui.training.data_part import READING
from vitexplorer.ui.training.figures import Asked, result_figures
from vitexplorer.ui.training.results import ResultsData, ResultsView, image_path, no_results, results_data, takeaways
from vitexplorer.ui.training.sent_model import keep_sent
from vitexplorer.ui.training.session import Session
from vitexplorer.ui.training.words import say
from vitexplorer.words import ExplainedError, Language

SAFETENSORS = "application/octet-stream"
ARRIVE = "() => { window.vxAddress({room: 'attention'}); window.scrollTo({top: 0}); }"
THUMBNAIL = 340
"""pixels of the shorter side"""


class ResultPart:
    """Leaderboard, files, wrong images."""

    def __init__(self, desk: Desk, session: Session):
        """Args: desk: what the rooms share; session: what the parts share."""
        self.desk, self.session = desk, session
        self.changes = ChangePart(desk, session)

    def build(self) -> None:
        """The components, one under the other."""
        self.results = ResultsView(elem_id="vx-training-results")
        self.found = gr.State(None)  # the training that is on the screen and its finished runs
        self.asked = gr.State(Asked())  # the figure that is on the screen
        with gr.Column(visible=False) as self.column:
            self.test = gr.UploadButton(
                self.desk.t("training_predict"),
                file_count="multiple",
                file_types=[".zip", "image"],
                size="sm",
                elem_id="vx-training-test",
            )
            self.figures = FigurePanel(elem_id="vx-training-figures")
        self.changes.build()
        mine = [self.session.visitor, self.session.training]
        state = [*mine, self.session.run, self.desk.language]
        self.figures.ask(self.answer, state, [self.figures, self.asked], trigger_mode="always_last", **QUICK)
        asked = self.results.changed(self.ask_changes, None, self.changes.run, **QUICK)
        self.changes.show_after(asked)
        self.results.choose(
            self.choose,
            [*mine, self.asked, self.desk.language],
            [self.results, self.session.run, self.figures],
            trigger_mode="always_last",
            **QUICK,
        )
        self.test.upload(self.predict, [self.test, *state], self.results, trigger_mode="multiple", **READING)
        self.results.fetch(self.fetch, [*mine, self.desk.language], self.results, **READING)

    def follow(self, event: Dependency) -> None:
        """Show the results after another training was opened."""
        event.then(
            self.show,
            [self.session.visitor, self.session.training, self.session.run, self.desk.language],
            [self.results, self.found, self.column, self.figures],
            **QUICK,
        )

    def follow_on(self, event: Dependency) -> None:
        """Show them again where a run has ended since."""
        event.then(
            self.show_on,
            [self.session.visitor, self.session.training, self.session.run, self.found, self.desk.language],
            [self.results, self.found, self.column, self.figures],
            **QUICK,
        )

    def lead(self, parts: dict[str, Component], then_explore: Callable[[Dependency], None]) -> None:
        """A wrong image and its model, a model alone, or a file that was uploaded open in the other rooms."""
        language = self.desk.language
        opened = self.results.open(
            self.open,
            [self.session.visitor, self.session.training, parts["wanted"], language],
            [parts[name] for name in ("wanted", "upload", "strip", "model", "sentence", "weights", "tabs", "active")],
            **READING,
        )
        loaded = self.file.upload(
            self.load,
            [self.file, self.session.visitor, parts["wanted"], language],
            [parts[name] for name in ("wanted", "upload", "strip", "model", "sentence", "weights", "tabs", "active")],
            **READING,
        )
        for event in (opened, loaded):
            event.success(None, None, None, js=ARRIVE, **QUICK)
            then_explore(event)

    def build_file(self) -> None:
        """The button that loads a tuned model's file."""
        self.file = gr.UploadButton(
            self.desk.t("training_file"),
            file_count="multiple",
            file_types=[".safetensors", ".zip", ".json"],
            size="sm",
            elem_id="vx-training-file",
        )

    # -------------------------------------------------------------------------------------- reading

    def _comparison(self, visitor: str, training: str) -> Comparison:
        return load_comparison(self.desk.engine.places.training(visitor, training))

    def _result(self, visitor: str, training: str, run: str) -> FinetuneResult:
        return self._comparison(visitor, training)[run]

    def show(self, visitor: str, training: str, run: str, language: Language) -> list[Any]:
        """The results of a training."""
        if not training:
            return nothing(language)
        try:
            comparison = self._comparison(visitor, training)
        except ExplainedError:
            return nothing(language)
        if not comparison.results:
            return nothing(language)
        data = results_data(comparison, run, language)
        figures = result_figures(comparison, data.chosen, Asked(), language)
        return [data, finished(comparison), gr.Column(visible=True), figures]

    def show_on(self, visitor: str, training: str, run: str, found: tuple | None, language: Language) -> list[Any]:
        """The same where there are other ones than on the screen."""
        same = [gr.skip()] * 4
        if not training:
            return same
        try:
            comparison = self._comparison(visitor, training)
        except ExplainedError:
            return same
        return same if finished(comparison) == found else self.show(visitor, training, run, language)

    def answer(self, event: gr.EventData, visitor: str, training: str, run: str, language: Language) -> list[Any]:
        """Another figure or setting."""
        asked = Asked.read(event._data)
        return [self._figures(visitor, training, run, asked, language), asked]

    def choose(self, event: gr.EventData, visitor: str, training: str, asked: Asked, language: Language) -> list[Any]:
        """Another run of the leaderboard, also in the figure that is on the screen."""
        run = str(event._data.get("run"))
        of_run = replace(asked, settings={**asked.settings, "run": run}, number=0)
        figures = self._figures(visitor, training, run, of_run, language)
        return [self.show(visitor, training, run, language)[0], run, figures]

    def _figures(self, visitor: str, training: str, run: str, asked: Asked, language: Language) -> PanelData:
        try:
            comparison = self._comparison(visitor, training)
        except ExplainedError:
            return gr.skip()
        if not comparison.results:
            return gr.skip()
        return result_figures(comparison, run or comparison.leaderboard[0].run, asked, language)

    def ask_changes(self, event: gr.EventData) -> str:
        """The run of which somebody wants to see what it changed."""
        return str(event._data.get("run"))

    # -------------------------------------------------------------------------------------- elsewhere

    def open(self, event: gr.EventData, visitor: str, training: str, wanted: Address, language: Language) -> list[Any]:
        """The tuned model in the Attention room, on one of the validation images where one was pressed."""
        places, index = self.desk.engine.places, event._data.get("index")
        try:
            folder = places.training(visitor, training)
            result = self._result(visitor, training, str(event._data.get("run")))
            image, picture = wanted.image, gr.skip()
            if isinstance(index, int) and 0 <= index < len(result.paths):
                path = image_path(folder, result, index)
                image, picture = keep_upload(str(path)), thumbnail(path)
        except ExplainedError as error:
            raise gr.Error(
                error.text.in_(language), title=word("not_possible", language), print_exception=False
            ) from error
        address = replace(wanted, image=image, **_model(places.name_of(result.file)))
        return entering(address, picture, language)

    def load(self, paths: list[str] | None, visitor: str, wanted: Address, language: Language) -> list[Any]:
        """A tuned model from files that were taken home, on the picture at the left."""
        try:
            name = keep_sent(self.desk.engine, visitor, paths or [], wanted.picture)
        except ExplainedError as error:
            raise gr.Error(
                error.text.in_(language), title=word("not_possible", language), print_exception=False
            ) from error
        return entering(replace(wanted, **_model(name)), gr.skip(), language)

    def fetch(self, event: gr.EventData, visitor: str, training: str, language: Language) -> ResultsData:
        """A file to take home, made when it is asked for."""
        try:
            result = self._result(visitor, training, str(event._data.get("run")))
            config = read_config(self.desk.engine.places.training(visitor, training))
            return ResultsData(download=made(result, str(event._data.get("what")), config))
        except ExplainedError as error:
            return ResultsData(refused=error.text.in_(language))

    def predict(
        self, paths: list[str] | None, visitor: str, training: str, run: str, language: Language, request: gr.Request
    ) -> Iterator[ResultsData]:
        """The chosen run's answers for a zip of images, or for images, as a table to hand in."""
        from vitexplorer.finetune.submission import naming_of, submission

        try:
            folder = self.desk.engine.places.training(visitor, training)
            board = load_comparison(folder).leaderboard
            result = next((one for one in board if one.run == run), board[0])
            config = read_config(folder)
            naming = naming_of(config, folder)

            def work(report: Progress) -> str:
                with tempfile.TemporaryDirectory() as sent:
                    lay_out(paths or [], Path(sent) / "test")
                    return submission(result.model, result.file, Path(sent) / "test", report, naming)

            steps = self.desk.engine.background.run(request.session_hash or "", work)
            with closing(steps):
                for step in steps:
                    if isinstance(step, Done):
                        name = f"{stem_of(config, result.run)}-submission.csv"
                        yield ResultsData(download=table_file(step.result, name))
                        return
                    line = say("board_predicting", language, done=step.done, total=step.total)
                    yield ResultsData(working=line if step.total else say("board_preparing", language))
        except ExplainedError as error:
            yield ResultsData(refused=error.text.in_(language))


def nothing(language: Language) -> list[Any]:
    """Where no training has a result."""
    return [no_results(language), None, gr.Column(visible=False), gr.skip()]


def finished(comparison: Comparison) -> tuple[Any, ...]:
    """What tells whether there is something new: the training and its results."""
    return comparison.folder.name, tuple((one.run, len(one.epochs), one.stopped) for one in comparison.results)


def _model(name: str) -> dict[str, str]:
    """The parts of an address that name a tuned model; block, head and query start anew."""
    return {"model": name, "weights": "trained", "room": "attention", "block": "", "head": "", "query": ""}


def thumbnail(path: Path) -> str:
    """A picture for the image field; the rooms show the image itself."""
    shrunk = open_shrunk(path, THUMBNAIL, max_megapixels=settings().max_megapixels)
    return image_file(shrunk.pixels).path


def entering(address: Address, picture: Any, language: Language) -> list[Any]:
    """The left column and the Attention room for an address."""
    return [
        address,
        picture,
        visit.strip(address, language),
        gr.Dropdown(value=address.model),
        visit.model_sentence(address.model, language),
        address.weights,
        gr.Tabs(selected=address.room),
        address.room,
    ]


def lay_out(paths: list[str], folder: Path) -> None:
    """What was sent to be predicted in one folder: the images of a zip, or the images themselves. Raises DataError."""
    from vitexplorer.finetune.data.archive import unpack_zip

    if len(paths) == 1 and paths[0].lower().endswith(".zip"):
        unpack_zip(paths[0], folder)
        return
    folder.mkdir()
    for path in paths:
        shutil.copy(path, folder)


def table_file(text: str, name: str) -> FileData:
    """A .csv; only one with more than ASCII begins with the mark that Excel wants and Kaggle takes for a letter."""
    return cached_file(text.encode("ascii" if text.isascii() else "utf-8-sig"), name, "text/csv")


def made(result: FinetuneResult, what: str, config: JobConfig) -> FileData:
    """A result as one of its kinds of files. Raises ExplainedError where that cannot be."""
    from vitexplorer.finetune.takeaway import merged_checkpoint, model_card, peft_zip

    name = stem_of(config, result.run)
    if what == "card":
        return cached_file(model_card(result, config).encode(), f"{name}.md", "text/markdown")
    if what == "merged" and what in takeaways(result):
        return cached_file(merged_checkpoint(result.model), f"{name}-merged.safetensors", SAFETENSORS)
    if what == "peft":
        return cached_file(peft_zip(result.model), f"{name}-peft.zip", "application/zip")
    return cached_file(result.file.read_bytes(), f"{name}.safetensors", SAFETENSORS)
