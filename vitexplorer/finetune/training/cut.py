"""A network cut in two: a frozen part, which runs once for each image, and a tail that learns.

`Below` computes the features that enter the cut; they are cached. `Tail` is the network from there on. It does not
reimplement timm's forward pass: it runs the module's own forward pass on one blank image, skips the modules that
preserve their input's shape (the frozen blocks), and substitutes the cached features at the cut. `cut_search.py` finds
the cut and checks that the tail is equivalent to the whole network.
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
    """Name of the module whose first argument is cached"""
    is_last: bool
    """True if the output of this module is the output of the whole network"""
    skipped: tuple[str, ...] = ()
    """Modules before it that preserve their input's shape, outermost only: skipped for the blank image"""
    before: tuple[str, ...] = ()
    """Modules with parameters that run before it"""


class _ReachedError(Exception):
    """Raised when the forward pass reaches the cut."""

    def __init__(self, tokens: Tensor):
        super().__init__()
        self.tokens = tokens


class Below(nn.Module):
    """Frozen part: normalised images (batch, channels, height, width) -> features that enter the cut."""

    def __init__(self, module: nn.Module, cut: Cut):
        super().__init__()
        self.module, self.cut = module, cut

    def forward(self, images: Tensor) -> Tensor:
        """Run the network up to the cut."""

        def stop(_: nn.Module, args: tuple) -> None:
            raise _ReachedError(args[0])

        with self.module.get_submodule(self.cut.name).register_forward_pre_hook(stop):
            try:
                self.module(images)
            except _ReachedError as reached:
                return reached.tokens
        raise AssertionError(f"{self.cut.name} was not reached")


class Tail(nn.Module):
    """Part that learns: features that enter the cut -> outputs of the network."""

    def __init__(self, module: nn.Module, cut: Cut, blank: Tensor):
        """Wrap `module` from `cut` on; `blank` is any image (1, channels, height, width)."""
        super().__init__()
        self.module, self.cut = module, cut
        self.register_buffer("blank", blank, persistent=False)

    def forward(self, tokens: Tensor) -> Tensor:
        """Run the module's own forward pass from the cut on."""
        place = self.module.get_submodule(self.cut.name)
        if self.cut.is_last:
            return place(tokens)
        with place.register_forward_pre_hook(lambda _, given: (tokens, *given[1:])), self._skipping():
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
