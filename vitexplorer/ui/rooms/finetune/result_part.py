"""The third part of the room: what was found, the answers of a tuned model, and the files to take home."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Any

import gradio as gr
from gradio import FileData

from vitexplorer.core.text import ExplainedError, Language
from vitexplorer.finetune.comparison import Comparison, load_comparison
from vitexplorer.finetune.job.folder import read_config, stem_of
from vitexplorer.service.jobs import Done, Report, Step, Waiting, following
from vitexplorer.ui.gradio_adapter.events import fields_of
from vitexplorer.ui.gradio_adapter.page_blocks import session_of
from vitexplorer.ui.gradio_adapter.types import Dependency
from vitexplorer.ui.panel.figure_panel import FigurePanel
from vitexplorer.ui.rooms.finetune.change_part import ChangePart
from vitexplorer.ui.rooms.finetune.figures import Asked, result_figures
from vitexplorer.ui.rooms.finetune.results import ResultsData, ResultsView, no_results, results_data
from vitexplorer.ui.rooms.finetune.session import Session
from vitexplorer.ui.rooms.finetune.takeaway import lay_out, made, table_file
from vitexplorer.ui.rooms.finetune.upload import UploadButton
from vitexplorer.ui.rooms.finetune.words import TRAINING_WORDS, say
from vitexplorer.ui.shell.address import COMPARED, OWN
from vitexplorer.ui.shell.room_context import FIGURE, QUICK, WAITING, Desk, Updates


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
            self.test = UploadButton(
                self.desk.t(TRAINING_WORDS["training_predict"]),
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
        self.test.upload(self.predict_images, [self.test, *state], self.results, trigger_mode="multiple", **WAITING)
        self.results.fetch(self.fetch, [*mine, self.desk.language], self.results, **WAITING)

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

    # -------------------------------------------------------------------------------------- reading

    def _comparison(self, visitor: str, training: str) -> Comparison | None:
        """Comparison that a training made; None where there is none of that name."""
        try:
            return load_comparison(self.desk.engine.places.training(visitor, training)) if training else None
        except ExplainedError:
            return None

    def _board(self, comparison: Comparison, run: str, language: Language) -> ResultsData:
        """The results, and how the chosen run is put beside its base."""
        data = results_data(comparison, run, language)
        result = comparison[data.chosen]
        data.beside = beside_its_base(result.base, self.desk.engine.places.name_of(result.file))
        return data

    def show(self, visitor: str, training: str, run: str, language: Language) -> Updates:
        """The results of a training."""
        comparison = self._comparison(visitor, training)
        if comparison is None or not comparison.results:
            return {self.results: no_results(language), self.found: None, self.column: gr.Column(visible=False)}
        data = self._board(comparison, run, language)
        return {
            self.results: data,
            self.found: finished(comparison),
            self.column: gr.Column(visible=True),
            self.figures: result_figures(comparison, data.chosen, Asked(), language),
        }

    def show_on(self, visitor: str, training: str, run: str, found: tuple | None, language: Language) -> Updates:
        """Show the results where they differ from those on the screen."""
        comparison = self._comparison(visitor, training)
        if comparison is None or finished(comparison) == found:
            return gr.skip()
        return self.show(visitor, training, run, language)

    def answer(self, event: gr.EventData, visitor: str, training: str, run: str, language: Language) -> Updates:
        """Another figure or setting."""
        asked = Asked.read(fields_of(event))
        comparison = self._comparison(visitor, training)
        return self._figures(comparison, run, asked, language) | {self.asked: asked}

    def choose(self, event: gr.EventData, visitor: str, training: str, asked: Asked, language: Language) -> Updates:
        """Another run of the leaderboard, also in the figure that is on the screen."""
        run = str(fields_of(event).get("run"))
        of_run = replace(asked, settings={**asked.settings, "run": run}, number=0)
        comparison = self._comparison(visitor, training)
        board = self._board(comparison, run, language) if comparison else no_results(language)
        return {self.results: board, self.session.run: run} | self._figures(comparison, run, of_run, language)

    def _figures(self, comparison: Comparison | None, run: str, asked: Asked, language: Language) -> Updates:
        if comparison is None or not comparison.results:
            return {}
        run = run or comparison.leaderboard[0].run
        return {self.figures: result_figures(comparison, run, asked, language)}

    def ask_changes(self, event: gr.EventData) -> str:
        """The run of which somebody wants to see what it changed."""
        return str(fields_of(event).get("run"))

    # -------------------------------------------------------------------------------------- home

    def fetch(self, event: gr.EventData, visitor: str, training: str, language: Language) -> ResultsData:
        """A file to take home, made when it is asked for."""
        try:
            folder = self.desk.engine.places.training(visitor, training)
            result = load_comparison(folder)[str(fields_of(event).get("run"))]
            return ResultsData(download=made(result, str(fields_of(event).get("what")), read_config(folder)))
        except ExplainedError as error:
            return ResultsData(refused=error.text.in_(language))

    async def predict_images(
        self, paths: list[str] | None, visitor: str, training: str, run: str, language: Language, request: gr.Request
    ) -> AsyncGenerator[ResultsData, None]:
        """The chosen run's answers for a zip of images, or for images, as a table to hand in."""
        engine, session = self.desk.engine, session_of(request)

        def work(report: Report) -> ResultsData:
            return ResultsData(download=answers(engine.places.training(visitor, training), run, paths or [], report))

        engine.leave(session, FIGURE)
        try:
            async with aclosing(following(Waiting(session, FIGURE), engine.long.run(object(), work))) as steps:
                async for step in steps:
                    line = say("board_preparing", language)
                    if isinstance(step, Step) and step.total:
                        line = say("board_predicting", language, done=step.done, total=step.total)
                    yield step.result if isinstance(step, Done) else ResultsData(working=line)
        except ExplainedError as error:
            yield ResultsData(refused=error.text.in_(language))


def beside_its_base(base: tuple[str, str, int], tuned: str) -> dict[str, str]:
    """The address of the room Compare with a base, as a result names it, on the left and its tuned model on the right.

    Both see the image that is on the screen, at their own size.
    """
    model, weights, _ = base
    right = dict.fromkeys(COMPARED, "") | {"other_model": tuned, "other_weights": "trained", "other_size": OWN}
    left = {"model": model, "weights": "random" if weights == "random" else "trained", "size": ""}
    return {"room": "compare", **left, **right}


def answers(folder: Path, run: str, paths: list[str], report: Report) -> FileData:
    """Answers of a run of the training in `folder`, or of its best one, on sent images. Raises ExplainedError."""
    from vitexplorer.finetune.submission import naming_of, submission

    board, config = load_comparison(folder).leaderboard, read_config(folder)
    result = next((one for one in board if one.run == run), board[0])
    with tempfile.TemporaryDirectory() as sent:
        lay_out(paths, Path(sent) / "test")
        table = submission(result.model, result.file, Path(sent) / "test", report, naming_of(config, folder))
    return table_file(table, f"{stem_of(config, result.run)}-submission.csv")


def finished(comparison: Comparison) -> tuple[Any, ...]:
    """Fingerprint of a training and its results: another one means that there is something new."""
    return comparison.folder.name, tuple((one.run, len(one.epochs), one.stopped) for one in comparison.results)
