"""Changes by fine-tuning in numbers: weights, the token that is read, prompts. Their maps stand in the room Compare."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import gradio as gr

from vitexplorer.core.text import ExplainedError, Language
from vitexplorer.core.types import Result
from vitexplorer.finetune.comparison import load_comparison
from vitexplorer.finetune.results.records import FinetuneResult
from vitexplorer.service.answer_threads import in_thread
from vitexplorer.ui.gradio_adapter.events import fields_of
from vitexplorer.ui.gradio_adapter.types import Dependency
from vitexplorer.ui.panel.figure_panel import FigurePanel, PanelData, result_or_error, made_or_raised
from vitexplorer.ui.rooms.finetune.figures import Asked, panel_of
from vitexplorer.ui.rooms.finetune.session import Session
from vitexplorer.ui.rooms.finetune.words import say
from vitexplorer.ui.shell.address import Address
from vitexplorer.ui.shell.room_context import QUICK, WAITING, Desk, Updates

if TYPE_CHECKING:
    from vitexplorer.service.engine import Engine

MOVE_THERE = """() => {
  const move = (frames) => {
    const place = document.querySelector("#vx-training-change"), title = place?.querySelector("h3");
    if (!title?.checkVisibility()) return frames && requestAnimationFrame(() => move(frames - 1));
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    place.scrollIntoView({block: "start", behavior: still ? "auto" : "smooth"});
    title.tabIndex = -1;
    title.focus({preventScroll: true});
  };
  move(120);
}"""
"""the answer stands far below the button that was pressed, and is mounted some frames after it came"""


class ChangePart:
    """The panel, shown when somebody asks what changed."""

    def __init__(self, desk: Desk, session: Session):
        """Args: desk: what the rooms share; session: what the parts share."""
        self.desk, self.session = desk, session

    def build(self) -> None:
        """The panel under its title, both hidden."""
        with gr.Column(visible=False, elem_id="vx-training-change") as self.column:
            self.title = gr.Markdown()
            self.panel = FigurePanel(elem_id="vx-training-changed")
        self.run = gr.State("")  # whose change is shown
        state = [self.session.visitor, self.session.training, self.run, self.desk.address, self.desk.language]
        self.panel.ask(self.answer, state, self.panel, trigger_mode="multiple", **WAITING)

    def show_after(self, event: Dependency) -> None:
        """Fill the panel after an event that wrote `run`."""
        shown = event.success(
            self.show,
            [self.session.visitor, self.session.training, self.run, self.desk.address, self.desk.language],
            [self.column, self.title, self.panel],
            **(WAITING | {"show_progress": "minimal", "show_progress_on": self.title}),
        )
        shown.success(None, None, None, js=MOVE_THERE, **QUICK)

    def hide_after(self, event: Dependency) -> None:
        """Another training was opened."""
        event.then(lambda: gr.Column(visible=False), None, self.column, **QUICK)

    async def show(self, visitor: str, training: str, run: str, address: Address, language: Language) -> Updates:
        """The first of the figures."""
        result = await in_thread(self._result, visitor, training, run)
        if result is None:
            return {self.column: gr.Column(visible=False)}
        return {
            self.column: gr.Column(visible=True),
            self.title: say("changed_open", language, run=result.run, model=result.base[0]),
            self.panel: await self._panel(result, Asked(), address, language),
        }

    async def answer(
        self, event: gr.EventData, visitor: str, training: str, run: str, address: Address, language: Language
    ) -> PanelData:
        """Another figure or setting."""
        result = await in_thread(self._result, visitor, training, run)
        return (
            gr.skip() if result is None else await self._panel(result, Asked.read(fields_of(event)), address, language)
        )

    def _result(self, visitor: str, training: str, run: str) -> FinetuneResult | None:
        try:
            return load_comparison(self.desk.engine.places.training(visitor, training))[run]
        except ExplainedError:
            return None

    async def _panel(self, result: FinetuneResult, asked: Asked, address: Address, language: Language) -> PanelData:
        from vitexplorer.finetune.methods import METHODS

        keys = ("size", "rank", "token", *(("prompts",) if METHODS[result.method].adds_tokens else ()))
        view = asked.view if asked.view in keys else keys[0]
        engine = self.desk.engine
        made = await result_or_error(changed(engine, result, view, address))
        return await in_thread(
            panel_of,
            asked,
            keys,
            lambda key: say(f"changed_{key}", language),
            language,
            [],
            lambda: made_or_raised(made),
            python_lines(result, engine.places.path_of(result.file), view),
        )


async def changed(engine: Engine, result: FinetuneResult, view: str, address: Address) -> Result:
    """One of the figures, computed from models that the engine keeps. Raises ExplainedError, and as `Scheduler.run`."""
    from vitexplorer.finetune.change import prompt_attention, token_change, weight_change

    name, weights, _ = result.base
    base_picture = replace(address.picture, model=name, weights="random" if weights == "random" else "trained")
    tuned_picture = replace(address.picture, model=engine.places.name_of(result.file), weights="trained")
    if view in ("size", "rank"):
        base, after = [await engine.model(one.model, one.weights) for one in (base_picture, tuned_picture)]
        key = (tuned_picture.model, view)
        return await engine.remembered(engine.long, key, lambda _: weight_change(base, after, view))
    after = await engine.capture(tuned_picture)
    if view == "prompts":
        return await in_thread(prompt_attention, after)
    return await in_thread(token_change, await engine.capture(base_picture), after)


def python_lines(result: FinetuneResult, file: str, view: str) -> str:
    """The lines that give the same figure in a script, which finds the tuned model in `file`."""
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
