"""Record of a view: its question, computation and controls. A new view is one file in `views/`.

Menus, the command line, the documentation tables and the contract tests are made from these records.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from vitexplorer.controls import Control, checked
from vitexplorer.core.capture_protocol import CaptureProtocol
from vitexplorer.core.paper import Paper
from vitexplorer.core.summaries import Summarised
from vitexplorer.core.text import Text
from vitexplorer.core.types import Result


@dataclass(frozen=True)
class View(Summarised):
    """A picture with a question. `compute(capture, **settings)` returns numbers; drawing is somebody else's work."""

    title: Text
    question: Text
    misleads: Text
    """when the picture does not mean what it seems to"""
    room: str
    compute: Callable[..., Result]
    reading: Callable[[Any], Text]
    """one sentence, two at most, made of the numbers of `compute`'s result: what one says pointing at this figure"""
    controls: tuple[Control, ...] = ()
    paper: Paper | None = None
    refuses: Callable[[Any], Text | None] = lambda capture: None
    """the reason why the view has no meaning for this capture, or None"""
    any_family: bool = False
    """needs the attention of one block at most, so that families which state no more can be shown"""
    names_of_timm: bool = False
    """needs parts of the module by timm's names, which a module that was wrapped does not have"""
    runs: Literal["nothing", "once", "many"] = "nothing"
    """how often `compute` sends an image through the blocks of the network

    nothing: all is read from the capture and the parameters; single layers (the final norm, the classifier) may be
    applied to what is kept, and shapes without numbers may go through a copy. once: one pass, where gradients are
    taken in both directions, whatever the settings. many: more than that; then `compute` takes `progress` beside the
    settings. Whoever shows the last two waits for their turn on the model and remembers the result.
    """
    goes_back: bool = False
    """its one pass is that of a plain gradient: a capture that is `differentiable` saves it the way forward"""

    overview: bool = False
    """stands before the other views of its room: what one looks at first, or theirs small and side by side"""

    _see_more = "vx.compute(key, capture, control=value) gives its numbers; vx.views() lists the keys"

    def settings(self, capture: CaptureProtocol, given: Mapping[str, Any]) -> dict[str, Any]:
        """Every control's value, see `checked`."""
        return checked(self.controls, capture, given)
