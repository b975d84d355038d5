"""The screen that a step of the guided path sees: one capture and the views on it."""

from __future__ import annotations

from functools import cache

import vitexplorer as vx
from vitexplorer.learn import Seen, Step
from vitexplorer.models.examples import examples


@cache
def on_screen(step: Step) -> Seen:
    """Give the screen of a step's own state, with the first example image."""
    size = step.state.get("size")
    return of_model(step.state["model"], int(size) if size else None)


@cache
def of_model(name: str, size: int | None = None) -> Seen:
    """Give the screen of the first example image in a model."""
    weights = "random" if name == "test_vit" else "auto"
    capture = vx.capture(vx.load_model(name, weights=weights), examples()["scene_gear"].path, size=size)

    def view(name: str, **settings: object):
        return vx.compute(name, capture, **settings)

    return Seen(capture, view, lambda changes: vx.intervene(capture, changes), of_model)
