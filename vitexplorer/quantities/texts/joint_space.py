"""The joint space of images and texts: single tokens brought there as the pooled feature is.

P is the final norm, then the projection of a CLIP (Radford et al. 2021, arXiv 2103.00020). A SigLIP has no class token:
its pooling head reads one token alone, where the softmax over tokens is 1 (Zhai et al. 2023, arXiv 2303.15343, has the
head; reading single tokens with it is ours). In a dino.txt the vectors of images and texts have two halves, the class
token's and the patches' (Jose et al. 2024, arXiv 2412.16334), and P is half as wide. A model without a joint space
keeps the features that its classifier reads, so that vectors of the same width can be compared with them.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from vitexplorer.capturing.capture import Capture
from vitexplorer.controls.explained import TextVector


def pools_by_attention(capture: Capture) -> bool:
    """Return True for a model whose pooling head attends to its tokens, as SigLIP's does."""
    return getattr(capture.model.module, "attn_pool", None) is not None


def project(capture: Capture, tokens: Float[Tensor, "tokens dim"]) -> Float[Tensor, "tokens joint"]:
    """Bring tokens of the last residual stream into the joint space, each on its own."""
    family, module = capture.model.family, capture.model.module
    if pools_by_attention(capture):
        if capture.model.projects or not capture.model.num_classes:
            return family.read_out(module, tokens[:, None], "own")
        return family.embedding(module, tokens[:, None])
    read = family.read_each if capture.model.projects else family.final_norm
    return read(module, tokens[None])[0]


def vectors_of(capture: Capture, texts: Sequence[TextVector]) -> Float[Tensor, "texts joint"]:
    """Return the texts' vectors on the capture's device."""
    return torch.stack([torch.from_numpy(text.vector) for text in texts]).to(capture.input.tensor.device)


def patch_part(
    capture: Capture, vectors: Float[Tensor, "*texts joint"], *, wrong: bool = False
) -> Float[Tensor, "*texts width"]:
    """Return the part of texts' vectors that patches are compared with: in a dino.txt the second half, else all.

    `wrong` returns a dino.txt's other half, the class token's.
    """
    return vectors.chunk(2, -1)[0 if wrong else 1] if capture.model.family.joins_halves else vectors
