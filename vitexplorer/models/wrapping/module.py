"""Any module as one of this program: under its own names, called with images alone, answering with one tensor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jaxtyping import Float
from torch import Tensor, nn

from vitexplorer.core.types import BlockSite, Reading

_FEATURES = ("image_embeds", "pooler_output", "last_hidden_state")
"""what transformers calls the answer of a model without a classifier, the nearest to one first"""


@dataclass(frozen=True)
class Ending:
    """How the tokens that leave the last block become the answer, tried on the answer itself."""

    norm: str
    """the last norm; empty where there is none"""
    classifier: str
    """empty where the pooled feature is the answer"""
    reading: Reading
    pools_first: bool
    """whether the norm comes after pooling"""


@dataclass(frozen=True)
class Found:
    """What is known of a wrapped module."""

    sites: tuple[BlockSite, ...]
    input_size: tuple[int, int]
    prefix_tokens: tuple[str, ...]
    width: int
    """of a token"""
    num_classes: int
    cuts_pixels: bool
    """whether one convolution makes each token of its own patch"""
    is_columnar: bool
    """whether what blocks read and give has the axes (batch, tokens, dim) or (tokens, batch, dim)"""
    gives_sums: bool
    """whether a block gives its last sum, or the norm of it, and the next one reads that"""
    own_reading: Reading
    ending: Ending | None
    """None where it is none of the usual ones"""


class WrappedModule(nn.Module):
    """Shares the parts of a module, so that they keep their names, and lets it run as it is."""

    found: Found

    def __init__(self, module: nn.Module, num_prefix_tokens: int):
        super().__init__()
        self._modules, self._parameters, self._buffers = module._modules, module._parameters, module._buffers
        self.__dict__["wrapped"] = module  # registered it would be one more part
        self._num_prefix_tokens = num_prefix_tokens

    def forward(self, images: Float[Tensor, "batch channels height width"]) -> Tensor:
        """Logits, or pooled features of a module that answers with none: of tokens the first or their mean."""
        said = answer(self.__dict__["wrapped"](images))
        if said.ndim == 3:
            return said[:, 0] if self._num_prefix_tokens else said.mean(1)
        return said

    @property
    def num_classes(self) -> int:
        """Outputs of the classifier, 0 where there is none."""
        return self.found.num_classes

    @property
    def num_features(self) -> int:
        """Width of a token that the last norm reads."""
        return self.found.width

    def part(self, name: str) -> nn.Module:
        """A part by name; one that does nothing for the empty name."""
        return self.get_submodule(name) if name else nn.Identity()


def answer(output: Any) -> Tensor:
    """The tensor that a module answers with: itself, the logits or features by name, or the first of several.

    Raises TypeError where there is none.
    """
    if isinstance(output, Tensor):
        return output
    if isinstance(output, Mapping):
        named = [output[name] for name in ("logits", *_FEATURES) if output.get(name) is not None]
        return answer(named[0] if named else next(iter(output.values()), None))
    if isinstance(output, tuple | list) and output:
        return answer(output[0])
    raise TypeError(type(output).__name__)
