"""Maps of several texts beside each other: what all have in common is taken away, and the largest number wins a patch.

CLIP Surgery compares S_it = w_t f_i t - mean over the texts of it, w_t how likely text t is for the whole image (Li et
al. 2023, arXiv 2304.05653); text decomposition takes away the mean over the texts (Gandelsman et al. 2024, arXiv
2310.05916). Other methods compare their maps as they are.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from vitexplorer.capturing.capture import Capture
from vitexplorer.controls.explained import TextVector
from vitexplorer.quantities.texts.joint_space import vectors_of
from vitexplorer.quantities.texts.methods import METHODS, text_maps

SURGERY_FACTOR = 2.0
"""Factor of the cosines of the whole image in CLIP Surgery"""


def maps_beside(
    capture: Capture,
    method: str,
    texts: Sequence[TextVector],
    beside: Sequence[TextVector],
    other: Capture | None = None,
    patches: Float[Tensor, "patches joint"] | None = None,
) -> Float[Tensor, "texts patches"]:
    """Compute the map of each text, minus the mean over the texts `beside` it where the method takes that away.

    `patches` are the `patch_vectors` if they are known already.
    Raises UnsupportedError where the method has no meaning.
    """
    maps = text_maps(capture, METHODS[method], texts, other, patches)
    if method != "text_decomposition" or len(beside) < 2:
        return maps
    common = maps if beside is texts else text_maps(capture, METHODS[method], beside, other, patches)
    return maps - common.mean(0)


def rival_scores(
    capture: Capture, method: str, texts: Sequence[TextVector], maps: Float[Tensor, "texts patches"]
) -> Float[Tensor, "texts patches"]:
    """Turn the maps of texts into the numbers of which the largest wins a patch."""
    if method == "clip_surgery":
        maps = maps * _weights(capture, texts)
    if method in ("clip_surgery", "text_decomposition"):
        maps = maps - maps.mean(0)
    return maps


def _weights(capture: Capture, texts: Sequence[TextVector]) -> Float[Tensor, "texts 1"]:
    """Return how likely each text is for the whole image, 1 on average."""
    whole = F.normalize(capture.joint_embedding, dim=-1)
    shares = (SURGERY_FACTOR * vectors_of(capture, texts) @ whole).softmax(0)
    return (shares / shares.mean())[:, None]
