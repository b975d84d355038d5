"""Model families: one file each, found by the class of the timm module."""

from __future__ import annotations

from torch import nn

from vitexplorer.interfaces import ModelFamily, UnsupportedError
from vitexplorer.registry import Registry

FAMILIES: Registry[ModelFamily] = Registry("model family", __name__, "FAMILY")


def family_of(module: nn.Module, name: str) -> ModelFamily:
    """The family that claims `module`. Raises UnsupportedError, naming the architecture, where none does."""
    for family in FAMILIES.values():
        if family.claims(module):
            return family
    known = ", ".join(family.title.en for family in FAMILIES.values())
    raise UnsupportedError(
        f"{name} is a {type(module).__name__}: no family says where its tokens lie in the image. Supported: {known}."
    )
