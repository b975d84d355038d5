"""Patches that a changed run hides from all other tokens, as a masked autoencoder hides them from its encoder.

For the tokens that remain the pass is that of He et al. 2021 (arXiv 2111.06377), whose encoder gets the visible patches
alone: nothing reads the others.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool

from vitexplorer.capturing.capture import Capture


def hidden_patches(capture: Capture) -> Bool[np.ndarray, " patches"]:
    """Return the patches that no other token attends to in the first block; none in a run without a change."""
    grid, prefix = capture.grid(0), len(capture.prefix_tokens)
    if capture.change is None or capture.site(0).windows is not None or capture.site(0).layout is not None:
        return np.zeros(grid.num_patches, dtype=bool)
    weights = capture.call(0).weights()[0].sum(0)
    read_by_others = weights.sum(0) - weights.diagonal()
    return (read_by_others[prefix : prefix + grid.num_patches] == 0).cpu().numpy()
