"""Distance of one token between two runs of an image: a changed run and the plain one, a tuned model and its base."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from vitexplorer.capturing.capture import Capture
from vitexplorer.core.types import Query


def pooled_after(capture: Capture, block: int, token: Query) -> Float[Tensor, " dim"]:
    """Return a prefix token after a block, or the mean over its patches."""
    stream = capture.residual_after(block)
    if token == "mean":
        return stream[len(capture.prefix_tokens) :].mean(0)
    return stream[capture.prefix_tokens.index(token)]


def token_cosines(before: Capture, after: Capture, token: Query) -> Float[np.ndarray, " blocks"]:
    """Compute the cosine of one token in the two runs after each block."""
    pairs = [(pooled_after(before, block, token), pooled_after(after, block, token)) for block in range(before.depth)]
    return torch.stack([F.cosine_similarity(one, other, dim=0) for one, other in pairs]).double().cpu().numpy()
