"""Faults of a training: its first steps on a copy of the model."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import torch
from torch.nn import functional

from benchmarks.planted.case import Case, Fault, fed_right


def trained(rate: float, *, frozen: bool = False) -> Fault:
    """Take three steps of AdamW on a copy; a `frozen` one leaves half of the parameters out."""

    def plant(case: Case, rng: np.random.Generator) -> Case:
        module = copy.deepcopy(case.model.module).train().requires_grad_(True)
        named = dict(module.named_parameters())
        still = list(named)[: len(named) // 2] if frozen else []
        optimiser = torch.optim.AdamW(named.values(), rate)
        batch, labels = fed_right(case)[:16], torch.tensor(case.labels[:16])
        steps = []
        for _ in range(3):
            functional.cross_entropy(module(batch), labels).backward()
            for name in still:
                named[name].grad = None
            before = {name: parameter.detach().clone() for name, parameter in named.items()}
            optimiser.step()
            optimiser.zero_grad()
            steps.append(
                {
                    name: (float((named[name].detach() - earlier).norm()), float(earlier.norm()))
                    for name, earlier in before.items()
                }
            )
        return replace(case, training=tuple(steps))

    return plant


TRAINING: Mapping[str, tuple[Fault, ...]] = {
    "rate_too_high": (trained(0.05), trained(1.0)),
    "nothing_trains": (trained(1e-4, frozen=True),),
}
"""Ways to plant each cause, mild before gross"""
