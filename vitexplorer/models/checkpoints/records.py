"""Records of weight files: facts of a configuration, the blueprint of a module, readers and outlines of names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from torch import Tensor, nn

from vitexplorer.core.text import Text
from vitexplorer.models.family import ModelFamily

Tensors = dict[str, Tensor]
Config = Mapping[str, Any]
"""Configuration of a library, or {}"""


@dataclass(frozen=True)
class Extension:
    """Parts that no architecture of timm has, behind one that it builds."""

    suffix: str
    """End of the model's name"""
    add: Callable[[nn.Module], None]
    """Adds the parts to a module"""
    family: ModelFamily
    """Family of the whole"""


@dataclass(frozen=True)
class Facts:
    """Facts of a model that the shapes of its tensors do not determine, from a library's configuration.

    None if unknown, for which an outline takes the usual value and adds a note.
    """

    library: str = "timm"
    num_heads: int | tuple[int, ...] | None = None
    image_size: int | tuple[int, int] | None = None
    norm_eps: float | None = None
    activation: str | None = None
    """Activation function of every MLP, by its name in `activations`; None for the architecture's"""
    pooling: str | None = None
    """timm's `global_pool` if the tensors do not determine it"""
    prefix_placed: bool | None = None
    """True if the position table has rows for the prefix tokens, False if not, None if unknown"""
    final_norm: bool = True
    """False where the classifier reads tokens as the last block leaves them"""
    window_size: int | None = None
    pretrained_windows: tuple[int, ...] | None = None
    rope_theta: float | None = None
    """Base of the periods of rotary positions"""
    class_names: tuple[str, ...] = ()
    preprocessing: Mapping[str, Any] = field(default_factory=dict)
    """Entries of timm's pretrained configuration: mean, std, interpolation, crop_pct, crop_mode"""
    projects: bool = False
    """True where the classifier is a CLIP's projection to the joint space of images and texts"""
    extension: Extension | None = None
    """Parts behind those that timm builds"""
    left_out: tuple[str, ...] = ()
    """Names of tensors that the timm module does not use"""
    notes: tuple[Text, ...] = ()
    check: Callable[[Blueprint, Tensors], Facts] | None = None
    """Checks the configuration against the blueprint and the file's tensors; returns the facts with further notes, or
    raises MisfitError"""

    def but(self, **changes: Any) -> Facts:
        """Return a copy with some fields changed."""
        return replace(self, **changes)


@dataclass(frozen=True)
class Blueprint:
    """A timm module to build, and the tensors under its names."""

    name: str
    """timm's name, or a similar one that states the sizes if timm has no such model"""
    entry: str
    """timm architecture that `arguments` modify"""
    arguments: Mapping[str, Any]
    tensors: Tensors
    facts: Facts
    norm_eps: Mapping[str, float] = field(default_factory=dict)
    """Epsilon of norms that `arguments` cannot set, by a pattern of their names"""


@dataclass(frozen=True)
class Reader:
    """Reader of one library's tensor names, defined in a file of `readers`."""

    library: str
    """Usual name of the library"""
    signs: tuple[str, ...]
    """Patterns; a file whose names match all of them belongs to this library"""
    rename: Callable[[Tensors, Config], tuple[Tensors, Facts]]
    """(tensors, configuration) -> tensors under timm's names, and further facts

    Raises MisfitError, or KeyError for a missing tensor.
    """


@dataclass(frozen=True)
class Outline:
    """One timm class, recognised by the names and shapes of its tensors, defined in a file of `outlines`."""

    signs: tuple[str, ...]
    """Patterns of timm's names, all of which must match"""
    never: tuple[str, ...]
    """Patterns none of which may match"""
    blueprint: Callable[[Tensors, Facts], Blueprint]
    """Raises MisfitError if the tensors do not form one model, or KeyError for a missing tensor."""
