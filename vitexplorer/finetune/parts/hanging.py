"""Attach a small module to one of timm's, so that it changes that module's output or input.

The part becomes a child of the module, which keeps its class, its parameters and their names: views still find
`attn.qkv.weight`, and a checkpoint of the base still fits. A hook is a partial of a function and a name, without a
reference to any module, so that the model can be deep-copied.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from torch import Tensor, nn


def hang(module: nn.Module, name: str, part: nn.Module) -> None:
    """Make `module` return part(its output, its first input)."""
    module.add_module(name, part)
    module.register_forward_hook(partial(_apply, name))


def hang_before(module: nn.Module, name: str, part: nn.Module) -> None:
    """Make `module` receive part(its first input) and its other inputs unchanged."""
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
    """Return every module that carries a part called `name`, with the part."""
    return [
        (owner, owner.get_submodule(name))
        for owner in module.modules()
        if any(_hangs(hook, name) for hook in (*owner._forward_hooks.values(), *owner._forward_pre_hooks.values()))
    ]


def _hangs(hook: Callable, name: str) -> bool:
    return isinstance(hook, partial) and hook.func in (_apply, _apply_before) and hook.args == (name,)
