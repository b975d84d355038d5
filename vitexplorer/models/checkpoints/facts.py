"""What a library's configuration tells of a model that the shapes of its tensors do not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from torch import Tensor

from vitexplorer.core.text import Text

Tensors = dict[str, Tensor]


@dataclass(frozen=True)
class Facts:
    """None where nobody says; an outline then takes what is usual and says so."""

    library: str = "timm"
    num_heads: int | tuple[int, ...] | None = None
    image_size: int | tuple[int, int] | None = None
    norm_eps: float | None = None
    activation: str | None = None
    """of the MLPs, by its name in `activations`"""
    pooling: str | None = None
    """timm's `global_pool` where the tensors do not tell it"""
    prefix_placed: bool | None = None
    """whether the position table has rows for the tokens before the patches; None where it may or may not"""
    final_norm: bool = True
    """False where the classifier reads tokens as the last block leaves them"""
    window_size: int | None = None
    pretrained_windows: tuple[int, ...] | None = None
    rope_theta: float | None = None
    """base of the periods of rotary positions"""
    class_names: tuple[str, ...] = ()
    preprocessing: Mapping[str, Any] = field(default_factory=dict)
    """what timm's pretrained configuration calls mean, std, interpolation, crop_pct"""
    left_out: tuple[str, ...] = ()
    """names of tensors that have no place in what is shown"""
    notes: tuple[Text, ...] = ()
    check: Callable[[Blueprint, Tensors], Facts] | None = None
    """holds what the configuration declares against what was made of the file's tensors: the facts with what is to be
    said of it, or MisfitError"""

    def but(self, **changes: Any) -> Facts:
        """The same with some of it otherwise."""
        return replace(self, **changes)


@dataclass(frozen=True)
class Blueprint:
    """A module of timm's, and the tensors under its names."""

    name: str
    """timm's where it is one of timm's own, else one that tells the sizes"""
    entry: str
    """the architecture of timm's that `arguments` change"""
    arguments: Mapping[str, Any]
    tensors: Tensors
    facts: Facts
    activation: str | None = None
    """of every MLP, where it is not what the architecture has"""
    norm_eps: Mapping[str, float] = field(default_factory=dict)
    """what norms add to the variance, by a pattern of their names, where `arguments` do not reach them"""
