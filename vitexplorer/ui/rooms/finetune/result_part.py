"""Third part of the room: results of a training, predictions of a tuned model, and downloads."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Any

import gradio as gr

from vitexplorer.core.text import ExplainedError
from vitexplorer.finetune.comparison import Comparison, load_comparison
from vitexplorer.finetune.job.folder import read_config, stem_of
from vitexplorer.finetune.job.plan import JobConfig
from vitexplorer.finetune.results.records import FinetuneResult
from vitexplorer.service.jobs import Done, Report, Step, Waiting, following
from vitexplorer.storage.checked_reading import read_header
from vitexplorer.ui.gradio_adapter.events import fields_of
from vitexplorer.ui.gradio_adapter.page_blocks import session_of
from vitexplorer.ui.gradio_adapter.types import Dependency
from vitexplorer.ui.kit.served_files import ServedFile, cached_file
from vitexplorer.ui.panel.figure_panel import FigurePanel, Question
from vitexplorer.ui.rooms.finetune.change_part import ChangePart
from vitexplorer.ui.rooms.finetune.figures import question_of, result_figures
from vitexplorer.ui.rooms.finetune.results import ResultsData, ResultsView, download_kinds, no_results, results_data
from vitexplorer.ui.rooms.finetune.session import Part, Session
from vitexplorer.ui.rooms.finetune.words import say
from vitexplorer.ui.shell.address import COMPARED, OWN, Address
from vitexplorer.ui.shell.room_context import FIGURE, LATEST, QUICK, WAITING, RoomContext, Updates


class ResultPart(Part):
    """Leaderboard, figures, wrong images and downloads."""

    def __init__(self, context: RoomContext, session: Session):
        super().__init__(context, session)
        self.changes = ChangePart(context, session)

    def build(self) -> None:
        """Build the components, one under the other."""
        self.results = ResultsView(elem_id="vx-training-results")
        self.finished_runs = gr.State(None)  # the training on the screen and its finished runs
        self.question = gr.State(Question())  # the figure on the screen
        with gr.Column(visible=False) as self.column:
            self.figures = FigurePanel(elem_id="vx-training-figures")
        self.changes.build()
        state = [*self.training, self.session.run, self.context.address]
        self.figures.ask(self.answer, state, [self.figures, self.question], **LATEST)
        self.changes.show_after(self.results.changed(self.ask_changes, None, self.changes.run, **QUICK))
        self.results.choose(
            self.choose,
            [*self.training, self.question, self.context.address],
            [self.results, self.session.run, self.figures],
            **LATEST,
        )
        self.results.predict(self.predict_images, state, self.results, trigger_mode="multiple", **WAITING)
        self.results.fetch(self.fetch, self.here, self.results, **WAITING)

    def follow(self, event: Dependency) -> None:
        """Show the results after another training was opened."""
        event.then(
            self.show,
            [*self.training, self.session.run, self.context.address],
            [self.results, self.finished_runs, self.column, self.figures],
            **QUICK,
        )

    def follow_on(self, event: Dependency) -> None:
        """Show the results again after an event if another run has ended."""
        event.then(
            self.show_on,
            [*self.training, self.session.run, self.finished_runs, self.context.address],
            [self.results, self.finished_runs, self.column, self.figures],
            **QUICK,
        )

    # -------------------------------------------------------------------------------------- reading

    def _comparison(self, visitor: str, training: str) -> Comparison | None:
        """Return the results of a training; None where the visitor has none of that name."""
        try:
            return load_comparison(self.places.training(visitor, training)) if training else None
        except ExplainedError:
            return None

    def _board(self, comparison: Comparison, run: str, address: Address) -> ResultsData:
        """Return the results' data, with the address that compares the chosen run with its base."""
        data = results_data(comparison, run, address.language)
        result = comparison[data.chosen]
        data.beside = compare_address(result.base, self.places.name_of(result.file))
        return data

    def show(self, visitor: str, training: str, run: str, address: Address) -> Updates:
        """Show the results of a training."""
        comparison = self._comparison(visitor, training)
        if comparison is None or not comparison.results:
            return {
                self.results: no_results(address.language),
                self.finished_runs: None,
                self.column: gr.Column(visible=False),
            }
        data = self._board(comparison, run, address)
        return {
            self.results: data,
            self.finished_runs: finished(comparison),
            self.column: gr.Column(visible=True),
            self.figures: result_figures(comparison, data.chosen, Question(), address.language),
        }

    def show_on(self, visitor: str, training: str, run: str, finished_runs: tuple | None, address: Address) -> Updates:
        """Show the results if they differ from those on the screen."""
        comparison = self._comparison(visitor, training)
        if comparison is None or finished(comparison) == finished_runs:
            return gr.skip()
        return self.show(visitor, training, run, address)

    def answer(self, event: gr.EventData, visitor: str, training: str, run: str, address: Address) -> Updates:
        """Show another figure or setting."""
        question = question_of(fields_of(event))
        comparison = self._comparison(visitor, training)
        return self._figures(comparison, run, question, address) | {self.question: question}

    def choose(self, event: gr.EventData, visitor: str, training: str, question: Question, address: Address) -> Updates:
        """Show another run of the leaderboard, also in the figure on the screen."""
        run = str(fields_of(event).get("run"))
        of_run = replace(question, settings={**question.settings, "run": run}, number=0)
        comparison = self._comparison(visitor, training)
        board = self._board(comparison, run, address) if comparison else no_results(address.language)
        return {self.results: board, self.session.run: run} | self._figures(comparison, run, of_run, address)

    def _figures(self, comparison: Comparison | None, run: str, question: Question, address: Address) -> Updates:
        if comparison is None or not comparison.results:
            return {}
        run = run or comparison.leaderboard[0].run
        return {self.figures: result_figures(comparison, run, question, address.language)}

    def ask_changes(self, event: gr.EventData) -> str:
        """Return the run whose changes are to be shown."""
        return str(fields_of(event).get("run"))

    # -------------------------------------------------------------------------------------- downloads

    def fetch(self, event: gr.EventData, visitor: str, training: str, address: Address) -> ResultsData:
        """Make a file to download."""
        try:
            folder = self.places.training(visitor, training)
            result = load_comparison(folder)[str(fields_of(event).get("run"))]
            return ResultsData(download=download_file(result, str(fields_of(event).get("what")), read_config(folder)))
        except ExplainedError as error:
            return ResultsData(refused=error.text.in_(address.language))

    async def predict_images(
        self, event: gr.EventData, visitor: str, training: str, run: str, address: Address, request: gr.Request
    ) -> AsyncGenerator[ResultsData, None]:
        """Predict uploaded images with the chosen run, as a table to submit; yield the progress first."""
        session = session_of(request)
        paths = fields_of(event).get("files") or []

        def work(report: Report) -> ResultsData:
            return ResultsData(download=answers(self.engine.places.training(visitor, training), run, paths, report))

        self.engine.leave(session, FIGURE)
        try:
            async with aclosing(following(Waiting(session, FIGURE), self.engine.long.run(object(), work))) as steps:
                async for step in steps:
                    line = say("board_preparing", address.language)
                    if isinstance(step, Step) and step.total:
                        line = say("board_predicting", address.language, done=step.done, total=step.total)
                    yield step.result if isinstance(step, Done) else ResultsData(working=line)
        except ExplainedError as error:
            yield ResultsData(refused=error.text.in_(address.language))


def compare_address(base: tuple[str, str, int], tuned: str) -> dict[str, str]:
    """Return address parameters of the room Compare with the base on the left and its tuned model on the right.

    Both run on the image on the screen, each at its own size. `base` is model, weights and seed, as in a result.
    """
    model, weights, _ = base
    right = dict.fromkeys(COMPARED, "") | {"other_model": tuned, "other_weights": "trained", "other_size": OWN}
    left = {"model": model, "weights": "random" if weights == "random" else "trained", "size": ""}
    return {"room": "compare", **left, **right}


def answers(folder: Path, run: str, paths: list[str], report: Report) -> ServedFile:
    """Predict uploaded images with a run of the training in `folder`, or with its best one.

    Raises:
        ExplainedError: for images or a model that cannot be read.
    """
    from vitexplorer.finetune.submission import naming_of, submission

    board = load_comparison(folder).leaderboard
    config = read_config(folder)
    result = next((result for result in board if result.run == run), board[0])
    with tempfile.TemporaryDirectory() as temporary:
        images = Path(temporary) / "test"
        lay_out(paths, images)
        table = submission(result.model, result.file, images, report, naming_of(config, folder))
    return table_file(table, f"{stem_of(config, result.run)}-submission.csv")


def finished(comparison: Comparison) -> tuple[Any, ...]:
    """Return a fingerprint of a training and its results, which changes with every new result."""
    return comparison.folder.name, tuple(
        (result.run, len(result.epochs), result.stopped) for result in comparison.results
    )


def lay_out(paths: list[str], folder: Path) -> None:
    """Put uploaded images into a folder: the content of a zip, or the images themselves.

    Raises:
        DataError: for a zip that cannot be unpacked.
    """
    from vitexplorer.finetune.data.archive import unpack_zip

    if len(paths) == 1 and paths[0].lower().endswith(".zip"):
        unpack_zip(paths[0], folder)
        return
    folder.mkdir()
    for path in paths:
        shutil.copy(path, folder)


def table_file(text: str, name: str) -> ServedFile:
    """Return a .csv file; a byte order mark, which Excel needs and Kaggle misreads, is written only beyond ASCII."""
    return cached_file(text.encode("ascii" if text.isascii() else "utf-8-sig"), name)


def download_file(result: FinetuneResult, what: str, config: JobConfig) -> ServedFile:
    """Return a result as one of its kinds of files.

    Raises:
        ExplainedError: where the file cannot be made.
    """
    from vitexplorer.finetune.exports import merged_checkpoint, model_card, peft_zip

    name = stem_of(config, result.run)
    if what == "card":
        return cached_file(model_card(result, config).encode(), f"{name}.md")
    if what == "merged" and what in download_kinds(result):
        return cached_file(merged_checkpoint(result.model), f"{name}-merged.safetensors")
    if what == "peft":
        return cached_file(peft_zip(result.model), f"{name}-peft.zip")
    read_header(result.file)
    return cached_file(result.file.read_bytes(), f"{name}.safetensors")
