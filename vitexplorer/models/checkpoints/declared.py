"""Sizes and switches that a configuration declares, held against those that the file's tensors have.

A model is built from its tensors. Where its configuration speaks of another one (more blocks than there are, a
classifier of other features), one of the two is not whole: the file is refused, and the sentence names the field and
both values. What changes nothing of a pass is stated here too; a field that is not known is told of in a note.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from vitexplorer.core.text import Text
from vitexplorer.models.checkpoints.facts import Blueprint, Facts, Tensors
from vitexplorer.models.checkpoints.fields import Fields

_HELD = Text("{held}, as the file's tensors have it", "{held}（以文件中的张量为准）")
_ONLY = Text("{value}, the only one that can be shown here", "{value}（此处只能展示这种）")
_UNKNOWN = Text(
    "{file} has fields that are not known here and were not followed: {some}.",
    "{file} 中有此处不认识、未予采用的字段：{some}。",
)
_MOST_NAMED = 4


@dataclass(frozen=True)
class Held:
    """What a file holds, for the measures of a field."""

    found: Blueprint
    tensors: Tensors
    """under the names of the file"""

    def has(self, pattern: str) -> bool:
        """Whether a tensor of the file is called so."""
        return any(re.search(pattern, name) for name in self.tensors)

    def argument(self, *names: str) -> Any:
        """The first of timm's arguments that the architecture has; None for none."""
        return next((self.found.arguments[name] for name in names if name in self.found.arguments), None)


Measure = Callable[[Held, Any], Any]
"""(what the file holds, what a field says) -> what the field would have to say; None where no tensor tells"""


@dataclass(frozen=True)
class Declared:
    """The fields of one library's configuration."""

    held: Mapping[str, Measure]
    """fields that are held against the tensors"""
    only: Mapping[str, Any]
    """field -> the one value that is followed, the beginning of a tuple where that is of stages; None for none"""
    read: tuple[str, ...]
    """fields that are followed, whatever they say"""
    without_effect: Mapping[str, str]
    """reason -> fields, with spaces between them, that change nothing of what a model answers"""

    @property
    def idle(self) -> frozenset[str]:
        """Names of the fields without effect."""
        return frozenset(name for fields in self.without_effect.values() for name in fields.split())

    def check(self, said: Fields, found: Blueprint, tensors: Tensors) -> Facts:
        """The facts of a blueprint, with a note of fields that are not known. Raises MisfitError.

        `tensors` are under the names of the file.
        """
        for field, measure in self.held.items():
            value = said.said.get(field)
            held = None if value is None else measure(Held(found, tensors), value)
            if held is not None and not _agree(value, held):
                raise said.refusal(field, _HELD.format(held=_shown(held)))
        for field, value in self.only.items():
            given = said.said.get(field)
            begins = isinstance(given, list) and isinstance(value, tuple) and tuple(given) == value[: len(given)]
            if not begins and given not in (None, value):
                raise said.refusal(field, _ONLY.format(value="null" if value is None else _shown(value)))
        known = {*self.held, *self.only, *self.read, *self.idle}
        unknown = [name for name, value in said.said.items() if name not in known and value not in _SWITCHED_OFF]
        if not unknown:
            return found.facts
        some = ", ".join(name[:40] for name in unknown[:_MOST_NAMED]) + (", ..." if len(unknown) > _MOST_NAMED else "")
        return found.facts.but(notes=(*found.facts.notes, _UNKNOWN.format(file=said.file, some=some)))


_SWITCHED_OFF = (None, False, 0, "", [], {})
"""what a new release writes for a field that it does not use"""


def _agree(value: Any, held: Any) -> bool:
    """One number stands for both sides, and two equal ones for one."""
    if isinstance(held, tuple):
        return tuple(value) == held if isinstance(value, list) else all(value == one for one in held)
    return value in (held, [held, held])


def _shown(value: Any) -> str:
    return str(list(value)) if isinstance(value, tuple) else str(value).lower()
