"""Refusals of views for small models, listed by hand: a wrong refusal is an error too."""

from __future__ import annotations

from tests.helpers.small_models import RECIPES

ALL = frozenset(RECIPES)
WINDOWED = frozenset({"swin", "swin_padded", "swin_s3", "swinv2", "swinv2_padded"})
NO_CLASSIFIER = frozenset({"encoder"})
NO_CLASS_TOKEN = WINDOWED | {"registers_only", "siglip", "uneven", "parallel", "rms"}
NO_FILTERS = frozenset({"hybrid", "hybrid_deep"})
"""Models whose patches come from a convolutional network"""
RELATIVE = WINDOWED | {"beit", "beitv2"}
"""Models whose positions are a bias, not an embedding"""

REFUSED: dict[str, frozenset[str]] = {
    "before_after": ALL,  # nothing is changed
    "caption": ALL,  # there is no captioner
    "activation_patching": WINDOWED,
    "causal_attention": WINDOWED,
    "mae_reconstruction": ALL,  # there is no decoder
    "faithfulness": NO_CLASSIFIER,
    "generic_relevance": WINDOWED,
    "legrad": WINDOWED,
    "logit_attribution": NO_CLASSIFIER | WINDOWED | {"perception_encoder", "siglip", "uneven"},
    "logit_lens": NO_CLASSIFIER,
    "patch_filters": NO_FILTERS,
    "patch_to_token": NO_FILTERS,
    "pooling": NO_CLASS_TOKEN,
    "position_similarity": RELATIVE,
    "relative_position_bias": ALL - RELATIVE,
    "side_by_side": NO_CLASSIFIER,
    "trust": NO_CLASSIFIER,
}


def is_refused(view: str, key: str) -> bool:
    """Return True if the view is refused for a plain run of this small model."""
    return key in REFUSED.get(view, ())
