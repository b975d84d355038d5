"""Slow twin of the colours of a network's tokens."""

from __future__ import annotations

import numpy as np


def colours_of_stage(stage: list[np.ndarray]) -> np.ndarray:
    """Compute the colours of a stage's streams, each (patches, dim), from the definition."""
    rows = []
    for tokens in stage:
        centred = tokens - tokens.mean(0, keepdims=True)
        rows.append(centred / np.sqrt(np.mean(np.square(centred))))
    stacked = np.concatenate(rows)
    _, _, directions = np.linalg.svd(stacked - stacked.mean(0), full_matrices=False)
    colours = []
    for direction in directions[:3]:
        direction = direction * np.sign(direction[np.abs(direction).argmax()])
        scores = (stacked - stacked.mean(0)) @ direction
        low, high = np.percentile(scores, 1), np.percentile(scores, 99)
        colours.append(np.clip((scores - low) / (high - low), 0, 1))
    return np.stack(colours, -1)
