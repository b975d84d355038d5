"""A module without its numbers: passes through it cost nothing and tell shapes (torch's "meta" device)."""

from __future__ import annotations

import copy

from torch import nn


def without_storage(module: nn.Module) -> nn.Module:
    """A copy of a module whose tensors have shapes but no numbers; the module's own are not copied."""
    tensors = {id(tensor): nn.Parameter(tensor.to("meta"), requires_grad=False) for tensor in module.parameters()}
    tensors |= {id(tensor): tensor.to("meta") for tensor in module.buffers()}
    return copy.deepcopy(module, tensors)
