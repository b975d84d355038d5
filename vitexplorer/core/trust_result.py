"""Record of the result of the view `trust`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vitexplorer.core.types import EvaluationResult, MethodsResult


@dataclass(frozen=True, kw_only=True)
class TrustResult(EvaluationResult):
    """Known quality of methods, beside their maps of this image and the areas under its curves."""

    here: MethodsResult
    """Measured maps of this image; random order is last"""

    @property
    def gains(self) -> np.ndarray:
        """(methods of `here`,) area between the curves of insertion and deletion, large for a map that is right."""
        areas = dict(zip(self.here.curves, self.here.areas.T, strict=True))
        return areas["insertion"] - areas["deletion"]
