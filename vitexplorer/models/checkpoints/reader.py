"""Records that each file in `readers` and in `outlines` defines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from vitexplorer.models.checkpoints.facts import Blueprint, Facts, Tensors


@dataclass(frozen=True)
class Reader:
    """Reader of one library's tensor names."""

    library: str
    """Usual name of the library"""
    signs: tuple[str, ...]
    """Patterns; a file whose names match all of them belongs to this library"""
    rename: Callable[[Tensors, Mapping[str, Any]], tuple[Tensors, Facts]]
    """(tensors, configuration or {}) -> tensors under timm's names, and further facts

    Raises MisfitError, or KeyError for a missing tensor.
    """


@dataclass(frozen=True)
class Outline:
    """One timm class, recognised by the names and shapes of its tensors."""

    signs: tuple[str, ...]
    """Patterns of timm's names, all of which must match"""
    never: tuple[str, ...]
    """Patterns none of which may match"""
    blueprint: Callable[[Tensors, Facts], Blueprint]
    """Raises MisfitError if the tensors do not form one model, or KeyError for a missing tensor."""
