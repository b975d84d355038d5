"""A small ViT with one neuron that makes one patch's token far longer than the others."""

from __future__ import annotations

import copy
from dataclasses import replace
from functools import cache

import torch
import torch.nn.functional as F

import vitexplorer as vx
from tests.helpers.small_models import capture_small

BLOCK, NEURON, PATCH = 1, 5, 7


@cache
def planted(pool: str = "token"):
    """Make the small ViT with a neuron that writes a long vector into one patch of this image only."""
    plain = capture_small("vit")
    module = copy.deepcopy(plain.model.module)
    module.global_pool = pool
    block, place = module.blocks[BLOCK], len(plain.prefix_tokens) + PATCH
    seen = []
    with torch.no_grad():
        with block.norm2.register_forward_hook(lambda norm, given, out: seen.append(out[0])):
            module(plain.input.tensor)
        direction = F.normalize(seen[0][place] - seen[0].mean(0), dim=0)
        shares = seen[0] @ direction
        others = torch.cat([shares[:place], shares[place + 1 :]])
        block.mlp.fc1.weight[NEURON] = 40 * direction
        block.mlp.fc1.bias[NEURON] = -40 * (0.5 * others.max() + 0.5 * shares[place])
        block.mlp.fc2.weight[:, NEURON] = torch.linspace(-1, 1, len(block.mlp.fc2.weight)) * 3
    model = replace(plain.model, module=module)
    return vx.capture(model, plain.input.pixels, fit="squash")
