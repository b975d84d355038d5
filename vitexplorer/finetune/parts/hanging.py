"""Hangs a small module onto one of timm's, so that it changes what that one gives.

The part becomes a child of the module, which keeps its class, its parameters and their names: views still find
`attn.qkv.weight`, and a checkpoint of the base still fits. A hook is a partial of a function and a name, without a
reference to any module, so that a deep copy of the model is whole.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from torch import Tensor, nn


def hang(module: nn.Module, name: str, part: nn.Module) -> None:
    """From now on `module` gives part(what it made, what it was given)."""
    module.add_module(name, part)
    module.register_forward_hook(partial(_apply, name))


def _apply(name: str, module: nn.Module, given: tuple[Any, ...], made: Tensor) -> Tensor:
    return getattr(module, name)(made, given[0])


def take_down(module: nn.Module, name: str) -> None:
    """Undo `hang`."""
    delattr(module, name)
    for key, hook in list(module._forward_hooks.items()):
        if isinstance(hook, partial) and hook.func is _apply and hook.args == (name,):
            del module._forward_hooks[key]


def hung(module: nn.Module, name: str) -> list[tuple[nn.Module, nn.Module]]:
    """Every module that something called `name` hangs on, and that something."""
    return [(one, part) for one in module.modules() if (part := one._modules.get(name)) is not None and _hooks(one)]


def _hooks(module: nn.Module) -> list[Callable]:
    return [hook for hook in module._forward_hooks.values() if isinstance(hook, partial) and hook.func is _apply]
