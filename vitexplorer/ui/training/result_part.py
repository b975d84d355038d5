"""The third part of the room: what was found, and the way from there into the other rooms and home."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.components.base import Component
from gradio.data_classes import FileData
from gradio.events import Dependency

from vitexplorer.finetune.records import FinetuneResult
from vitexplorer.finetune.running import Comparison, load_comparison
from vitexplorer.finetune.trainer.folder import read_config
from vitexplorer.ui import visit
from vitexplorer.ui.address import Address
from vitexplorer.ui.files import cached_file
from vitexplorer.ui.language import word
from vitexplorer.ui.pictures import keep_upload
from vitexplorer.ui.rooms.room import QUICK, Desk
from vitexplorer.ui.training.data_part import READING
from vitexplorer.ui.training.results import ResultsData, ResultsView, image_path, no_results, results_data, takeaways
from vitexplorer.ui.training.session import Session
from vitexplorer.words import ExplainedError, Language

SAFETENSORS = "application/octet-stream"


class ResultPart:
    """Leaderboard, files, wrong images."""

    def __init__(self, desk: Desk, session: Session):
        """Args: desk: what the rooms share; session: what the parts share."""
        self.desk, self.session = desk, session

    def build(self) -> None:
        """The components, one under the other."""
        self.results = ResultsView(elem_id="vx-training-results")
        self.found = gr.State(None)  # the training that is on the screen and its finished runs
        mine = [self.session.visitor, self.session.training]
        self.results.choose(
            self.choose,
            [*mine, self.desk.language],
            [self.results, self.session.run],
            trigger_mode="always_last",
            **QUICK,
        )
        self.results.fetch(self.fetch, [*mine, self.desk.language], self.results, **READING)

    def follow(self, event: Dependency) -> None:
        """Show the results after another training was opened."""
        event.then(
            self.show,
            [self.session.visitor, self.session.training, self.session.run, self.desk.language],
            [self.results, self.found],
            **QUICK,
        )

    def follow_on(self, event: Dependency) -> None:
        """Show them again where a run has ended since."""
        event.then(
            self.show_on,
            [self.session.visitor, self.session.training, self.session.run, self.found, self.desk.language],
            [self.results, self.found],
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
        opened.success(None, None, None, js="() => { window.vxAddress({room: 'attention'}); }", **QUICK)
        then_explore(opened)

    # -------------------------------------------------------------------------------------- reading

    def _comparison(self, visitor: str, training: str) -> Comparison:
        return load_comparison(self.desk.engine.places.training(visitor, training))

    def _result(self, visitor: str, training: str, run: str) -> FinetuneResult:
        return self._comparison(visitor, training)[run]

    def show(self, visitor: str, training: str, run: str, language: Language) -> list[Any]:
        """The results of a training."""
        if not training:
            return [no_results(language), None]
        try:
            comparison = self._comparison(visitor, training)
        except ExplainedError:
            return [no_results(language), None]
        return [results_data(comparison, run, language), finished(comparison)]

    def show_on(self, visitor: str, training: str, run: str, found: tuple | None, language: Language) -> list[Any]:
        """The same where there are other ones than on the screen."""
        if not training:
            return [gr.skip(), gr.skip()]
        try:
            comparison = self._comparison(visitor, training)
        except ExplainedError:
            return [gr.skip(), gr.skip()]
        if finished(comparison) == found:
            return [gr.skip(), gr.skip()]
        return [results_data(comparison, run, language), finished(comparison)]

    def choose(self, event: gr.EventData, visitor: str, training: str, language: Language) -> list[Any]:
        """Another run of the leaderboard."""
        run = str(event._data.get("run"))
        return [self.show(visitor, training, run, language)[0], run]

    # -------------------------------------------------------------------------------------- elsewhere

    def open(self, event: gr.EventData, visitor: str, training: str, wanted: Address, language: Language) -> list[Any]:
        """The tuned model in the Attention room, on one of the validation images where one was pressed."""
        places, index = self.desk.engine.places, event._data.get("index")
        try:
            folder = places.training(visitor, training)
            result = self._result(visitor, training, str(event._data.get("run")))
            image = wanted.image
            if isinstance(index, int) and 0 <= index < len(result.paths):
                image = keep_upload(str(image_path(folder, result, index)))
        except ExplainedError as error:
            raise gr.Error(
                error.text.in_(language), title=word("not_possible", language), print_exception=False
            ) from error
        address = replace(wanted, image=image, **_model(places.name_of(result.file)))
        return entering(address, image != wanted.image, language)

    def fetch(self, event: gr.EventData, visitor: str, training: str, language: Language) -> ResultsData:
        """A file to take home, made when it is asked for."""
        try:
            result = self._result(visitor, training, str(event._data.get("run")))
            return ResultsData(download=made(result, str(event._data.get("what")), self._images(visitor, training)))
        except ExplainedError as error:
            return ResultsData(refused=error.text.in_(language))

    def _images(self, visitor: str, training: str) -> str:
        return Path(read_config(self.desk.engine.places.training(visitor, training)).data).stem


def finished(comparison: Comparison) -> tuple[Any, ...]:
    """What tells whether there is something new: the training and its results."""
    return comparison.folder.name, tuple((one.run, len(one.epochs), one.stopped) for one in comparison.results)


def _model(name: str) -> dict[str, str]:
    """The parts of an address that name a tuned model; block, head and query start anew."""
    return {"model": name, "weights": "trained", "room": "attention", "block": "", "head": "", "query": ""}


def entering(address: Address, other_image: bool, language: Language) -> list[Any]:
    """The left column and the Attention room for an address."""
    picture = visit.picture(address) if other_image else gr.skip()
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


def made(result: FinetuneResult, what: str, images: str) -> FileData:
    """A result as one of its kinds of files. Raises ExplainedError where that cannot be."""
    from vitexplorer.finetune.takeaway import merged_checkpoint, model_card, peft_zip

    name = f"{images}-{result.run}"
    if what == "card":
        return cached_file(model_card(result, images).encode(), f"{name}.md", "text/markdown")
    if what == "merged" and what in takeaways(result):
        return cached_file(merged_checkpoint(result.model), f"{name}-merged.safetensors", SAFETENSORS)
    if what == "peft":
        return cached_file(peft_zip(result.model), f"{name}-peft.zip", "application/zip")
    return cached_file(result.file.read_bytes(), f"{name}.safetensors", SAFETENSORS)
