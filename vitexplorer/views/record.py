"""Record of a view: its question, computation and controls. A new view is one file in `views/`.

Menus, the command line, the documentation tables and the contract tests are made from these records.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from vitexplorer.controls import Control, checked
from vitexplorer.core.capture_protocol import PARTS, CaptureProtocol, Part, Refusal
from vitexplorer.core.paper import Paper
from vitexplorer.core.summaries import Summarised
from vitexplorer.core.text import Text
from vitexplorer.core.types import Result

Group = Literal["", "attention", "gradient", "perturbation", "judge"]
GROUPS: Mapping[Group, Text] = {
    "attention": Text("Attention", "注意力"),
    "gradient": Text("Gradient", "梯度"),
    "perturbation": Text("Perturbation", "扰动"),
    "judge": Text("Judge", "评判"),
}
"""Names of the groups of views, in the order of a room's list"""


@dataclass(frozen=True)
class View(Summarised):
    """A picture with a question. `compute(capture, **settings)` returns numbers; `figures` draws them."""

    title: Text
    question: Text
    misleads: Text
    """Warning on when the picture misleads"""
    room: str
    """Room of the page that shows it"""
    compute: Callable[..., Result]
    reading: Callable[[Any], Text]
    """Makes one sentence, two at most, of the numbers of a result: what a lecturer would say pointing at the figure"""
    controls: tuple[Control, ...] = ()
    paper: Paper | None = None
    refuses: Refusal = lambda capture: None
    any_family: bool = False
    """True if the view needs the attention of one block at most, so that families which state no more can be shown"""
    names_of_timm: bool = False
    """True if the view needs timm's names of a module's parts, which a wrapped module does not have"""
    reads: tuple[Part, ...] = PARTS
    """Parts of a capture that `compute` and `controls` read"""
    runs: Literal["nothing", "once", "many"] = "nothing"
    """Number of times that `compute` sends an image through the blocks of the network

    nothing: all is read from the capture and the parameters; single layers (the final norm, the classifier) may be
    applied to the capture, and shapes without numbers may go through a copy. once: one pass, where gradients are
    taken in both directions, whatever the settings. many: more than that; then `compute` takes `progress` beside the
    settings. The page queues the last two for the model and caches their results.
    """
    goes_back: bool = False
    """True if its one pass computes a plain gradient: a `differentiable` capture spares it the forward half"""

    group: Group = ""
    """Source of its map among the explanations of the room Flow, where the list of views has a heading for each

    attention: the weights alone, without a class. gradient: a backward pass, also where attention weighs it.
    perturbation: forward passes on a changed image or changed activations. judge: no explanation of its own, but a
    comparison of the others, or the chance that they are compared with. Empty where a room needs no groups.
    """
    overview: bool = False
    """True if it comes before the other views of its room, or of its group"""

    _see_more = "vx.compute(key, capture, control=value) gives its numbers; vx.views() lists the keys"

    def settings(self, capture: CaptureProtocol, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return every control's value, see `checked`."""
        return checked(self.controls, capture, given)
