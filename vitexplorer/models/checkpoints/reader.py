"""What each reader in `readers` and each outline in `outlines` states."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from vitexplorer.models.checkpoints.facts import Blueprint, Facts, Tensors


@dataclass(frozen=True)
class Reader:
    """The names of one library's models."""

    library: str
    """as people call it"""
    signs: tuple[str, ...]
    """patterns: a file whose names match all of them is this library's"""
    rename: Callable[[Tensors, Mapping[str, Any]], tuple[Tensors, Facts]]
    """(tensors, configuration, empty where there is none) -> tensors under timm's names, and what is known beside

    Raises MisfitError, or KeyError for a tensor that is not there.
    """


@dataclass(frozen=True)
class Outline:
    """One class of timm's, told from the names and shapes of its tensors."""

    signs: tuple[str, ...]
    """patterns of timm's names, all of which must be there"""
    never: tuple[str, ...]
    """patterns none of which may be there"""
    blueprint: Callable[[Tensors, Facts], Blueprint]
    """Raises MisfitError where the tensors are not of one model, or KeyError for one that is not there."""
