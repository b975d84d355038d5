"""Modules on torch's "meta" device: passes through them cost nothing and give shapes."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import TYPE_CHECKING

from torch import nn

if TYPE_CHECKING:
    from vitexplorer.models.loading import LoadedModel


def without_storage(module: nn.Module) -> nn.Module:
    """Copy a module with its tensors on the meta device; no data is copied."""
    tensors = {id(tensor): nn.Parameter(tensor.to("meta"), requires_grad=False) for tensor in module.parameters()}
    tensors |= {id(tensor): tensor.to("meta") for tensor in module.buffers()}
    return copy.deepcopy(module, tensors)


def weightless(model: LoadedModel) -> LoadedModel:
    """Return the model on the meta device, to attach methods, try sizes and count costs; it computes no values."""
    if all(parameter.is_meta for parameter in model.module.parameters()):
        return model
    return replace(model, module=without_storage(model.module))
