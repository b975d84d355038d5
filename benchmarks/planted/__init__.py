"""Faults that the bed of check-ups plants by code, and odd pairs that are right."""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.planted.case import Case, Fault, fed_right
from benchmarks.planted.data import DATA
from benchmarks.planted.fed import FED
from benchmarks.planted.healthy import HEALTHY
from benchmarks.planted.labels import LABELS
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

__all__ = ["FAULTS", "HEALTHY", "TOGETHER", "Case", "Fault", "fed_right"]
