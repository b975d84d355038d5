"""Faults that the bed of check-ups plants by code, and odd pairs that are right."""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.planted.case import Case, Fault, fed_right
from benchmarks.planted.data import DATA
from benchmarks.planted.fed import FED
from benchmarks.planted.healthy import HEALTHY
from benchmarks.planted.labels import LABELS
from benchmarks.planted.pairs import MODELS, pairs
from benchmarks.planted.training import TRAINING
from benchmarks.planted.weights import WEIGHTS

FAULTS: Mapping[str, tuple[Fault, ...]] = {**FED, **LABELS, **WEIGHTS, **TRAINING, **DATA}
"""Ways to plant each cause, mild before gross"""
TOGETHER = (
    ("wrong_normalisation", "labels_shifted"),
    ("rotated", "labels_permuted"),
    ("not_scaled", "labels_doubtful"),
    ("positions_transposed", "labels_permuted"),
    ("dead_heads", "duplicates"),
)
"""Causes that are planted together"""

BY_ANSWERS = (
    *FED,
    *LABELS,
    "head_not_loaded",
    "positions_transposed",
    "positions_badly_resampled",
    "prefix_tokens_among_patches",
    "heads_miscounted",
    "qkv_misordered",
    "scale_missing",
)
"""Causes that only answers show; the others show in weights, files or the first steps of a training"""

__all__ = ["BY_ANSWERS", "FAULTS", "HEALTHY", "MODELS", "TOGETHER", "Case", "Fault", "fed_right", "pairs"]
