"""What timm does not tell of an architecture: a family says where attention happens and which token lies where.

A new family is one file in `models/families` that defines one of these.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from vitexplorer.core.capture_protocol import only_attention
from vitexplorer.core.text import Text
from vitexplorer.core.types import BlockSite, PatchGrid, Reading


class ModelFamily(ABC):
    """What timm does not tell of an architecture: where attention happens and which token lies where."""

    key: str
    title: Text
    of: tuple[type[nn.Module], ...]
    """the classes whose models, those of their own subclasses included, are of this family"""
    attends_by: type[nn.Module] | tuple[type[nn.Module], ...] = ()
    """parts that only some of them have, and without any of which there is no attention to show; () where all attend"""
    shows_stream: bool = True
    """False where only the attention of single blocks is stated, and nothing of what flows between them"""
    shows_tokens: bool = True
    """False where the sums that blocks end with are not the tokens that flow between them"""
    names_of_timm: bool = True
    """False for modules of others, whose parts are not called as timm calls them"""

    def no_stream(self, name: str) -> Text:
        """Why what joins blocks is refused for a model of this name where `shows_stream` is False."""
        return only_attention(name, self.title)

    def attends(self, module: nn.Module) -> bool:
        """Whether a module of one of the classes has attention to show."""
        return self.attends_by == () or any(isinstance(part, self.attends_by) for part in module.modules())

    @abstractmethod
    def prefix_tokens(self, module: nn.Module) -> tuple[str, ...]:
        """Names of the prefix tokens in order: "cls", "dist", "reg1", ..."""

    def renewed_tokens(self, module: nn.Module) -> tuple[int, ...]:
        """Places of the prefix tokens that every block but the first replaces; what the block before gave is lost."""
        return ()

    @abstractmethod
    def blocks(self, module: nn.Module, input_size: tuple[int, int]) -> tuple[BlockSite, ...]:
        """All blocks in order for an input of (height, width) pixels."""

    @abstractmethod
    def size_multiple(self, module: nn.Module) -> tuple[int, int] | None:
        """What height and width must be multiples of under fit="native"; None where the input size is fixed."""

    def size_step(self, module: nn.Module) -> tuple[int, int] | None:
        """What height and width must be multiples of at another input size; None where the module takes one only.

        Wider than `size_multiple`: timm may have to make other tables for it, in a module of its own.
        """
        return self.size_multiple(module)

    @abstractmethod
    def learned_grid(self, module: nn.Module) -> tuple[int, int] | None:
        """Rows and columns of the learned position embedding; None where positions are not added to the tokens."""

    @abstractmethod
    def learned_positions(self, module: nn.Module, grid: PatchGrid) -> Float[Tensor, "patches dim"] | None:
        """What is added to each patch token for its place, resampled to `grid` as the forward pass does it."""

    @abstractmethod
    def rotary_positions(self, module: nn.Module, grid: PatchGrid) -> Float[Tensor, "patches angles"] | None:
        """Sines, then cosines, of every angle that queries and keys are turned by; of all heads and blocks where
        they differ. None without rotary positions."""

    @abstractmethod
    def relative_bias(self, module: nn.Module, block: int) -> Float[Tensor, "heads row_offsets col_offsets"] | None:
        """What a block adds to its scores for each offset query minus key, -(size - 1) first; None if nothing."""

    def without_positions(self, module: nn.Module) -> tuple[tuple[Tensor, Tensor], ...]:
        """Tensors that tell tokens where they are, each with what tells nothing in its place; empty if none is known.

        Windows, merging and the padding of convolutions know places too and cannot be taken away.
        """
        return ()

    def shuffled_positions(self, module: nn.Module, order: Int[Tensor, " patches"]) -> tuple[Tensor, Tensor] | None:
        """The learned position embedding, and it with the patches' rows in another order; None without one."""
        return None

    def temperature(self, module: nn.Module, block: int) -> Float[Tensor, " heads"] | None:
        """What a block multiplies the cosine of query and key with; None where scores are q . k / sqrt(head dim)."""
        return None

    @abstractmethod
    def readings(self, module: nn.Module) -> tuple[Reading, ...]:
        """The ways `read_out` can read this module, its own among them."""

    @abstractmethod
    def own_reading(self, module: nn.Module) -> Reading:
        """The reading that is the module's own pooling; "own" where it is none of the others."""

    @abstractmethod
    def final_norm(self, module: nn.Module, tokens: Float[Tensor, "batch tokens dim"]) -> Tensor:
        """The norm before the classifier, applied to each token, whether the module pools before or after it."""

    @abstractmethod
    def embedding(self, module: nn.Module, tokens: Float[Tensor, "batch tokens dim"]) -> Float[Tensor, "batch dim"]:
        """The pooled feature that the classifier reads, of a residual stream that has reached the end."""

    @abstractmethod
    def read_each(self, module: nn.Module, tokens: Float[Tensor, "batch tokens dim"]) -> Tensor:
        """Logits (batch, tokens, classes) of each token on its own: final norm and classifier, no pooling."""

    @abstractmethod
    def read_out(self, module: nn.Module, tokens: Float[Tensor, "batch tokens dim"], reading: Reading) -> Tensor:
        """Logits (batch, classes) of a residual stream that has reached the end: final norm, pooling, classifier.

        "cls" and "dist" read that token, "mean" the patches' mean, "own" as the module does it, so that the last
        block's residual gives the module's own output bit for bit. Norm and pooling keep the module's order. Without
        a classifier these are the features it would read.
        """


def with_tokens(family: ModelFamily, *names: str, renewed: bool = False) -> ModelFamily:
    """What a family says of a module into whose sequence tokens were put behind its prefix tokens.

    They leave the sequence where the last block ends, so that the module's own norm, pooling and classifier never meet
    them. `renewed`: every block but the first replaces them.
    """
    kind: Any = type(family)  # which of them is known only here

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
    """The sequence without the `count` tokens from index `at` on."""
    return torch.cat([tokens[:, :at], tokens[:, at + count :]], dim=1)
