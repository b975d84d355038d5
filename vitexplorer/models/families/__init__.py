"""Model families: one file each, found by the class of the timm module in one look-up."""

from __future__ import annotations

from functools import cache

from torch import nn

from vitexplorer.errors import UnsupportedError
from vitexplorer.model_family import ModelFamily
from vitexplorer.models.refusals import reason_for
from vitexplorer.registry import Registry
from vitexplorer.words import Text

FAMILIES: Registry[ModelFamily] = Registry("model family", __name__, "FAMILY")


@cache
def family_of_class() -> dict[type[nn.Module], ModelFamily]:
    """Every class of which a family is stated, and that family."""
    return {kind: family for family in FAMILIES.values() for kind in family.of}


def family_of(module: nn.Module, name: str) -> ModelFamily:
    """The family of `module`, by its class or the nearest one that it is derived from.

    Raises UnsupportedError, naming the architecture, where there is none or where it has no attention to show.
    """
    known = family_of_class()
    family = next((known[kind] for kind in type(module).__mro__ if kind in known), None)
    if family is not None and family.attends(module):
        return family
    raise UnsupportedError(
        Text("{name} is a {kind}: {reason}.", "{name} 属于 {kind}：{reason}。").format(
            name=name, kind=type(module).__name__, reason=reason_for(module)
        )
    )
