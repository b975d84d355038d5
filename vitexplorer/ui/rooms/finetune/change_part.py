"""Part of the room that shows changes by fine-tuning: weights, output token, prompts. Maps are in the room Compare."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import gradio as gr
from pydantic import BaseModel

from vitexplorer.core.text import ExplainedError
from vitexplorer.core.types import Result
from vitexplorer.finetune.comparison import load_comparison
from vitexplorer.finetune.results.records import FinetuneResult
from vitexplorer.finetune.run_titles import run_title
from vitexplorer.models.catalog import title_of
from vitexplorer.service.answer_threads import in_thread
from vitexplorer.ui.gradio_adapter.events import fields_of
from vitexplorer.ui.gradio_adapter.types import Dependency
from vitexplorer.ui.kit.widget import Widget
from vitexplorer.ui.panel.figure_panel import FigurePanel, PanelData, Question, made_or_raised, result_or_error
from vitexplorer.ui.rooms.finetune.figures import panel_of, question_of
from vitexplorer.ui.rooms.finetune.session import Part
from vitexplorer.ui.rooms.finetune.words import say
from vitexplorer.ui.shell.address import Address
from vitexplorer.ui.shell.room_context import QUICK, WAITING, Updates

if TYPE_CHECKING:
    from vitexplorer.service.engine import Engine

SCROLL_TO_CHANGES = """() => {
  const move = (frames) => {
    const place = document.querySelector("#vx-training-change"), title = place?.querySelector("h3");
    if (!title?.checkVisibility() || title.closest("[inert]"))
      return frames && requestAnimationFrame(() => move(frames - 1));
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    place.scrollIntoView({block: "start", behavior: still ? "auto" : "smooth"});
    title.tabIndex = -1;
    title.focus({preventScroll: true});
  };
  move(120);
}"""
"""JavaScript that scrolls to the answer, far below the pressed button and mounted some frames after it arrives"""


class TitleData(BaseModel):
    """Title of the panel, and where the maps are."""

    title: str
    beside: str


class ChangeTitle(Widget):
    """Component of the title."""

    data_model = TitleData


class ChangePart(Part):
    """Panel of the changes, shown after the button What changed was pressed."""

    def build(self) -> None:
        """Build the panel under its title, both hidden."""
        with gr.Column(visible=False, elem_id="vx-training-change") as self.column:
            self.title = ChangeTitle()
            self.panel = FigurePanel(elem_id="vx-training-changed")
        self.run = gr.State("")  # the run whose changes are shown
        state = [*self.training, self.run, self.context.address]
        self.panel.ask(self.answer, state, self.panel, trigger_mode="multiple", **WAITING)

    def show_after(self, event: Dependency) -> None:
        """Fill the panel after an event that wrote `run`."""
        filled = event.success(
            self.show,
            [*self.training, self.run, self.context.address],
            [self.column, self.title, self.panel],
            **(WAITING | {"show_progress": "minimal", "show_progress_on": self.title}),
        )
        filled.success(None, None, None, js=SCROLL_TO_CHANGES, **QUICK)

    def hide_after(self, event: Dependency) -> None:
        """Hide the panel after an event that opened another training."""
        event.then(lambda: gr.Column(visible=False), None, self.column, **QUICK)

    async def show(self, visitor: str, training: str, run: str, address: Address) -> Updates:
        """Show the first figure."""
        result = await in_thread(self._result, visitor, training, run)
        if result is None:
            return {self.column: gr.Column(visible=False)}
        return {
            self.column: gr.Column(visible=True),
            self.title: TitleData(
                title=say("changed_open", address.language, run=run_title(result.run), model=title_of(result.base[0])),
                beside=say("changed_beside", address.language),
            ),
            self.panel: await self._panel(result, Question(), address),
        }

    async def answer(self, event: gr.EventData, visitor: str, training: str, run: str, address: Address) -> PanelData:
        """Show another figure or setting."""
        result = await in_thread(self._result, visitor, training, run)
        if result is None:
            return gr.skip()
        return await self._panel(result, question_of(fields_of(event)), address)

    def _result(self, visitor: str, training: str, run: str) -> FinetuneResult | None:
        try:
            return load_comparison(self.places.training(visitor, training))[run]
        except ExplainedError:
            return None

    async def _panel(self, result: FinetuneResult, question: Question, address: Address) -> PanelData:
        from vitexplorer.finetune.methods import METHODS

        keys = ("size", "rank", "token", *(("prompts",) if METHODS[result.method].adds_tokens else ()))
        view = question.view if question.view in keys else keys[0]
        made = await result_or_error(changed(self.engine, result, view, address))
        return await in_thread(
            panel_of,
            question,
            keys,
            lambda key: say(f"changed_{key}", address.language),
            address.language,
            [],
            lambda: made_or_raised(made),
            python_lines(result, self.engine.places.path_of(result.file), view),
        )


async def changed(engine: Engine, result: FinetuneResult, view: str, address: Address) -> Result:
    """Compute one of the figures, with models from the engine's cache.

    Raises:
        ExplainedError: where a model cannot be loaded; also what `Scheduler.run` raises.
    """
    from vitexplorer.finetune.change import prompt_attention, token_change, weight_change

    name, weights, _ = result.base
    base_picture = replace(address.picture, model=name, weights="random" if weights == "random" else "trained")
    tuned_picture = replace(address.picture, model=engine.places.name_of(result.file), weights="trained")
    if view in ("size", "rank"):
        base = await engine.model(base_picture.model, base_picture.weights)
        after = await engine.model(tuned_picture.model, tuned_picture.weights)
        key = (tuned_picture.model, view)
        return await engine.remembered(engine.long, key, lambda _: weight_change(base, after, view))
    after = await engine.capture(tuned_picture)
    if view == "prompts":
        return await in_thread(prompt_attention, after)
    return await in_thread(token_change, await engine.capture(base_picture), after)


def python_lines(result: FinetuneResult, file: str, view: str) -> str:
    """Return Python code that makes the same figure; `file` is the path of the tuned model."""
    name, weights, seed = result.base
    load = f'vx.load_model("{name}"' + (f', weights="random", seed={seed})' if weights == "random" else ")")
    lines = ["import vitexplorer as vx", "from vitexplorer.finetune import change", "", f"base = {load}"]
    lines.append(f'tuned = vx.load_tuned("{file}", base)')
    if view in ("size", "rank"):
        lines.append(f'result = change.weight_change(base, tuned, "{view}")')
    elif view == "prompts":
        lines.append('result = change.prompt_attention(vx.capture(tuned, "picture.png"))')
    else:
        lines += [
            'before, after = (vx.capture(model, "picture.png") for model in (base, tuned))',
            "result = change.token_change(before, after)",
        ]
    return "\n".join([*lines, 'vx.save(result, "figure.png")'])
