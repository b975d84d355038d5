"""Model families, one file each, looked up by the class of a timm module."""

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
    """Return the families of every supported class: one, or several that attend by different parts."""
    kinds = {kind for family in FAMILIES.values() for kind in family.of}
    return {kind: tuple(family for family in FAMILIES.values() if kind in family.of) for kind in kinds}


def family_of(module: nn.Module, name: str) -> ModelFamily:
    """Return the family of `module`, by its class or the nearest base class.

    Raises:
        UnsupportedError: there is none, or the module has no attention to show; the message names the architecture.
    """
    families = families_of_class()
    candidates = next((families[kind] for kind in type(module).__mro__ if kind in families), ())
    for family in candidates:
        if family.attends(module):
            return family
    raise UnsupportedError(
        Text("{name} is a {kind}: {reason}.", "{name} 属于 {kind}：{reason}。").format(
            name=name, kind=type(module).__name__, reason=reason_for(module)
        )
    )
