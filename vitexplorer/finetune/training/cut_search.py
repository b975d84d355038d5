"""Search for the cut: the module whose input is all that training depends on.

For a linear probe that is the classifier, for partial training a block. One forward pass of two images is recorded,
and the modules at which learning begins are tried in turn. Whether the tail is equivalent to the whole network is
checked numerically, by outputs and gradients, before training.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial

import torch
from torch import Tensor, nn

from vitexplorer.finetune.attaching import TunedModel
from vitexplorer.finetune.trained_parts import train_mode
from vitexplorer.finetune.training.cut import Below, Cut, Tail

_LEAST_BELOW = 0.1
"""Least share of the modules with parameters before a cut for it to be worth its disk space"""
_EARLIER = 12
"""Modules tried before the first that learns: DeiT's two classifiers share only the tokens as input"""
_TOLERANCE = 1e-4


def find_cut(tuned: TunedModel, images: Tensor) -> Cut | None:
    """Find the cut nearest to the trained part; None if learning begins near the input or no cut is equivalent.

    `images` are two different images, normalised (2, channels, height, width). Leaves the module in eval mode.
    """
    module = tuned.module
    train_mode(tuned, 0.0)
    learns = {name for name, part in module.named_modules() if _learns(part)}
    module.eval()
    if "" in learns:
        return None
    run = _watch(module, images)
    learning = next((name for name in run.order if name in learns), None)
    if learning is None:
        return None
    owners = [name for name in run.order if any(True for _ in module.get_submodule(name).parameters(recurse=False))]
    fallback = None
    for name in _places(run, learning):
        before = _before(owners, name, run)
        if len(before) < _LEAST_BELOW * len(owners):
            return fallback
        is_last = run.made.get(name) is run.output
        cut = Cut(name, is_last, () if is_last else _skippable(run, name), before)
        if _same_network(module, cut, images):
            if is_last or not any(_inside(name, outer) and run.made[outer] is run.output for outer in run.made):
                return cut
            fallback = fallback or cut
    return fallback


def _learns(part: nn.Module) -> bool:
    """Return True if training changes a tensor of this module itself, not of a child."""
    has_statistics = part.training and getattr(part, "running_mean", None) is not None
    return has_statistics or any(parameter.requires_grad for parameter in part.parameters(recurse=False))


def _places(run: _Run, learning: str) -> list[str]:
    """List the cuts to try: the first module that learns, its parents, then modules that ran shortly before."""
    parts = learning.split(".")
    around = [".".join(parts[:depth]) for depth in range(len(parts), 0, -1)]
    earlier = [name for name in reversed(run.order[: run.order.index(learning)]) if name not in around]
    return [name for name in [*around, *earlier[:_EARLIER]] if name in run.shapes and run.shapes[name][0] is not None]


def _before(owners: list[str], cut: str, run: _Run) -> tuple[str, ...]:
    start = run.order.index(cut)
    return tuple(owner for owner in owners if run.order.index(owner) < start)


@dataclass
class _Run:
    """Record of one forward pass."""

    order: list[str] = field(default_factory=list)
    """Names of the modules in the order in which they began, each once"""
    shapes: dict[str, tuple[torch.Size | None, torch.Size | None]] = field(default_factory=dict)
    """Shapes of the first argument and of the output by name; None if not a tensor"""
    made: dict[str, object] = field(default_factory=dict)
    output: object = None

    def begin(self, name: str, _: nn.Module, given: tuple) -> None:
        """Record the first call of a module (a forward pre-hook)."""
        if name not in self.shapes:
            self.order.append(name)
            self.shapes[name] = (_shape(given[0] if given else None), None)

    def end(self, name: str, _: nn.Module, given: tuple, made: object) -> None:
        """Record what a module returned (a forward hook)."""
        self.shapes[name] = (self.shapes[name][0], _shape(made))
        self.made[name] = made


def _watch(module: nn.Module, images: Tensor) -> _Run:
    run = _Run()
    with ExitStack() as hooks, torch.no_grad():
        for name, part in module.named_modules():
            if name:
                hooks.enter_context(part.register_forward_pre_hook(partial(run.begin, name)))
                hooks.enter_context(part.register_forward_hook(partial(run.end, name)))
        run.output = module(images)
    return run


def _shape(thing: object) -> torch.Size | None:
    return thing.shape if isinstance(thing, Tensor) else None


def _inside(name: str, outer: str) -> bool:
    return name == outer or name.startswith(f"{outer}.")


def _skippable(run: _Run, cut: str) -> tuple[str, ...]:
    """Return the outermost modules that begin before the cut, do not contain it and preserve their input's shape."""
    names: list[str] = []
    for name in run.order[: run.order.index(cut)]:
        given, made = run.shapes[name]
        preserves_shape = given is not None and given == made and not _inside(cut, name)
        if preserves_shape and not any(_inside(name, outer) for outer in names):
            names.append(name)
    return tuple(names)


def _same_network(module: nn.Module, cut: Cut, images: Tensor) -> bool:
    """Return True if the tail has the same outputs and gradients as the whole network, in eval mode."""
    below, tail = Below(module, cut), Tail(module, cut, torch.zeros_like(images[:1]))
    try:
        with torch.no_grad():
            tokens = below(images)
        whole, whole_gradients = _with_gradients(module, images)
        part, part_gradients = _with_gradients(tail, tokens)
    except (RuntimeError, ValueError, TypeError, IndexError, AssertionError):  # shapes do not fit: no cut
        return False
    pairs = [(whole, part), *((gradient, part_gradients[name]) for name, gradient in whole_gradients.items())]
    return all(_near(expected, actual) for expected, actual in pairs)


def _with_gradients(network: nn.Module, given: Tensor) -> tuple[Tensor, dict[str, Tensor | None]]:
    """Return the output, and the gradient of a fixed linear functional of it for each trained parameter."""
    trained = {
        name.removeprefix("module."): parameter
        for name, parameter in network.named_parameters()
        if parameter.requires_grad
    }
    output = network(given)
    weights = torch.linspace(-1, 1, output.numel(), device=output.device).reshape(output.shape)
    gradients = torch.autograd.grad((output * weights).sum(), list(trained.values()), allow_unused=True)
    return output.detach(), dict(zip(trained, gradients, strict=True))


def _near(expected: Tensor | None, actual: Tensor | None) -> bool:
    if expected is None or actual is None:
        return expected is actual
    if expected.shape != actual.shape:
        return False
    return bool((expected - actual).abs().max() <= _TOLERANCE * (1 + expected.abs().max()))
