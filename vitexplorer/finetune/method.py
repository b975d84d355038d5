"""What a method of fine-tuning is: how it changes a model, what it is called, what it can, how it likes to be trained.

A new method is one file in `methods/` that defines METHOD; menus, the command line, the documentation's table and the
contract tests are made from these records. Nothing outside of that file asks for a method by name: what others must
know of it is an ability in its record, and the contract tests hold each against what the method does.
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
    """How a method is trained when nobody says otherwise: AdamW, cosine, 10 % warm-up."""

    learning_rate: float
    head_learning_rate: float | None = None
    """of a new classifier on weights that are already good; the same as `learning_rate` when None"""
    weight_decay: float = 1e-4
    drop_path: float = 0.0
    """stochastic depth of the last block while training"""


PETL = Recipe(learning_rate=1e-3, drop_path=0.1)
"""of methods that train a few added numbers or a few of the model's"""


def is_matrix_of_a_layer(name: str, parameter: nn.Parameter) -> bool:
    """Whether weight decay belongs on a parameter: not on biases, norms, scales, tokens, positions and prompts."""
    return parameter.ndim > 1 and name.endswith(".weight")


def nothing_absent(module: nn.Module) -> Mapping[str, Tensor]:
    """`absent` of methods that always trained what they train now."""
    return {}


@dataclass(frozen=True)
class Method(Summarised):
    """A method of fine-tuning. `inject(model, **settings)` changes a private copy in which only the head trains."""

    title: Text
    sentence: Text
    """what it does, for somebody who has not heard of it"""
    inject: Callable[..., LoadedModel]
    """hangs parts into the module, or lets parameters train; returns the model, with another family where the tokens
    are no longer those the family knows. Raises UnsupportedError where the architecture has no place for it"""
    recipe: Recipe
    controls: tuple[Control, ...] = ()
    families: tuple[str, ...] | None = TRANSFORMERS
    """keys of the model families it is valid for; None for all there are"""
    paper: Paper | None = None
    merge: Callable[[nn.Module], None] | None = None
    """takes the added parts down and puts what they do into the weights; None where that cannot be done"""
    exports: Callable[[nn.Module], Mapping[str, LowRank]] | None = None
    """its changes of low rank, by the names of the layers, which is what peft's files hold; None where it makes others.
    Such a method has the settings `r` and `alpha`"""
    absent: Callable[[nn.Module], Mapping[str, Tensor]] = nothing_absent
    """by name, what files of earlier versions do not hold, and the numbers with which the model is what it was then"""
    decays: Callable[[str, nn.Parameter], bool] = is_matrix_of_a_layer
    """which trained parameters weight decay may make smaller, of all that the model itself does not spare"""
    adds_tokens: bool = False
    """whether learned tokens stand beside the image's, so that attention can go to them"""
    changes_output: bool = False
    """whether the model says something else as soon as the method is attached: prompts do"""
    is_usual: bool = False
    """whether it is among those that are compared when nobody says which"""

    _see_more = "vx.attach(model, key, num_classes, control=value) puts it into a model; vx.methods() lists the keys"


def already_merged(module: nn.Module) -> None:
    """`merge` of methods that change nothing but the model's own weights."""
