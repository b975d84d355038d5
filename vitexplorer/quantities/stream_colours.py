"""Colours of the residual stream after every block: one basis of three principal components for the whole network.

In each block the patch tokens are centred over the patches and divided by their root mean square over patches and
channels, since streams grow from block to block. One PCA of all blocks together then gives one meaning to a colour
(as in Oquab et al. 2023, arXiv 2304.07193, figure 1, but over blocks); a stage of another width has a basis of its own.
"""

from __future__ import annotations

from itertools import groupby, islice

import numpy as np
from jaxtyping import Float

from vitexplorer.capturing.capture import Capture
from vitexplorer.quantities.hidden_patches import hidden_patches
from vitexplorer.quantities.principal_components import principal_components

COLOURS = 3
ENDS = (1, 99)
"""Percentiles of a component's scores that become black and full colour"""


def streams(capture: Capture) -> list[Float[np.ndarray, "_ dim"]]:
    """Return the patch tokens that enter the first block and those that leave each block; hidden patches are NaN."""
    prefix, hidden = len(capture.prefix_tokens), hidden_patches(capture)
    tokens = [capture.residual(0), *(capture.residual_after(block) for block in range(capture.depth))]
    streams = [each[prefix:].double().cpu().numpy() for each in tokens]
    return [np.where(hidden[:, None], np.nan, each) for each in streams] if hidden.any() else streams


def stream_colours(*captures: Capture) -> list[list[Float[np.ndarray, "_ 3"]]]:
    """Compute a colour in 0-1 for each patch of each of `streams`, for each capture, all in one basis.

    Several captures are of one model, see `has_one_basis`. A component that is not spanned is a half, a hidden patch
    NaN.
    """
    colours: list[list[Float[np.ndarray, "_ 3"]]] = [[] for _ in captures]
    for stages in zip(*map(stages_of, captures), strict=True):
        together = iter(_in_one_basis([tokens for stage in stages for tokens in stage]))
        for of_capture, stage in zip(colours, stages, strict=True):
            of_capture += islice(together, len(stage))
    return colours


def stages_of(capture: Capture) -> list[list[Float[np.ndarray, "_ dim"]]]:
    """Return the standardised `streams`, those of one shape together."""
    return [[*stage] for _, stage in groupby(map(standardised, streams(capture)), key=np.shape)]


def has_one_basis(one: Capture, other: Capture) -> bool:
    """Return True for two captures of one model, whose tokens share directions; other models share none."""

    def widths(capture: Capture) -> list[int]:
        return [capture.residual_after(block).shape[-1] for block in range(capture.depth)]

    return one.model.name == other.model.name and widths(one) == widths(other)


def standardised(tokens: Float[np.ndarray, "patches dim"]) -> Float[np.ndarray, "patches dim"]:
    """Centre tokens over the visible patches and divide them by their root mean square over these and channels."""
    visible = np.isfinite(tokens[:, 0])
    centred = tokens - tokens[visible].mean(0)
    scale = np.sqrt((centred[visible] ** 2).mean())
    return centred / scale if scale > 0 else centred


def _in_one_basis(stage: list[Float[np.ndarray, "_ dim"]]) -> list[Float[np.ndarray, "_ 3"]]:
    rows = np.concatenate(stage)
    visible = rows[np.isfinite(rows[:, 0])]
    components, _ = principal_components(visible, COLOURS, "covariance_eigh")
    scores = (rows - visible.mean(0)) @ components.T
    low, high = np.nanpercentile(scores, ENDS, axis=0)
    spread = high - low
    colours = np.where(np.isfinite(rows[:, :1]), 0.5, np.full((1, COLOURS), np.nan))
    shares = ((scores - low) / np.where(spread > 0, spread, 1)).clip(0, 1)
    colours[:, : len(components)] = np.where(spread > 0, shares, colours[:, :1])
    return np.split(colours, np.cumsum([len(tokens) for tokens in stage])[:-1])
