"""Small networks and files of their weights."""

from __future__ import annotations

from pathlib import Path

import safetensors.torch
import timm
import torch
from torch import nn

from vitexplorer.models.seeding import seeded


def vit(seed: int = 0, **options) -> nn.Module:
    options = {"img_size": 64, "embed_dim": 24, "depth": 2, "num_heads": 2, "num_classes": 5, **options}
    with seeded(seed):
        return timm.create_model("vit_tiny_patch16_224", **options).eval()


def swin(seed: int = 0, **options) -> nn.Module:
    sizes = {"img_size": 64, "embed_dim": 8, "depths": (1, 1, 2, 1), "num_heads": (1, 1, 2, 2), "window_size": 4}
    with seeded(seed):
        return timm.create_model("swin_tiny_patch4_window7_224", num_classes=5, **{**sizes, **options}).eval()


def same_weights(one: nn.Module, other: nn.Module) -> bool:
    return all(torch.equal(a, b) for a, b in zip(one.state_dict().values(), other.state_dict().values(), strict=True))


def write(path: Path, contents: object) -> Path:
    if path.suffix == ".safetensors":
        safetensors.torch.save_file(contents, path)
    else:
        torch.save(contents, path)
    return path


def prefixed(prefix: str, state_dict: dict) -> dict:
    return {prefix + name: tensor for name, tensor in state_dict.items()}
