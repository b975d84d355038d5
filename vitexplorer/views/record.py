"""What a view is, and the paper that defines it; a new view is one file in `views/`.

Menus, the command line, the documentation table and the contract tests are made from these records.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from vitexplorer.controls import Control, checked
from vitexplorer.core.capture_protocol import Explored
from vitexplorer.core.text import Language, Text
from vitexplorer.core.types import Result

_IN_CHINESE = (
    (r" et al\.", " 等"),
    (r", figure (\S+)", "，图 \\1"),
    (r", table (\S+)", "，表 \\1"),
    (r", section (\S+)", "，第 \\1 节"),
    (r", appendix (\S+)", "，附录 \\1"),
    (r", equations (\d+) and (\d+)", "，式（\\1）、（\\2）"),
    (r", equation (\d+)", "，式（\\1）"),
)


@dataclass(frozen=True)
class Paper:
    """Where a quantity is defined."""

    citation: str
    """in English: authors, year and the place in the paper"""
    url: str

    def in_(self, language: Language) -> str:
        """The citation as readers of `language` write it: Dosovitskiy 等 2021，图 7; authors stay in Latin letters."""
        if language == "en":
            return self.citation
        said = self.citation
        for english, chinese in _IN_CHINESE:
            said = re.sub(english, chinese, said)
        return said


@dataclass(frozen=True)
class View:
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

    def settings(self, capture: Explored, given: Mapping[str, Any]) -> dict[str, Any]:
        """Every control's value, see `checked`."""
        return checked(self.controls, capture, given)


@dataclass(frozen=True)
class Comparison:
    """A picture of two captures with a question. `compute(left, right, **settings)` returns numbers."""

    title: Text
    question: Text
    misleads: Text
    """when the picture does not mean what it seems to"""
    compute: Callable[..., Result]
    reading: Callable[[Any], Text]
    """one sentence, two at most, made of the numbers of `compute`'s result"""
    controls: tuple[Control, ...] = ()
    """what they offer is the left capture's"""
    paper: Paper | None = None
    refuses: Callable[[Any, Any], Text | None] = lambda left, right: None
    """the reason why it has no meaning for these two, or None"""
    runs: Literal["nothing", "once", "many"] = "nothing"
    """how often an image goes through the blocks of each network, as of a view"""
    overview: bool = False
    """stands before the others"""
    room: str = "compare"

    def settings(self, left: Explored, given: Mapping[str, Any]) -> dict[str, Any]:
        """Every control's value, see `checked`."""
        return checked(self.controls, left, given)
