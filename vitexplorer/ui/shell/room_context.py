"""Shared context of rooms and their parts, and options for binding their events."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import gradio as gr

from vitexplorer.controls import NamedCapture
from vitexplorer.controls.explained import Alike, PatchAlike, RatherThan, Region
from vitexplorer.service.engine import Engine
from vitexplorer.ui.gradio_adapter.types import Block, Dependency
from vitexplorer.ui.kit.language import Translations
from vitexplorer.ui.shell.address import Address
from vitexplorer.ui.shell.room_sign import Signs

_UNMARKED = {"show_progress": "hidden", "show_progress_on": [], "api_visibility": "private"}
"""nothing is marked as being on its way: gradio would, at every step of every event, copy the values of all outputs of
all events there were so far, and of all that these contain"""
QUICK = {"queue": False, **_UNMARKED}
"""options of an event that is answered from memory"""
WAITING = {"concurrency_limit": None, **_UNMARKED}
"""options of one that says how far it is: it waits in our queue, not in gradio's"""
FIGURE = "figure"
"""what one waits for who asked for a figure: another one, the stop button and another room end it"""
Listen = Callable[..., Dependency]
"""how a function is bound to an event: `button.click`, or `event.then`"""
Updates = dict[Block | str, Any]
"""what an event changes: a value for each output that becomes another; `gr.skip()`, whose key is a word, for none"""


@dataclass(frozen=True)
class Desk:
    """Shared context of the rooms: the engine, the words, and the states of the visit that their events read."""

    engine: Engine
    t: Translations
    address: gr.State
    """an Address: image, model, weights, fit that are on the screen"""
    language: gr.State
    rooms: Signs = ()
    """of this installation, in their order"""
    visitor: gr.State | None = None
    """what the visitor's browser is called: fine-tuning keeps visitors apart by it"""

    def python_lines(self, address: Address, view: str, *, changed: bool = False, **settings: object) -> str:
        """The lines that reproduce a figure in a script or notebook, of the changed run where that is what it shows."""
        size = f", size={python_size(address.picture.size)}" if address.picture.size else ""
        change = f'capture = vx.intervene(capture, "{address.change}")\n' if changed else ""
        arguments = "".join(f", {name}={python_value(value)}" for name, value in settings.items())
        other = ""
        if isinstance(settings.get("target"), Alike):
            other = f'other = vx.capture(model, "other.png", fit="{address.fit}"{size})\n'
        return (
            "import vitexplorer as vx\n\n"
            f"model = vx.{self._load(address)}\n"
            f'capture = vx.capture(model, "picture.png", fit="{address.fit}"{size})\n'
            f"{change}{other}"
            f'result = vx.compute("{view}", capture{arguments})\n'
            'vx.save(result, "figure.png")'
        )

    def lines_of_two(self, left: Address, right: Address, comparison: str, settings: Mapping[str, object]) -> str:
        """The lines that reproduce a comparison; images are `left.png` and `right.png` where they differ."""
        alike = left.image == right.image
        arguments = "".join(f", {name}={python_value(value)}" for name, value in settings.items())
        lines = ["import vitexplorer as vx", ""]
        for side, address in (("left", left), ("right", right)):
            size = f", size={python_size(address.picture.size)}" if address.picture.size else ""
            file = "picture.png" if alike else f"{side}.png"
            lines.append(f'{side} = vx.capture(vx.{self._load(address)}, "{file}", fit="{address.fit}"{size})')
        for side, change in (("left", left.left_change), ("right", right.other_change)):
            if change:
                lines.append(f'{side} = vx.intervene({side}, "{change}")')
        if images := settings.get("images"):
            lines.append(_more(len(images), left))
        lines += [f'result = vx.compare("{comparison}", left, right{arguments})', 'vx.save(result, "figure.png")']
        return "\n".join(lines)

    def _load(self, address: Address) -> str:
        file = self.engine.places.file_of(address.model)
        if file is None:
            weights = ', weights="random"' if address.weights == "random" else ""
            return f'load_model("{address.model}"{weights})'
        from vitexplorer.models.about import about

        path, said = self.engine.places.path_of(file), about(file)
        if said is None:
            return f'load_model(weights="{path}")'
        return f'load_model("{said.base.model}", weights="{path}")' if said.merged else f'load_tuned("{path}")'


def _more(count: int, left: Address) -> str:
    size = f", size={python_size(left.picture.size)}" if left.picture.size else ""
    seen = f'vx.capture(left.model, file, fit="{left.fit}"{size})'
    run = f'vx.intervene({seen}, "{left.left_change}")' if left.left_change else seen
    files = ", ".join(f'"picture_{number}.png"' for number in range(3, count + 3))
    return f"images = [{run} for file in ({files},)]"


def python_value(value: object) -> str:
    """A setting as Python writes it: a target that is no class by its text, another image by its capture."""
    if isinstance(value, tuple) and any(isinstance(one, NamedCapture) for one in value):
        return "images"
    if isinstance(value, Alike):
        return "other" if value.patch is None else f"other.patch_embedding({value.patch})"
    return repr(str(value)) if isinstance(value, RatherThan | PatchAlike | Region) else repr(value)


def python_size(size: str) -> str:
    """The size of an address as Python writes it: `384`, or `(384, 512)` for `384x512`."""
    return f"({size.replace('x', ', ')})" if "x" in size else size
