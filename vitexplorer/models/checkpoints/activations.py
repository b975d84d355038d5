"""Activation functions of MLPs, by their names in configurations of transformers.

The other names of transformers stand for functions that neither timm nor torch has as a module.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from timm.layers import GELUTanh, QuickGELU
from torch import nn

ACTIVATIONS: dict[str, Callable[[], nn.Module]] = {
    "gelu": nn.GELU,
    "gelu_python": nn.GELU,
    "gelu_10": lambda: nn.Sequential(nn.GELU(), nn.Hardtanh(-10.0, 10.0)),
    "gelu_pytorch_tanh": GELUTanh,
    "gelu_python_tanh": GELUTanh,
    "gelu_new": GELUTanh,
    "gelu_fast": GELUTanh,
    "gelu_accurate": GELUTanh,
    "quick_gelu": QuickGELU,
    "silu": nn.SiLU,
    "swish": nn.SiLU,
    "relu": nn.ReLU,
    "relu6": nn.ReLU6,
    "leaky_relu": partial(nn.LeakyReLU, 0.01),
    "mish": nn.Mish,
    "hardswish": nn.Hardswish,
    "sigmoid": nn.Sigmoid,
    "tanh": nn.Tanh,
    "linear": nn.Identity,
}


def activate(module: nn.Module, name: str) -> None:
    """Replace the activation function of every MLP of a timm module; few timm classes take it as an argument."""
    for path, part in module.named_modules():
        if path.rpartition(".")[2] == "mlp" and hasattr(part, "act"):
            part.act = ACTIVATIONS[name]()
