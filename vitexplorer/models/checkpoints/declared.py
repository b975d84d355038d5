"""Check of the sizes and switches that a configuration declares against the file's tensors.

A model is built from its tensors. If its configuration describes another model (more blocks than there are, a
classifier of other features), one of the two is incomplete: the file is refused, and the message names the field and
both values. Fields without effect on a forward pass are listed too; unknown fields are mentioned in a note.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from vitexplorer.core.text import Text
from vitexplorer.models.checkpoints.fields import Fields
from vitexplorer.models.checkpoints.records import Blueprint, Facts, Tensors

_HELD = Text("{held}, as the file's tensors have it", "{held}（以文件中的张量为准）")
_ONLY = Text("{value}, the only one that can be shown here", "{value}（此处只能展示这种）")
_UNKNOWN = Text("{file} has unknown fields, which were ignored: {some}.", "{file} 中有无法识别的字段，已忽略：{some}。")
_MOST_NAMED = 4


@dataclass(frozen=True)
class Stored:
    """Model stored in a file, to measure the fields of a configuration by."""

    blueprint: Blueprint
    tensors: Tensors
    """Tensors under the names of the file"""

    def has(self, pattern: str) -> bool:
        """Return True if the name of a tensor of the file matches the pattern."""
        return any(re.search(pattern, name) for name in self.tensors)

    def argument(self, *names: str) -> Any:
        """Return the first of these timm arguments that the architecture has, or None."""
        return next((self.blueprint.arguments[name] for name in names if name in self.blueprint.arguments), None)


Measure = Callable[[Stored, Any], Any]
"""(stored model, declared value) -> correct value of the field; None if no tensor determines it"""


def has(pattern: str) -> Measure:
    """Measure if the file has a tensor of such a name."""
    return lambda stored, declared: stored.has(pattern)


def argument(*names: str) -> Measure:
    """Measure the first of these timm arguments that the architecture has."""
    return lambda stored, declared: stored.argument(*names)


@dataclass(frozen=True)
class Declared:
    """The fields of one library's configuration."""

    measures: Mapping[str, Measure]
    """Fields that are checked against the tensors"""
    only: Mapping[str, Any]
    """Field -> its only supported value, None for null; a list may be the beginning of a tuple, one value a stage"""
    read: tuple[str, ...]
    """Fields that are followed, whatever their value"""
    without_effect: Mapping[str, str]
    """Reason -> fields, separated by spaces, that do not change a model's output"""

    @property
    def idle(self) -> frozenset[str]:
        """Names of the fields without effect."""
        return frozenset(name for fields in self.without_effect.values() for name in fields.split())

    def check(self, fields: Fields, blueprint: Blueprint, tensors: Tensors) -> Facts:
        """Check a configuration against a file's tensors; return the blueprint's facts, with a note of unknown fields.

        Raises:
            MisfitError: a field contradicts the tensors, or its value is not supported.
        """
        stored = Stored(blueprint, tensors)
        for field, measure in self.measures.items():
            declared = fields.values.get(field)
            measured = None if declared is None else measure(stored, declared)
            if measured is not None and not _agree(declared, measured):
                raise fields.refusal(field, _HELD.format(held=_json_text(measured)))
        for field, only in self.only.items():
            declared = fields.values.get(field)
            is_prefix = (
                isinstance(declared, list) and isinstance(only, tuple) and tuple(declared) == only[: len(declared)]
            )
            if not is_prefix and declared not in (None, only):
                raise fields.refusal(field, _ONLY.format(value="null" if only is None else _json_text(only)))
        known = {*self.measures, *self.only, *self.read, *self.idle}
        unknown = [name for name, value in fields.values.items() if name not in known and value not in _SWITCHED_OFF]
        facts = blueprint.facts
        if not unknown:
            return facts
        some = ", ".join(name[:40] for name in unknown[:_MOST_NAMED]) + (", ..." if len(unknown) > _MOST_NAMED else "")
        return facts.but(notes=(*facts.notes, _UNKNOWN.format(file=fields.file, some=some)))


_SWITCHED_OFF = (None, False, 0, "", [], {})
"""Values that a new release writes for a field that it does not use"""


def _agree(declared: Any, measured: Any) -> bool:
    """Compare two values; one number equals a list in which both or all sides have it."""
    if isinstance(measured, tuple):
        return tuple(declared) == measured if isinstance(declared, list) else all(declared == side for side in measured)
    return declared in (measured, [measured, measured])


def _json_text(value: Any) -> str:
    return str(list(value)) if isinstance(value, tuple) else str(value).lower()
