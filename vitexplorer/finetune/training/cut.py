"""The network in two parts: what comes before a cut gives the same for an image in every epoch, what follows learns.

What enters the cut is computed once for each image (`Below`) and kept; `Tail` is the network from there on. timm's
forward pass is not written again for it: the tail runs the module's own forward pass on one blank image, leaves out
what keeps its input's shape (the frozen blocks), and puts the kept tensors in place at the cut. `cut_search.py` finds
the place, and tries whether that is the same network.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from torch import Tensor, nn


@dataclass(frozen=True)
class Cut:
    """A place in a module."""

    name: str
    """of the module whose first argument is kept"""
    is_last: bool
    """whether what this module gives is what the whole network gives"""
    skipped: tuple[str, ...] = ()
    """modules before it that keep their input's shape, outermost only: left out on the blank image"""
    before: tuple[str, ...] = ()
    """modules with parameters that run before it"""


class _ReachedError(Exception):
    """The forward pass has come to the cut."""

    def __init__(self, tokens: Tensor):
        super().__init__()
        self.tokens = tokens


class Below(nn.Module):
    """The frozen part: normalised images (batch, channels, height, width) -> what enters the cut."""

    def __init__(self, module: nn.Module, cut: Cut):
        super().__init__()
        self.module, self.cut = module, cut

    def forward(self, images: Tensor) -> Tensor:
        """Runs no further than the cut."""

        def stop(_: nn.Module, given: tuple) -> None:
            raise _ReachedError(given[0])

        with _hooked(self.module.get_submodule(self.cut.name), stop):
            try:
                self.module(images)
            except _ReachedError as reached:
                return reached.tokens
        raise AssertionError(f"{self.cut.name} was not reached")


class Tail(nn.Module):
    """The part that learns: what entered the cut -> what the whole network gives."""

    def __init__(self, module: nn.Module, cut: Cut, blank: Tensor):
        """Args: blank: one image (1, channels, height, width), whatever it shows."""
        super().__init__()
        self.module, self.cut = module, cut
        self.register_buffer("blank", blank, persistent=False)

    def forward(self, tokens: Tensor) -> Tensor:
        """The module's own forward pass from the cut on."""
        place = self.module.get_submodule(self.cut.name)
        if self.cut.is_last:
            return place(tokens)
        with _hooked(place, lambda _, given: (tokens, *given[1:])), self._skipping():
            return self.module(self.blank)

    @contextmanager
    def _skipping(self) -> Iterator[None]:
        parts = [self.module.get_submodule(name) for name in self.cut.skipped]
        for part in parts:
            part.forward = _unchanged
        try:
            yield
        finally:
            for part in parts:
                del part.forward


def _unchanged(first: Tensor, *_: object, **__: object) -> Tensor:
    return first


@contextmanager
def _hooked(module: nn.Module, hook) -> Iterator[None]:
    handle = module.register_forward_pre_hook(hook)
    try:
        yield
    finally:
        handle.remove()
