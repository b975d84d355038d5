"""The screen that a step of the guided path sees: one capture and the views on it."""

from __future__ import annotations

from functools import cache

import vitexplorer as vx
from vitexplorer.learn import Seen, Step
from vitexplorer.models.examples import examples


@cache
def on_screen(step: Step, image: str = "scene_gear") -> Seen:
    """Give the screen of a step's own state, with an example image."""
    size = step.state.get("size")
    return of_model(step.state["model"], int(size) if size else None, image)


@cache
def of_model(name: str, size: int | None = None, image: str = "scene_gear") -> Seen:
    """Give the screen of an example image in a model."""
    weights = "random" if name == "test_vit" else "auto"
    capture = vx.capture(vx.load_model(name, weights=weights), examples()[image].path, size=size)

    def view(name: str, **settings: object):
        return vx.compute(name, capture, **settings)

    return Seen(capture, view, lambda changes: vx.intervene(capture, changes), lambda name: of_model(name, image=image))
