"""Shared context of rooms and their parts, and options for binding their events."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import gradio as gr

from vitexplorer.controls import NamedCapture
from vitexplorer.controls.explained import Alike, PatchAlike, RatherThan, Region
from vitexplorer.service.engine import Engine
from vitexplorer.ui.gradio_adapter.types import Block, Dependency
from vitexplorer.ui.kit.language import Translations
from vitexplorer.ui.kit.widget import BrowserText
from vitexplorer.ui.shell.address import Address
from vitexplorer.ui.shell.room_sign import Signs

_UNMARKED = {"show_progress": "hidden", "show_progress_on": [], "api_visibility": "private"}
"""Options without gradio's progress marks, for which it copies all values of all earlier events' outputs at every step
of every event"""
QUICK = {"queue": False, **_UNMARKED}
"""Options of an event that is answered from memory"""
LATEST = {**QUICK, "trigger_mode": "always_last"}
"""Options of such an event that a person fires faster than it is answered; only the last counts"""
WAITING = {"concurrency_limit": None, **_UNMARKED}
"""Options of an event that reports its progress; it waits in our scheduler, not in gradio's queue"""
FIGURE = "figure"
"""Purpose of a visitor's wait for a figure; another figure, the stop button or another room ends the wait"""
Listen = Callable[..., Dependency]
"""Type of functions that bind a handler to an event: `button.click`, `event.then`"""
Updates = dict[Block | str, Any]
"""Type of an event's result: new values by output component, or `gr.skip()`, a dictionary with a string key"""
UpdateStream = AsyncGenerator[Updates, None]
"""Type of the result of an event that reports its progress"""


@dataclass(frozen=True)
class RoomContext:
    """Shared context of the rooms: the engine, the words, and the states of the visit that their events read."""

    engine: Engine
    t: Translations
    address: gr.State
    """State with the Address on the screen: image, model, weights, fit, language"""
    rooms: Signs = ()
    """Rooms of this installation, in their order"""
    visitor: gr.State | None = None
    """State with the name of the visitor's browser, by which fine-tuning tells visitors apart"""
    browser: BrowserText = field(default_factory=BrowserText)
    """Input through which the browser sends its visitor name, its address or the selected room"""

    def python_lines(self, address: Address, view: str, *, changed: bool = False, **settings: object) -> str:
        """Write the lines that reproduce a figure in a script or notebook; `changed` if it shows the changed run."""
        size = _size_argument(address)
        change = f'capture = vx.intervene(capture, "{address.change}")\n' if changed else ""
        arguments = "".join(f", {name}={python_value(value)}" for name, value in settings.items())
        other = ""
        if isinstance(settings.get("target"), Alike):
            other = f'other = vx.capture(model, "other.png", fit="{address.fit}"{size})\n'
        return (
            "import vitexplorer as vx\n\n"
            f"model = vx.{self.loading(address)}\n"
            f'capture = vx.capture(model, "picture.png", fit="{address.fit}"{size})\n'
            f"{change}{other}"
            f'result = vx.compute("{view}", capture{arguments})\n'
            'vx.save(result, "figure.png")'
        )

    def lines_of_two(self, left: Address, right: Address, comparison: str, settings: Mapping[str, object]) -> str:
        """Write the lines that reproduce a comparison; the images are `left.png` and `right.png` if they differ."""
        is_one_image = left.image == right.image
        arguments = "".join(f", {name}={python_value(value)}" for name, value in settings.items())
        lines = ["import vitexplorer as vx", ""]
        for side, address in (("left", left), ("right", right)):
            file = "picture.png" if is_one_image else f"{side}.png"
            options = f'fit="{address.fit}"{_size_argument(address)}'
            lines.append(f'{side} = vx.capture(vx.{self.loading(address)}, "{file}", {options})')
        for side, change in (("left", left.left_change), ("right", right.other_change)):
            if change:
                lines.append(f'{side} = vx.intervene({side}, "{change}")')
        if images := settings.get("images"):
            lines.append(_more_images(len(images), left))
        lines += [f'result = vx.compare("{comparison}", left, right{arguments})', 'vx.save(result, "figure.png")']
        return "\n".join(lines)

    def loading(self, address: Address) -> str:
        """Write the call that loads the model of an address."""
        file = self.engine.places.file_of(address.model)
        if file is None:
            weights = ', weights="random"' if address.weights == "random" else ""
            return f'load_model("{address.model}"{weights})'
        from vitexplorer.models.about import about

        path = self.engine.places.path_of(file)
        description = about(file)
        if description is None:
            return f'load_model(weights="{path}")'
        if description.merged:
            return f'load_model("{description.base.model}", weights="{path}")'
        return f'load_tuned("{path}")'


def _more_images(count: int, left: Address) -> str:
    """Write the line that captures further images as the left side is captured."""
    plain = f'vx.capture(left.model, file, fit="{left.fit}"{_size_argument(left)})'
    run = f'vx.intervene({plain}, "{left.left_change}")' if left.left_change else plain
    files = ", ".join(f'"picture_{number}.png"' for number in range(3, count + 3))
    return f"images = [{run} for file in ({files},)]"


def python_value(value: object) -> str:
    """Write a setting in Python: a target other than a class by its text, another image by its capture."""
    if isinstance(value, tuple) and any(isinstance(item, NamedCapture) for item in value):
        return "images"
    if isinstance(value, Alike):
        return "other" if value.patch is None else f"other.patch_embedding({value.patch})"
    return repr(str(value)) if isinstance(value, RatherThan | PatchAlike | Region) else repr(value)


def _size_argument(address: Address) -> str:
    """Write the size of an address in Python: `, size=384`, or `, size=(384, 512)` for `384x512`."""
    size = address.picture.size
    written = f"({size.replace('x', ', ')})" if "x" in size else size
    return f", size={written}" if size else ""
