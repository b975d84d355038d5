"""A module without its numbers: passes through it cost nothing and tell shapes (torch's "meta" device)."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Protocol, TypeVar, runtime_checkable

from torch import nn


@runtime_checkable
class Loaded(Protocol):
    """What of a `LoadedModel` matters here."""

    module: nn.Module


M = TypeVar("M", bound=Loaded)


def without_storage(module: nn.Module) -> nn.Module:
    """A copy of a module whose tensors have shapes but no numbers; the module's own are not copied."""
    tensors = {id(tensor): nn.Parameter(tensor.to("meta"), requires_grad=False) for tensor in module.parameters()}
    tensors |= {id(tensor): tensor.to("meta") for tensor in module.buffers()}
    return copy.deepcopy(module, tensors)


def weightless(model: M) -> M:
    """The same model without its numbers: methods can be attached, sizes tried and costs counted, nothing can run."""
    if all(parameter.is_meta for parameter in model.module.parameters()):
        return model
    return replace(model, module=without_storage(model.module))
