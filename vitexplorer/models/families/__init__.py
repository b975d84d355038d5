"""Model families: one file each, found by the class of the timm module."""

from __future__ import annotations

from torch import nn

from vitexplorer.errors import UnsupportedError
from vitexplorer.model_family import ModelFamily
from vitexplorer.models.refusals import reason_for
from vitexplorer.registry import Registry
from vitexplorer.words import Text

FAMILIES: Registry[ModelFamily] = Registry("model family", __name__, "FAMILY")


def family_of(module: nn.Module, name: str) -> ModelFamily:
    """The family that claims `module`. Raises UnsupportedError, naming the architecture, where none does."""
    for family in FAMILIES.values():
        if family.claims(module):
            return family
    raise UnsupportedError(
        Text("{name} is a {kind}: {reason}.", "{name} 属于 {kind}：{reason}。").format(
            name=name, kind=type(module).__name__, reason=reason_for(module)
        )
    )
