"""Methods of scores: a number for each text and patch, from the gradient of their cosine."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from vitexplorer.capturing.capture import Capture
from vitexplorer.controls.explained import LikeText, TextVector
from vitexplorer.quantities.gradients import (
    at_outputs,
    attention_gradient,
    block_gradients,
    mean_gradient,
    reusing_graph,
)
from vitexplorer.quantities.scores import score_of_block
from vitexplorer.quantities.texts.block_arithmetic import joined

LEGRAD_BLOCKS = 2


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
