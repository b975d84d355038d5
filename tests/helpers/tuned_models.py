"""Tuned models with random parameters, and their outputs."""

from __future__ import annotations

import torch

from vitexplorer.finetune.trained_parts import trainable


@torch.no_grad()
def shaken(tuned, size=0.1):
    """Add noise to every trainable parameter of a tuned model; give it back."""
    draw = torch.Generator().manual_seed(2)
    for parameter in trainable(tuned.module).values():
        parameter += size * torch.randn(parameter.shape, generator=draw)
    return tuned


@torch.no_grad()
def outputs(module, images):
    return module(images)
