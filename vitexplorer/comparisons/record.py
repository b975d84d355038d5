"""Record of a comparison: a picture of two captures, with its question, computation and controls."""

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
from vitexplorer.views.record import Group


@dataclass(frozen=True)
class Comparison(Summarised):
    """Question and picture of two captures. `compute(left, right, **settings)` returns its numbers."""

    title: Text
    question: Text
    misleads: Text
    """Warning on when the picture misleads"""
    compute: Callable[..., Result]
    reading: Callable[[Any], Text]
    """Function that summarises a result in one or two sentences"""
    controls: tuple[Control, ...] = ()
    """Controls; their choices are those of the left capture"""
    paper: Paper | None = None
    refuses: Callable[[Any, Any], Text | None] = lambda left, right: None
    """Function that returns the reason why it does not apply to two captures, or None"""
    runs: Literal["nothing", "once", "many"] = "nothing"
    """Number of passes through each network, see `View.runs`"""
    group: Group = ""
    """Heading in the list of its room, see `View.group`"""
    overview: bool = False
    """True if it is listed before the others"""
    room: str = "compare"

    _see_more = "vx.compare(key, left, right, control=value) gives its numbers; vx.comparisons() lists the keys"

    def settings(self, left: CaptureProtocol, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return every control's value, see `checked`."""
        return checked(self.controls, left, given)
