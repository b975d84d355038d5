"""Weighted loss of one piece of a batch, shared by the estimate and the training loop."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor, nn

from vitexplorer.finetune.training.objective import Objective


def autocast(device: torch.device, precision: str) -> AbstractContextManager:
    """Return the context of a forward pass in precision "no" or "bf16"."""
    return torch.autocast(device.type, torch.bfloat16) if precision == "bf16" else nullcontext()


def weighted_loss(
    network: nn.Module, objective: Objective, precision: str, inputs: Tensor, targets: Tensor, weights: Tensor
) -> Tensor:
    """Compute the sum of weight times loss over the images."""
    with autocast(inputs.device, precision):
        outputs = network(inputs)
    return (objective.losses(outputs, targets) * weights).sum()
