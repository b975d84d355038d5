"""Record of a cause."""

from __future__ import annotations

from typing import Literal, NamedTuple

from vitexplorer.core.text import Text

Group = Literal["pictures", "labels", "weights", "architecture", "data", "training"]


class Cause(NamedTuple):
    """One cause."""

    group: Group
    title: Text
    sign: Text
    """One sentence that says what shows it"""
    looks: Text
    """Description of what a person sees"""
    mend: Text
    """Advice in one sentence"""
    view: str
    """View that shows it"""
