"""Record of a fine-tuning method: how it changes a model, its names, its abilities and its training recipe.

A new method is one file in `methods/` that defines METHOD. Menus, the command line, the documentation's table and the
contract tests are made from these records. No code outside that file tests for a method by name: it reads the
abilities in the record, and the contract tests check each ability against the method's behaviour.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torch import Tensor, nn

from vitexplorer.controls import Control
from vitexplorer.core.paper import Paper
from vitexplorer.core.summaries import Summarised
from vitexplorer.core.text import Text
from vitexplorer.models.loading import LoadedModel

if TYPE_CHECKING:
    from vitexplorer.finetune.parts.low_rank import LowRank

TRANSFORMERS = ("vit", "beit", "eva", "swin")
BACKBONES = (*TRANSFORMERS, "convolutional")


@dataclass(frozen=True)
class Recipe:
    """Default training recipe of a method: AdamW, cosine schedule, 10 % warm-up."""

    learning_rate: float
    head_learning_rate: float | None = None
    """Learning rate of a new classifier when pretrained weights train too; `learning_rate` when None"""
    weight_decay: float = 1e-4
    drop_path: float = 0.0
    """Stochastic depth of the last block while training"""


PETL = Recipe(learning_rate=1e-3, drop_path=0.1)
"""Recipe of methods that train few parameters, added ones or the model's own"""


def is_matrix_of_a_layer(name: str, parameter: nn.Parameter) -> bool:
    """Return True for a weight matrix, which decays; not for biases, norms, scales, tokens, positions and prompts."""
    return parameter.ndim > 1 and name.endswith(".weight")


def nothing_absent(module: nn.Module) -> Mapping[str, Tensor]:
    """Return no tensors: `absent` of methods that always trained what they train now."""
    return {}


@dataclass(frozen=True)
class Method(Summarised):
    """A method of fine-tuning. `inject(model, **settings)` changes a private copy in which only the head trains."""

    title: Text
    sentence: Text
    """One-sentence explanation for newcomers"""
    inject: Callable[..., LoadedModel]
    """Adds parts to the module or unfreezes parameters, and returns the model, with another family if the tokens
    change. Raises UnsupportedError if the architecture has no place for it"""
    recipe: Recipe
    controls: tuple[Control, ...] = ()
    families: tuple[str, ...] | None = TRANSFORMERS
    """Keys of the supported model families; None for all"""
    paper: Paper | None = None
    merge: Callable[[nn.Module], None] | None = None
    """Removes the added parts and folds their effect into the weights; None if that is impossible"""
    exports: Callable[[nn.Module], Mapping[str, LowRank]] | None = None
    """Returns its low-rank changes by layer name, as peft's files hold them; None if its changes are of another kind.
    Such a method has the settings `r` and `alpha`"""
    absent: Callable[[nn.Module], Mapping[str, Tensor]] = nothing_absent
    """Returns, by name, tensors that files of earlier versions lack, with values that reproduce those versions"""
    decays: Callable[[str, nn.Parameter], bool] = is_matrix_of_a_layer
    """Selects the trained parameters that weight decay applies to, among those the model does not exclude"""
    adds_tokens: bool = False
    """True if the method adds learned tokens, which can receive attention"""
    changes_output: bool = False
    """True if attaching the method already changes the output, as prompts do"""
    is_usual: bool = False
    """True if the method is part of the default comparison"""

    _see_more = "vx.attach(model, key, num_classes, control=value) puts it into a model; vx.methods() lists the keys"


def already_merged(module: nn.Module) -> None:
    """Do nothing: `merge` of methods that train only the model's own weights."""
