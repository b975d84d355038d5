"""Methods of features: each brings the patches into the joint space in its own way, as vectors f_i.

Notation: x the stream that enters the last block, q, k, v per head, s the scale of the scores, W_o the output
projection with its bias and LayerScale, P as in `joint_space`. Softmax runs over all tokens, prefix tokens included.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from vitexplorer.capturing.capture import Capture
from vitexplorer.core.text import Text, UnsupportedError
from vitexplorer.quantities.frozen_norm import frozen_at
from vitexplorer.quantities.texts.block_arithmetic import BlockArithmetic, distances
from vitexplorer.quantities.texts.joint_space import project

PATH = 6
"""Blocks of the second path of `clip_surgery` and `gem`"""
SIGMA = 5.0
"""Width of naclip's Gaussian in patches"""
PROXY_FACTOR, PROXY_SHIFT = 3.0, 1.2
_NO_OTHER = Text(
    "ProxyCLIP takes the attention of a second model: give other=, a capture of the same picture by that model.",
    "ProxyCLIP 使用另一个模型的注意力：请给出 other=，即该模型对同一图像的前向传播记录。",
)


def _patches(capture: Capture, tokens: Float[Tensor, "tokens dim"]) -> Float[Tensor, "patches joint"]:
    return project(capture, tokens[len(capture.prefix_tokens) :])


def _last(capture: Capture) -> BlockArithmetic:
    return BlockArithmetic(capture, capture.depth - 1)


def raw(capture: Capture, other: Capture | None) -> Float[Tensor, "patches joint"]:
    """P of the last block's output."""
    return _patches(capture, capture.residual_after(capture.depth - 1))


def maskclip(capture: Capture, other: Capture | None) -> Float[Tensor, "patches joint"]:
    """z = x + W_o v, P(z + MLP(z)): each patch with its own value (Zhou et al. 2022, arXiv 2112.01071)."""
    block = _last(capture)
    return _patches(capture, block.plus_mlp(block.stream + block.projected(block.value)))


def sclip(capture: Capture, other: Capture | None) -> Float[Tensor, "patches joint"]:
    """A = softmax(s q q^T) + softmax(s k k^T), residual and MLP kept (Wang et al. 2024, arXiv 2312.01597)."""
    block = _last(capture)
    weights = block.same(block.query) + block.same(block.key)
    return _patches(capture, block.plus_mlp(block.stream + block.attended(weights)))


def clearclip(capture: Capture, other: Capture | None) -> Float[Tensor, "patches joint"]:
    """A = softmax(s q q^T), neither residual nor MLP (Lan et al. 2024, arXiv 2407.12442)."""
    block = _last(capture)
    return _patches(capture, block.attended(block.same(block.query)))


def naclip(capture: Capture, other: Capture | None) -> Float[Tensor, "patches joint"]:
    """A = softmax(s k k^T + g), g a Gaussian of the distance, neither (Hajimiri et al. 2025, arXiv 2404.08181)."""
    block, grid, prefix = _last(capture), capture.grid(capture.depth - 1), len(capture.prefix_tokens)
    nearness = torch.exp(-distances(grid.rows, grid.cols, block.key.device) / (2 * SIGMA**2)).to(block.key.dtype)
    return _patches(capture, block.attended(block.same(block.key, F.pad(nearness, (prefix, 0, prefix, 0)))))


def _second_path(
    capture: Capture, weights: Callable[[BlockArithmetic], Float[Tensor, "heads tokens tokens"]]
) -> Float[Tensor, "patches joint"]:
    """Add the attention of the last blocks, with other weights, to the stream that enters the first of them."""
    first = max(0, capture.depth - PATH)
    stream = capture.residual(first)
    for number in range(first, capture.depth):
        block = BlockArithmetic(capture, number)
        stream = stream + block.attended(weights(block))
    return _patches(capture, stream)


def clip_surgery(capture: Capture, other: Capture | None) -> Float[Tensor, "patches joint"]:
    """W_o softmax(s v v^T) v on a second path without MLPs, v of the first (Li et al. 2023, arXiv 2304.05653)."""
    return _second_path(capture, lambda block: block.same(block.value))


def gem(capture: Capture, other: Capture | None) -> Float[Tensor, "patches joint"]:
    """Mean of q-q, k-k and v-v attention of unit vectors, on the same path; Bousselham et al. 2024, arXiv 2312.00878.

    Each attention is applied once to its own unit vectors before.
    """

    def weights(block: BlockArithmetic) -> Float[Tensor, "heads tokens tokens"]:
        sharpness = block.stream.norm(dim=-1).mean() * block.scale
        total = torch.zeros(())
        for vectors in (block.query, block.key, block.value):
            unit = F.normalize(vectors, dim=-1)
            unit = F.normalize((unit @ unit.transpose(-2, -1) * sharpness).softmax(-1) @ unit, dim=-1)
            total = total.to(unit) + (unit @ unit.transpose(-2, -1) * sharpness).softmax(-1)
        return total / 3

    return _second_path(capture, weights)


def proxyclip(capture: Capture, other: Capture | None) -> Float[Tensor, "patches joint"]:
    """A from another model's patches, neither residual nor MLP (Lan et al. 2024, arXiv 2408.04883)."""
    if other is None:
        raise UnsupportedError(_NO_OTHER)
    block, prefix = _last(capture), len(capture.prefix_tokens)
    grid, fine = capture.grid(capture.depth - 1), other.grid(other.depth - 1)
    tokens = other.residual_after(other.depth - 1)[None, len(other.prefix_tokens) :]
    unit = F.normalize(other.model.family.final_norm(other.model.module, tokens)[0], dim=-1).to(block.value)
    alike = unit @ unit.T
    scores = PROXY_FACTOR * (alike - PROXY_SHIFT * alike.mean())
    weights = scores.masked_fill(scores < 0, float("-inf")).softmax(-1)
    heads, _, dim = block.value.shape
    value = block.value[:, prefix:].transpose(1, 2).reshape(1, heads * dim, grid.rows, grid.cols)
    value = F.interpolate(value, (fine.rows, fine.cols), mode="bilinear", align_corners=False)
    value = value.reshape(heads, dim, fine.num_patches).transpose(1, 2)
    return project(capture, block.projected(weights @ value))


def text_decomposition(capture: Capture, other: Capture | None) -> Float[Tensor, "patches joint"]:
    """Part of each patch in the class token's answer, not a direction; Gandelsman et al. 2024, arXiv 2310.05916.

    A_cls,i W_o v_i of every block and head, through the final norm with its scale held and the projection. The bias of
    W_o is shared by the heads alike. The views take away the mean over several texts.
    """
    family, module, prefix = capture.model.family, capture.model.module, len(capture.prefix_tokens)
    token, blocks = capture.prefix_tokens.index("cls"), range(capture.depth)
    added = sum(_shares_of_patches(capture, block, token)[prefix:] for block in blocks)
    read = family.read_each if capture.model.projects else family.final_norm
    last = capture.residual_after(capture.depth - 1)[None, token : token + 1]
    frozen = frozen_at(lambda tokens: read(module, tokens), last)
    return (frozen(added[None]) - frozen(torch.zeros_like(last)))[0]


def _shares_of_patches(capture: Capture, number: int, token: int) -> Float[Tensor, "tokens dim"]:
    """Return the part of a token's attention branch that comes from each token; they sum to the branch."""
    block = BlockArithmetic(capture, number)
    shares = capture.call(number).weights(slice(token, token + 1))[0, :, 0, :, None]
    bias = block.projected(torch.zeros_like(block.value[:, :1]))
    return block.projected(shares * block.value) - bias + shares.mean(0) * bias
