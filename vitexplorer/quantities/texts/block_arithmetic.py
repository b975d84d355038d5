"""One block of a capture taken apart: its stream, queries, keys and values, and its layers applied to other numbers."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn

from vitexplorer.capturing.capture import Capture
from vitexplorer.core.text import Text, UnsupportedError
from vitexplorer.models.anatomy import block_parts

_OTHER_BLOCK = Text(
    "In {model} a block is not attention, then an MLP, each added to the tokens after a norm, so this method has no "
    "meaning for it.",
    "{model} 的块不是“归一化、注意力、相加，再归一化、MLP、相加”的结构，因此该方法对它没有意义。",
)


def no_plain_blocks(capture: Capture) -> Text | None:
    """Refuse models whose blocks are windowed, gated, or no attention and MLP that are added after their norms."""
    reason = _OTHER_BLOCK.format(model=capture.model.title)
    module = capture.model.module
    for number, site in enumerate(capture.sites):
        try:
            parts, call = block_parts(module, site.name), capture.call(number)
        except UnsupportedError:
            return reason
        is_whole = site.windows is None and site.layout is None and site.arrange is None and not site.heads_apart
        is_gated = getattr(module.get_submodule(site.name).attn, "gate", None) is not None
        if not (is_whole and parts.norm_first) or is_gated or call.scores is not None or call.value is None:
            return reason
    return None


def has_inner_norm(capture: Capture) -> bool:
    """Return True for a model that normalises its joined heads before the output projection."""
    return any(not isinstance(BlockArithmetic(capture, n).inner_norm, nn.Identity) for n in range(capture.depth))


class BlockArithmetic:
    """One block with the numbers of a capture, prefix tokens first; for captures that `no_plain_blocks` takes."""

    def __init__(self, capture: Capture, block: int):
        self.stream: Float[Tensor, "tokens dim"] = capture.residual(block)
        """Residual stream that enters the block"""
        call = capture.call(block)
        self.query: Float[Tensor, "heads tokens head_dim"] = call.query[0]
        self.key: Float[Tensor, "heads tokens head_dim"] = call.key[0]
        self.value: Float[Tensor, "heads tokens head_dim"] = call.value[0]
        self.scale = call.scale
        self._part = capture.model.module.get_submodule(capture.site(block).name)

    def attended(self, weights: Float[Tensor, "heads tokens tokens"]) -> Float[Tensor, "tokens dim"]:
        """Return what the attention branch would add with these weights."""
        return self.projected(weights @ self.value)

    def projected(self, heads: Float[Tensor, "heads tokens head_dim"]) -> Float[Tensor, "tokens dim"]:
        """Send the heads' outputs through the output projection, with the norm before and the scale after it."""
        attention = self._part.attn
        return self._scaled(attention.proj(self.inner_norm(joined(heads))), 1)

    def plus_mlp(self, tokens: Float[Tensor, "tokens dim"]) -> Float[Tensor, "tokens dim"]:
        """Add the MLP's branch to tokens."""
        return tokens + self._scaled(self._part.mlp(self._part.norm2(tokens)), 2)

    def same(self, vectors: Float[Tensor, "heads tokens head_dim"], bias: Tensor | float = 0.0) -> Tensor:
        """Return the attention of vectors to themselves: softmax(scale v v^T + bias), (heads, tokens, tokens)."""
        return (vectors @ vectors.transpose(-2, -1) * self.scale + bias).softmax(-1)

    @property
    def inner_norm(self) -> nn.Module:
        """Norm of the joined heads before the output projection; an identity in most models."""
        return getattr(self._part.attn, "norm", None) or nn.Identity()

    def _scaled(self, branch: Tensor, number: int) -> Tensor:
        layer_scale, gamma = (getattr(self._part, f"{name}{number}", None) for name in ("ls", "gamma_"))
        if gamma is not None:
            return branch * gamma
        return branch if layer_scale is None else layer_scale(branch)


def joined(heads: Float[Tensor, "heads tokens head_dim"]) -> Float[Tensor, "tokens dim"]:
    """Put the heads of each token side by side."""
    return heads.transpose(0, 1).flatten(1)


def distances(rows: int, cols: int, device: torch.device) -> Float[Tensor, "patches patches"]:
    """Return the squared distance between every two patches of a grid, in patches."""
    places = torch.cartesian_prod(torch.arange(rows), torch.arange(cols)).double().to(device)
    return torch.cdist(places, places).square()
