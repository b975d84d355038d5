"""Guided path beside the rooms: each step explains, asks a question and sets a task; the rooms show its picture.

A person's progress stays in their browser; the address names the open step.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import gradio as gr
from pydantic import BaseModel

from vitexplorer.core.text import ExplainedError, Language, in_language
from vitexplorer.learn import STEPS, Numbers, Seen, Step
from vitexplorer.learn.step import sayer
from vitexplorer.models.catalog import catalog
from vitexplorer.service.answer_threads import Wait, waiting_in_thread
from vitexplorer.service.engine import Picture
from vitexplorer.ui.gradio_adapter.events import fields_of
from vitexplorer.ui.kit.served_files import ServedFile, cached_file
from vitexplorer.ui.kit.widget import Widget
from vitexplorer.ui.kit.words import UI_WORDS
from vitexplorer.ui.shell.address import Address
from vitexplorer.ui.shell.room_context import LATEST, QUICK, RoomContext


class StepItem(BaseModel):
    """Parts of a step that need no numbers."""

    key: str
    title: str
    state: dict[str, str]
    model: str
    """Title of the state's model"""
    light: str


class StepText(BaseModel):
    """A step with the numbers of the picture on the screen."""

    key: str
    says: str = ""
    formula: str = ""
    asks: str = ""
    choices: list[str] = []
    right: int = 0
    reveal: str = ""
    action: str = ""
    becomes: dict[str, str] = {}
    leads: dict[str, str] = {}
    refused: str = ""
    """Reason why there are no numbers; empty if there are"""


class GuideData(BaseModel):
    """The path, the open step and the handout."""

    steps: list[StepItem] = []
    shown: StepText | None = None
    """None until a step asks for its numbers"""
    handout: ServedFile | None = None
    """Handout of the whole path; None unless it was requested"""
    words: dict[str, str] = {}


class Guide(Widget):
    """Component of the guided path.

    It fires `go` with `query`, the parameters of a step's state; `tell` with `step` to request its numbers; and
    `handout` with `paper` to request the handout.
    """

    data_model = GuideData
    sends = ("go", "tell", "handout")

    def listen(self, context: RoomContext) -> None:
        """Answer `tell` and `handout`; the page answers `go`."""
        self._context = context
        self.tell(self.show_step, context.address, self, **LATEST)
        self.handout(self.write_handout, context.address, self, trigger_mode="once", **QUICK)

    async def show_step(self, event: gr.EventData, current: Address) -> Any:
        """Fill a step of the guided path with the numbers of the picture on the screen."""
        step = step_named(fields_of(event).get("step"))
        if step is None or current == Address():
            return gr.skip()
        language = current.language
        text = await waiting_in_thread(lambda wait: step_text(step, self._on_screen(current.picture, wait), language))
        return guide_data(language, text)

    async def write_handout(self, current: Address) -> Any:
        """Write the guided path as a handout, each step with the current image in the step's own model."""
        if current == Address():
            return gr.skip()
        fit = "crop" if current.fit == "native" else current.fit
        trained = replace(current.picture, weights="trained", fit=fit)

        def write(wait: Wait) -> ServedFile:
            from vitexplorer.learn.handout import handout_of

            def screen_of(step: Step) -> Seen:
                picture = replace(trained, model=step.state["model"], size=step.state.get("size", ""))
                return self._on_screen(picture, wait)

            return cached_file(handout_of(screen_of, current.language).encode(), "vit-explorer-handout.html")

        return guide_data(current.language, handout=await waiting_in_thread(write))

    def _on_screen(self, picture: Picture, wait: Wait) -> Seen:
        """Make the capture that the steps of the path read; its functions block the thread that calls them."""
        engine = self._context.engine
        capture = wait(engine.capture(picture))
        return Seen(
            capture,
            compute=lambda view, **settings: wait(engine.compute(picture, capture, view, settings)),
            changed=lambda changes: wait(engine.changed(picture, changes)),
            beside=lambda model: self._on_screen(replace(picture, model=model, weights="trained", size=""), wait),
        )


def guide_data(language: Language, text: StepText | None = None, handout: ServedFile | None = None) -> GuideData:
    """Return the path in one language."""
    titles = {entry.name: entry.title.in_(language) for entry in catalog()}
    steps = [
        StepItem(
            key=step.key,
            title=step.title.in_(language),
            state=dict(step.state),
            model=titles[step.state["model"]],
            light=step.light,
        )
        for step in STEPS
    ]
    return GuideData(steps=steps, shown=text, handout=handout, words=in_language(UI_WORDS, language, "learn"))


def step_named(key: object) -> Step | None:
    """Return a step by its key, or None."""
    return next((step for step in STEPS if step.key == key), None)


def step_text(step: Step, screen: Seen, language: Language) -> StepText:
    """Fill in the numbers of a step, or the reason why the model on the screen has none."""
    try:
        numbers = step.numbers(screen)
    except ExplainedError as error:
        return StepText(key=step.key, refused=error.text.in_(language))
    return filled(step, numbers, language)


def filled(step: Step, numbers: Numbers, language: Language) -> StepText:
    """Fill these numbers into a step's sentences."""
    say = sayer(numbers, language)
    return StepText(
        key=step.key,
        says=say(step.says),
        formula=say(step.formula),
        asks=say(step.asks),
        choices=[say(choice) for choice in step.choices],
        right=step.right(numbers),
        reveal=say(step.reveal),
        action=say(step.action),
        becomes={name: _pattern(pattern, numbers) for name, pattern in step.becomes.items()},
        leads=dict(step.leads or {}),
    )


def _pattern(pattern: str, numbers: Numbers) -> str:
    """Fill numbers into a regular expression; `str.format` would stumble over its own braces."""
    for name, value in numbers.items():
        pattern = pattern.replace(f"{{{name}}}", str(value))
    return pattern
