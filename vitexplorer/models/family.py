"""Base class of model families, which state facts of an architecture that timm does not.

A new family is one file in `models/families`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from vitexplorer.core.capture_protocol import ONLY_ATTENTION, PARTS, Part
from vitexplorer.core.text import Text, UnsupportedError
from vitexplorer.core.types import BlockSite, PatchGrid, Reading


class ModelFamily(ABC):
    """Facts of an architecture that timm does not state: its attention calls and the positions of its tokens.

    A family overrides what its models have. By default there are no positions, the input size is fixed, and nothing is
    known of the way from the last block to the logits, which is refused with UnsupportedError.
    """

    title: Text
    of: tuple[type[nn.Module], ...]
    """Classes of this family's models, subclasses included"""
    attends_by: type[nn.Module] | tuple[type[nn.Module], ...] = ()
    """Parts that compute attention, without which a module is not of this family; () where all have attention"""
    shows_stream: bool = True
    """False where only the attention of single blocks is stated, and nothing of what flows between them"""
    shows_tokens: bool = True
    """False where the sums that blocks end with are not the tokens that flow between them"""
    joins_halves: bool = False
    """True where the image's vector is the class token's beside the patches' mean, each half as wide as a token"""
    names_of_timm: bool = True
    """False for modules of other libraries, whose parts have other names than timm's"""

    @property
    def parts(self) -> tuple[Part, ...]:
        """Parts of a pass that can be shown."""
        return tuple(part for part in PARTS if part != "stream" or self.shows_stream)

    @property
    def key(self) -> str:
        """Name of the family's file in `models/families`."""
        modules = (kind.__module__ for kind in type(self).__mro__)
        return next(module.rpartition(".")[2] for module in modules if ".families." in module)

    def no_stream(self, name: str | Text) -> Text:
        """Refuse a view across blocks for a model of this name, where `shows_stream` is False."""
        return ONLY_ATTENTION.format(model=name, family=self.title)

    def attends(self, module: nn.Module) -> bool:
        """Return True where a module of one of the classes has attention to show."""
        return self.attends_by == () or any(isinstance(part, self.attends_by) for part in module.modules())

    def prefix_tokens(self, module: nn.Module) -> tuple[str, ...]:
        """Name the prefix tokens in order: "cls", "dist", "reg1", ..."""
        names = [name for name in ("cls", "dist") if getattr(module, f"{name}_token", None) is not None]
        registers = getattr(module, "num_prefix_tokens", len(names)) - len(names)
        return (*names, *(f"reg{n}" for n in range(1, registers + 1)))

    def renewed_tokens(self, module: nn.Module) -> tuple[int, ...]:
        """Return the places of the prefix tokens that every block but the first replaces, losing the earlier value."""
        return ()

    @abstractmethod
    def blocks(self, module: nn.Module, input_size: tuple[int, int]) -> tuple[BlockSite, ...]:
        """List all blocks in order for an input of (height, width) pixels."""

    def size_multiple(self, module: nn.Module) -> tuple[int, int] | None:
        """Return the steps of height and width under fit="native"; None where the input size is fixed."""
        return None

    def size_step(self, module: nn.Module) -> tuple[int, int] | None:
        """Return the steps of height and width at another input size; None where the module takes one size only.

        Wider than `size_multiple`: timm may have to make other tables for it, in a module of its own.
        """
        return self.size_multiple(module)

    def learned_grid(self, module: nn.Module) -> tuple[int, int] | None:
        """Return rows and columns of the learned position embedding; None where positions are not added to tokens."""
        return None

    def learned_positions(self, module: nn.Module, grid: PatchGrid) -> Float[Tensor, "patches dim"] | None:
        """Return the position embedding of each patch token, resampled to `grid` as in the forward pass."""
        return None

    def rotary_positions(self, module: nn.Module, grid: PatchGrid) -> Float[Tensor, "patches angles"] | None:
        """Return sines, then cosines, of every angle that turns queries and keys; None without rotary positions.

        Where heads or blocks differ, those of all heads and blocks.
        """
        return None

    def relative_bias(self, module: nn.Module, block: int) -> Float[Tensor, "heads row_offsets col_offsets"] | None:
        """Return a block's bias for each offset query minus key, -(size - 1) first; None without one."""
        return None

    def without_positions(self, module: nn.Module) -> tuple[tuple[Tensor, Tensor], ...]:
        """Return the tensors that hold positions, each with a neutral replacement; empty if none is known.

        Windows, merging and the padding of convolutions know places too and cannot be taken away.
        """
        return ()

    def shuffled_positions(self, module: nn.Module, order: Int[Tensor, " patches"]) -> tuple[Tensor, Tensor] | None:
        """Return the position embedding and a copy with the patches' rows in another order; None without one."""
        return None

    def temperature(self, module: nn.Module, block: int) -> Float[Tensor, " heads"] | None:
        """Return a block's factors of the cosine of query and key; None where scores are q . k / sqrt(head dim)."""
        return None

    def readings(self, module: nn.Module) -> tuple[Reading, ...]:
        """List the poolings that `read_out` can use for this module, its own among them; () if there is no stream."""
        return ()

    def own_reading(self, module: nn.Module) -> Reading:
        """Return the module's own pooling; "own" where it is none of the named ones."""
        return "own"

    def final_norm(self, module: nn.Module, tokens: Float[Tensor, "batch tokens dim"]) -> Tensor:
        """Apply the norm before the classifier to each token, whether the module pools before or after it."""
        raise self._not_stated(module)

    def embedding(self, module: nn.Module, tokens: Float[Tensor, "batch tokens dim"]) -> Float[Tensor, "batch dim"]:
        """Compute the pooled feature that the classifier reads, from the last residual stream."""
        raise self._not_stated(module)

    def read_each(self, module: nn.Module, tokens: Float[Tensor, "batch tokens dim"]) -> Tensor:
        """Compute logits (batch, tokens, classes) of each token on its own: final norm and classifier, no pooling."""
        raise self._not_stated(module)

    def read_out(self, module: nn.Module, tokens: Float[Tensor, "batch tokens dim"], reading: Reading) -> Tensor:
        """Compute logits (batch, classes) from the last residual stream: final norm, pooling, classifier.

        "cls" and "dist" read that token, "mean" the patches' mean, "own" as the module does it, so that the last
        block's residual gives the module's own output bit for bit. Norm and pooling keep the module's order. Without
        a classifier these are the features it would read.
        """
        raise self._not_stated(module)

    def _not_stated(self, module: nn.Module) -> UnsupportedError:
        return UnsupportedError(self.no_stream(type(module).__name__))


def with_tokens(family: ModelFamily, *names: str, renewed: bool = False) -> ModelFamily:
    """Extend a family to modules with tokens of these names inserted behind the prefix tokens.

    The inserted tokens leave the sequence after the last block, so that norm, pooling and classifier never see them.
    They are `renewed` if every block but the first replaces them.
    """
    kind: Any = type(family)  # a base class that is known only at run time

    class Grown(kind):
        def prefix_tokens(self, module: nn.Module) -> tuple[str, ...]:
            return *super().prefix_tokens(module), *names

        def renewed_tokens(self, module: nn.Module) -> tuple[int, ...]:
            first = len(super().prefix_tokens(module))
            return tuple(range(first, first + len(names))) if renewed else super().renewed_tokens(module)

        def embedding(
            self, module: nn.Module, tokens: Float[Tensor, "batch tokens dim"]
        ) -> Float[Tensor, "batch features"]:
            known = without_tokens(tokens, len(super().prefix_tokens(module)), len(names))
            return super().embedding(module, known)

        def read_out(
            self, module: nn.Module, tokens: Float[Tensor, "batch tokens dim"], reading: Reading
        ) -> Float[Tensor, "batch classes"]:
            if reading == "own":
                tokens = without_tokens(tokens, len(super().prefix_tokens(module)), len(names))
            return super().read_out(module, tokens, reading)

    return Grown()


def without_tokens(tokens: Float[Tensor, "batch tokens dim"], at: int, count: int) -> Float[Tensor, "batch kept dim"]:
    """Remove `count` tokens from index `at` on."""
    return torch.cat([tokens[:, :at], tokens[:, at + count :]], dim=1)
