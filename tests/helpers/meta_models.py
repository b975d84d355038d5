"""Whole architectures on torch's "meta" device, without memory for parameters or time to fill them.

On torch's "meta" device a tensor has a shape and no content. Filling it does nothing but takes four fifths of the time
in which timm makes a model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import timm
import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

FILLING = {getattr(Tensor, f"{name}_") for name in ("add", "clamp", "copy", "erfinv", "fill", "mul", "normal")}
FILLING |= {Tensor.uniform_, Tensor.zero_, *(getattr(nn.init, name) for name in nn.init.__all__ if name.endswith("_"))}
"""what changes nothing of a tensor but its numbers; all give the tensor back, which is their first argument"""


class _Unfilled(TorchFunctionMode):
    def __torch_function__(self, func: Callable, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        if func in FILLING:
            return args[0] if args else kwargs["tensor"]
        return func(*args, **(kwargs or {}))


@contextmanager
def without_numbers() -> Iterator[None]:
    """Make modules inside the context without parameter values, only shapes."""
    with torch.device("meta"), _Unfilled():
        yield


def outline_of(architecture: str, **options: Any) -> nn.Module:
    """Make a timm model in eval mode without parameter values."""
    with without_numbers():
        return timm.create_model(architecture, **options).eval()
