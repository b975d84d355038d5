"""Model families: one file each, found by the class of the timm module in one look-up."""

from __future__ import annotations

from functools import cache

from torch import nn

from vitexplorer.core.registry import Registry
from vitexplorer.core.text import Text, UnsupportedError
from vitexplorer.models.family import ModelFamily
from vitexplorer.models.refusals import reason_for

FAMILIES: Registry[ModelFamily] = Registry("model family", __name__, "FAMILY")


@cache
def families_of_class() -> dict[type[nn.Module], tuple[ModelFamily, ...]]:
    """Every class of which families are stated, and these: one, or several that attend by different parts."""
    kinds = {kind for family in FAMILIES.values() for kind in family.of}
    return {kind: tuple(family for family in FAMILIES.values() if kind in family.of) for kind in kinds}


def family_of(module: nn.Module, name: str) -> ModelFamily:
    """The family of `module`, by its class or the nearest one that it is derived from.

    Raises UnsupportedError, naming the architecture, where there is none or where it has no attention to show.
    """
    known = families_of_class()
    stated = next((known[kind] for kind in type(module).__mro__ if kind in known), ())
    for family in stated:
        if family.attends(module):
            return family
    raise UnsupportedError(
        Text("{name} is a {kind}: {reason}.", "{name} 属于 {kind}：{reason}。").format(
            name=name, kind=type(module).__name__, reason=reason_for(module)
        )
    )
