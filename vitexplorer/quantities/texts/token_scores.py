"""Methods of scores: a number for each text and patch, from what the patch adds to the answer or from gradients."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from vitexplorer.capturing.capture import Capture
from vitexplorer.controls.explained import LikeText, TextVector
from vitexplorer.quantities.frozen_norm import frozen_at
from vitexplorer.quantities.gradients import (
    at_outputs,
    attention_gradient,
    block_gradients,
    mean_gradient,
    reusing_graph,
)
from vitexplorer.quantities.scores import score_of_block
from vitexplorer.quantities.texts.block_arithmetic import BlockArithmetic, joined
from vitexplorer.quantities.texts.joint_space import vectors_of

LEGRAD_BLOCKS = 2


def text_decomposition(capture: Capture, texts: Sequence[TextVector]) -> Float[Tensor, "texts patches"]:
    """Share of the class token's answer; Gandelsman et al. 2024, arXiv 2310.05916.

    A_cls,i W_o v_i of every block and head, through the final norm with its scale held and the projection, dot t. The
    bias of W_o is shared by the heads alike. The views take away the mean over several texts.
    """
    family, module, prefix = capture.model.family, capture.model.module, len(capture.prefix_tokens)
    token, blocks = capture.prefix_tokens.index("cls"), range(capture.depth)
    with torch.no_grad():
        added = sum(_shares_of_patches(capture, block, token)[prefix:] for block in blocks)
        read = family.read_each if capture.model.projects else family.final_norm
        last = capture.residual_after(capture.depth - 1)[None, token : token + 1]
        frozen = frozen_at(lambda tokens: read(module, tokens), last)
        return vectors_of(capture, texts).double() @ (frozen(added[None]) - frozen(torch.zeros_like(last)))[0].T


def _shares_of_patches(capture: Capture, number: int, token: int) -> Float[Tensor, "tokens dim"]:
    """Return the part of a token's attention branch that comes from each token; they sum to the branch."""
    block = BlockArithmetic(capture, number)
    shares = capture.call(number).weights(slice(token, token + 1))[0, :, 0, :, None]
    bias = block.projected(torch.zeros_like(block.value[:, :1]))
    return block.projected(shares * block.value) - bias + shares.mean(0) * bias


def bimodal(capture: Capture, texts: Sequence[TextVector]) -> Float[Tensor, "texts patches"]:
    """Class row of relu(dA * A) of the last block (Chefer et al. 2021, arXiv 2103.15679)."""
    capture, last, token = reusing_graph(capture), capture.depth - 1, capture.prefix_tokens.index("cls")
    call, rows = capture.call(last), slice(token, token + 1)
    maps = []
    for text in texts:
        slopes = attention_gradient(call, at_outputs(capture, LikeText(text), "plain")[last], rows)
        maps.append((slopes * call.weights(rows)).relu().mean(1)[0, 0])  # the identity adds to the class token alone
    return torch.stack(maps)[:, len(capture.prefix_tokens) :]


def legrad(capture: Capture, texts: Sequence[TextVector]) -> Float[Tensor, "texts patches"]:
    """relu(ds/dA) of the last two blocks, each with its own score (Bousselham et al. 2024, arXiv 2404.03214)."""
    capture, first = reusing_graph(capture), max(0, capture.depth - LEGRAD_BLOCKS)
    maps = []
    for text in texts:
        slopes = enumerate(block_gradients(capture, partial(score_of_block, capture, LikeText(text))))
        maps.append(
            sum(mean_gradient(capture.call(block), slope, "positive") for block, slope in slopes if block >= first)
        )
    return torch.stack(maps)[:, len(capture.prefix_tokens) :]


def grad_eclip(capture: Capture, texts: Sequence[TextVector]) -> Float[Tensor, "texts patches"]:
    """relu(sum_c g_c v_ic m_i), m_i how like the class query the key is (Zhao et al. 2025, arXiv 2502.18816)."""
    capture, last, prefix = reusing_graph(capture), capture.depth - 1, len(capture.prefix_tokens)
    token, call = capture.prefix_tokens.index("cls"), capture.call(last)
    query, key, value = (joined(part[0]) for part in (call.query, call.key, call.value))
    alike = F.cosine_similarity(query[token, None], key[prefix:], dim=-1)
    span = alike.max() - alike.min()
    nearness = (alike - alike.min()) / torch.where(span > 0, span, 1)
    maps = []
    for text in texts:
        slopes = joined(at_outputs(capture, LikeText(text), "plain")[last][0])[token]
        maps.append(((value[prefix:] * slopes).sum(-1) * nearness).relu())
    return torch.stack(maps)
