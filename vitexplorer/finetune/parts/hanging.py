"""Hangs a small module onto one of timm's, so that it changes what that one gives, or what it is given.

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


def hang_before(module: nn.Module, name: str, part: nn.Module) -> None:
    """From now on `module` is given part(what it was given first), and the rest as it was."""
    module.add_module(name, part)
    module.register_forward_pre_hook(partial(_apply_before, name))


def _apply(name: str, module: nn.Module, given: tuple[Any, ...], made: Tensor) -> Tensor:
    return getattr(module, name)(made, given[0])


def _apply_before(name: str, module: nn.Module, given: tuple[Any, ...]) -> tuple[Any, ...]:
    first, *others = given
    return getattr(module, name)(first), *others


def take_down(module: nn.Module, name: str) -> None:
    """Undo `hang` or `hang_before`."""
    delattr(module, name)
    for hooks in (module._forward_hooks, module._forward_pre_hooks):
        for key, hook in list(hooks.items()):
            if _hangs(hook, name):
                del hooks[key]


def hung(module: nn.Module, name: str) -> list[tuple[nn.Module, nn.Module]]:
    """Every module that something called `name` hangs on, and that something."""
    return [
        (one, one.get_submodule(name))
        for one in module.modules()
        if any(_hangs(hook, name) for hook in (*one._forward_hooks.values(), *one._forward_pre_hooks.values()))
    ]


def _hangs(hook: Callable, name: str) -> bool:
    return isinstance(hook, partial) and hook.func in (_apply, _apply_before) and hook.args == (name,)
