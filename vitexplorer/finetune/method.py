"""What a method of fine-tuning is: how it changes a model, what it is called, how it likes to be trained.

A new method is one file in `methods/` that defines METHOD; menus, the command line, the README's table and the
contract tests are made from these records.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch import nn

from vitexplorer.controls import Control
from vitexplorer.interfaces import Paper
from vitexplorer.models.loading import LoadedModel
from vitexplorer.words import Text

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


@dataclass(frozen=True)
class Method:
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
    changes_output: bool = False
    """whether the model says something else as soon as the method is attached: prompts do"""


def already_merged(module: nn.Module) -> None:
    """`merge` of methods that change nothing but the model's own weights."""
