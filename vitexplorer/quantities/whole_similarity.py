"""Cosine of every patch token to the token that stands for the whole image."""

from __future__ import annotations

import numpy as np
import torch
from jaxtyping import Float

from vitexplorer.capturing.capture import Capture


def whole_similarity(capture: Capture, block: int) -> Float[np.ndarray, " patches"]:
    """Compute the cosine of each patch token after a block to the class token, or to the mean over patches."""
    tokens, names = capture.residual_after(block).double(), capture.prefix_tokens
    patches = tokens[len(names) :]
    whole = tokens[names.index("cls")] if "cls" in names else patches.mean(0)
    return torch.cosine_similarity(patches, whole[None]).cpu().numpy()
