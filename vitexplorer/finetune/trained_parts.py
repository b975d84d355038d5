"""Trained parts of a tuned model: parameters, optimizer groups, training mode.

A frozen part stays in eval mode while the rest trains: its dropout is off and its batch norms keep their statistics.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from vitexplorer.finetune.attaching import TunedModel
from vitexplorer.finetune.method import TRANSFORMERS
from vitexplorer.finetune.methods import METHODS
from vitexplorer.models.outline import classifiers, is_drop_path, set_drop_path


def trainable(module: nn.Module) -> dict[str, nn.Parameter]:
    """Return the trained parameters by name."""
    return {name: parameter for name, parameter in module.named_parameters() if parameter.requires_grad}


def learned(module: nn.Module) -> dict[str, Tensor]:
    """Return the tensors that training changes, by name: trained parameters and the buffers of trained batch norms."""
    buffers = {
        f"{name}.{key}": tensor
        for name, part in module.named_modules()
        if isinstance(part, nn.modules.batchnorm._BatchNorm) and all(p.requires_grad for p in part.parameters())
        for key, tensor in part.named_buffers(recurse=False)
        if part.affine or _in_head(module, name)
    }
    return {**trainable(module), **buffers}


@torch.no_grad()
def put_back(module: nn.Module, tensors: Mapping[str, Tensor]) -> None:
    """Copy tensors of `learned` into the module. Raises KeyError if the module has no such tensor."""
    own = learned(module)
    for name, tensor in tensors.items():
        own[name].copy_(tensor)


def below_prefix(tensors: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """Return the tensors whose names begin with `prefix`, by the rest of their names."""
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}


def _in_head(module: nn.Module, name: str) -> bool:
    """Return True if a batch norm without parameters precedes a classifier that trains."""
    siblings = module.get_submodule(name.rpartition(".")[0].rpartition(".")[0]).parameters()
    return all(parameter.requires_grad for parameter in siblings)


def parameter_groups(
    tuned: TunedModel, learning_rate: float | None = None, weight_decay: float | None = None
) -> list[dict[str, Any]]:
    """Return the optimizer's groups: body and head, each with and without weight decay; empty groups are left out.

    `Method.decays` selects what decays, except for the names in the timm model's `no_weight_decay`. None takes the
    value of the method's recipe.
    """
    recipe = METHODS[tuned.method].recipe
    rate = recipe.learning_rate if learning_rate is None else learning_rate
    head_rate = rate if recipe.head_learning_rate is None or learning_rate is not None else recipe.head_learning_rate
    decay = recipe.weight_decay if weight_decay is None else weight_decay
    heads = classifiers(tuned.module)
    spared = getattr(tuned.module, "no_weight_decay", set)()  # ResNets have none
    groups: dict[tuple[bool, bool], list[nn.Parameter]] = {}
    for name, parameter in trainable(tuned.module).items():
        in_head = any(name.startswith(f"{head}.") for head in heads)
        decays = METHODS[tuned.method].decays(name, parameter) and name not in spared
        groups.setdefault((in_head, decays), []).append(parameter)
    return [
        {"params": params, "lr": head_rate if in_head else rate, "weight_decay": decay if decays else 0.0}
        for (in_head, decays), params in groups.items()
    ]


def train_mode(tuned: TunedModel, drop_path: float | None = None) -> None:
    """Put the modules that train into training mode, and no others; `tuned.module.eval()` ends it.

    A module trains when all of its parameters do (a batch norm of which only the bias trains keeps its statistics),
    or when it has none and its parent trains. Stochastic depth is on in frozen blocks too, at rate `drop_path` or the
    recipe's when None, because it keeps a few parameters from overfitting.
    """
    module = tuned.module
    if tuned.family.key in TRANSFORMERS:
        set_drop_path(module, METHODS[tuned.method].recipe.drop_path if drop_path is None else drop_path)
    _set_mode(module, inherited=False)


def _set_mode(module: nn.Module, inherited: bool) -> None:
    parameters = list(module.parameters())
    trains = all(parameter.requires_grad for parameter in parameters) if parameters else inherited
    module.training = trains or is_drop_path(module)
    for child in module.children():
        _set_mode(child, trains)
