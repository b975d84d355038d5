"""Records of the view `network`, the whole forward pass of one image in one figure, and of two beside each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from vitexplorer.core.text import Text
from vitexplorer.core.types import Answer, PatchGrid, Query, Result


class Links(NamedTuple):
    """The strongest entries of a query's row of attention in one block, strongest first, heads apart."""

    tokens: np.ndarray
    """Int (heads, links): index of each key in the sequence, prefix tokens first, then the patches of the key grid"""
    weights: np.ndarray
    """(heads, links) attention weights, 0-1"""


class LensAnswer(NamedTuple):
    """The likeliest class of one block's tokens, read as the model reads its last ones."""

    index: int
    value: float
    """Probability, 0-1; of a model with one output the output in its own unit"""


@dataclass(frozen=True, kw_only=True)
class NetworkResult(Result):
    """The pass as one figure; values (blocks + 1, patches, 3) are colours in 0-1, red, green, blue.

    Row 0 holds the patch tokens that enter the first block, row b + 1 those that leave block b. Rows of blocks with
    fewer patches than the first end with NaN.
    """

    query: Query
    queries: tuple[Query, ...]
    """The query in each block: a patch at the same place of its grid"""
    grids: tuple[PatchGrid, ...]
    """Patch grid of each row of `values`"""
    key_grids: tuple[PatchGrid, ...]
    """Grid in which each block's links lie"""
    prefix_names: tuple[str, ...]
    links: tuple[Links, ...]
    """Links of each block; none in a block where the query's token asks for nothing"""
    heads: tuple[np.ndarray, ...]
    """(heads, rows, cols) of each block's key grid: attention of the query in each head; 0 where it asks for nothing"""
    rest: np.ndarray
    """(blocks, heads) share of the query's attention beyond the links; NaN for heads that a block does not have"""
    windows: tuple[tuple[int, int, int, int] | None, ...]
    """Top, left, height and width in cells of the window that the query sees in each block; None for all patches"""
    lens: tuple[LensAnswer | None, ...] | None
    """Answer after each block; None in blocks of another width than the classifier's, and without a classifier"""
    attention_adds: np.ndarray | None
    """(blocks,) contribution of each block's attention to the target's logit; None where the logit is no such sum"""
    mlp_adds: np.ndarray | None
    """(blocks,) the same of the MLPs; zero where both branches are added at once, which then counts as attention's"""
    start: float | None
    """Contribution of the tokens that enter the first block"""
    bias: float | None
    """Contribution of the biases of the last norm and the classifier"""
    similarity: np.ndarray | None
    """(blocks, patches) without a classifier: cosine of each patch to the class token, or to the mean over patches"""
    top: tuple[Answer, ...]
    """Likeliest classes of the model's answer, or the one output; empty without a classifier"""
    class_names: tuple[Text, ...]
    image: np.ndarray
    """(height, width, 3) uint8: the pixels that the model saw"""
    hidden: np.ndarray
    """(patches,) bool: patches of the first grid that no other token reads, in a changed run; their colours are NaN"""


@dataclass(frozen=True, kw_only=True)
class NetworkPairResult(Result):
    """Two passes; values (sides, blocks + 1, patches, 3) are the colours of both, shorter rows filled with NaN."""

    passes: tuple[NetworkResult, NetworkResult]
    """Left and right, each for its own answer, with the token at the same place followed"""
    names: tuple[Text, Text]
    agree: tuple[bool | None, ...] | None
    """True for each block of the left after which the answer is that of the right at the same share of its depth

    None for a block that cannot be read on both sides, and where not both have a choice of classes.
    """
