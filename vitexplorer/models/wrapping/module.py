"""Adapter for any module: keeps its names of parts, takes images alone, and returns one tensor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jaxtyping import Float
from torch import Tensor, nn

from vitexplorer.core.types import BlockSite, Reading

_FEATURES = ("image_embeds", "pooler_output", "last_hidden_state")
"""Outputs of transformers' models without a classifier, in order of preference"""


@dataclass(frozen=True)
class Ending:
    """Computation of the output from the tokens of the last block, verified on the output itself."""

    norm: str
    """Name of the last norm; empty without one"""
    classifier: str
    """Name of the classifier; empty if the pooled feature is the output"""
    reading: Reading
    pools_first: bool
    """True if the norm comes after pooling"""


@dataclass(frozen=True)
class ModuleFacts:
    """Facts of a wrapped module, found by running it."""

    sites: tuple[BlockSite, ...]
    input_size: tuple[int, int]
    prefix_tokens: tuple[str, ...]
    width: int
    """Numbers per token"""
    num_classes: int
    cuts_pixels: bool
    """True if one convolution computes each token from its own patch"""
    is_columnar: bool
    """True if inputs and outputs of blocks have the axes (batch, tokens, dim) or (tokens, batch, dim)"""
    gives_sums: bool
    """True if a block outputs its last sum, or the norm of it, and the next block reads that"""
    own_reading: Reading
    ending: Ending | None
    """None if no usual computation gives the output"""


class WrappedModule(nn.Module):
    """Module that shares the parts of another, so that they keep their names, and runs it unchanged."""

    facts: ModuleFacts

    def __init__(self, module: nn.Module, num_prefix_tokens: int):
        super().__init__()
        self._modules = module._modules
        self._parameters = module._parameters
        self._buffers = module._buffers
        self.__dict__["wrapped"] = module  # not registered, or it would be one more part
        self._num_prefix_tokens = num_prefix_tokens

    def forward(self, images: Float[Tensor, "batch channels height width"]) -> Tensor:
        """Compute the logits or, without a classifier, pooled features; of tokens take the first or the mean."""
        output = output_tensor(self.__dict__["wrapped"](images))
        if output.ndim == 3:
            return output[:, 0] if self._num_prefix_tokens else output.mean(1)
        return output

    @property
    def num_classes(self) -> int:
        """Number of outputs of the classifier, 0 without one."""
        return self.facts.num_classes

    @property
    def num_features(self) -> int:
        """Width of a token that the last norm reads."""
        return self.facts.width

    def part(self, name: str) -> nn.Module:
        """Return a part by name; the identity for the empty name."""
        return self.get_submodule(name) if name else nn.Identity()


def output_tensor(output: Any) -> Tensor:
    """Return the tensor in a module's output: itself, the logits or features by name, or the first of several.

    Raises:
        TypeError: there is none.
    """
    if isinstance(output, Tensor):
        return output
    if isinstance(output, Mapping):
        named = [output[name] for name in ("logits", *_FEATURES) if output.get(name) is not None]
        return output_tensor(named[0] if named else next(iter(output.values()), None))
    if isinstance(output, tuple | list) and output:
        return output_tensor(output[0])
    raise TypeError(type(output).__name__)
