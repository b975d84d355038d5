"""Grounds: a field of 0-1 over the scene that mixes two colours, built from smooth noise and soft patterns.

Everything is a function of the place in the scene (0-1), not of pixels: a scene has the same content at every size.
"""

from __future__ import annotations

from functools import lru_cache

import cv2
import numpy as np


@lru_cache(maxsize=8)
def places(size: int) -> tuple[np.ndarray, np.ndarray]:
    """Compute x and y of the pixel centres, 0-1, each (size, size)."""
    centre = ((np.arange(size) + 0.5) / size).astype(np.float32)
    return np.broadcast_to(centre[None], (size, size)), np.broadcast_to(centre[:, None], (size, size))


def noise(rng: np.random.Generator, cells: int, size: int) -> np.ndarray:
    """Draw smooth noise, (size, size), of about unit variance with `cells` bumps across."""
    return cv2.resize(rng.standard_normal((cells, cells), np.float32), (size, size), interpolation=cv2.INTER_CUBIC)


def _clouds(rng: np.random.Generator, size: int) -> np.ndarray:
    return 0.6 * noise(rng, 4, size) + 0.4 * noise(rng, 11, size) + 0.25 * noise(rng, 28, size)


def _phase(rng: np.random.Generator, size: int, low: float, high: float) -> np.ndarray:
    """Draw the phase of a plane wave with `low` to `high` periods across, slightly bent."""
    x, y = places(size)
    angle, periods = rng.uniform(0, np.pi), rng.uniform(low, high)
    kx, ky = 2 * np.pi * periods * np.cos(angle), 2 * np.pi * periods * np.sin(angle)
    return kx * x + ky * y + rng.uniform(0, 0.9) * noise(rng, 4, size)


def _stripes(rng: np.random.Generator, size: int) -> np.ndarray:
    return np.clip(rng.uniform(1, 3) * np.sin(_phase(rng, size, 3, 13)), -1, 1)


def _checks(rng: np.random.Generator, size: int) -> np.ndarray:
    product = np.sin(_phase(rng, size, 2, 7)) * np.sin(_phase(rng, size, 2, 7))
    return np.clip(rng.uniform(1.5, 5) * product, -1, 1)


def _ripples(rng: np.random.Generator, size: int) -> np.ndarray:
    x, y = places(size)
    distance = np.sqrt((x - rng.uniform(-0.4, 1.4)) ** 2 + (y - rng.uniform(-0.4, 1.4)) ** 2)
    return np.sin(2 * np.pi * rng.uniform(3, 12) * distance + rng.uniform(0.2, 2.0) * noise(rng, 4, size))


def _grain(rng: np.random.Generator, size: int) -> np.ndarray:
    return 0.5 * noise(rng, 40, size) + 0.4 * noise(rng, 80, size)


_PATTERNS = (_clouds, _stripes, _checks, _ripples, _grain)


def ground_field(rng: np.random.Generator, size: int) -> np.ndarray:
    """Draw a field, (size, size) float, mostly 0-1: a slow gradient, a pattern and clouds over it."""
    x, y = places(size)
    angle = rng.uniform(0, 2 * np.pi)
    slow = np.float32(np.cos(angle)) * (x - 0.5) + np.float32(np.sin(angle)) * (y - 0.5)
    pattern = _PATTERNS[rng.integers(len(_PATTERNS))](rng, size)
    share = np.float32(rng.uniform(0.1, 0.38))
    return 0.5 + np.float32(rng.uniform(0.2, 0.8)) * slow + share * pattern + np.float32(0.1) * noise(rng, 9, size)
