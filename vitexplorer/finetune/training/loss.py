"""One piece of a batch through the network and back: the same for the estimate and for the loop."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor, nn

from vitexplorer.finetune.training.objective import Objective


def autocast(device: torch.device, precision: str) -> AbstractContextManager:
    """The context of a forward pass in this precision: "no" or "bf16"."""
    return torch.autocast(device.type, torch.bfloat16) if precision == "bf16" else nullcontext()


def weighted_loss(
    network: nn.Module, objective: Objective, precision: str, inputs: Tensor, targets: Tensor, weights: Tensor
) -> Tensor:
    """Sum over the images of weight times loss."""
    with autocast(inputs.device, precision):
        outputs = network(inputs)
    return (objective.losses(outputs, targets) * weights).sum()
