"""Learning rate schedule: a linear warm-up, then half a cosine down to zero.

Loshchilov & Hutter 2017, arXiv 1608.03983, without restarts. A function of the step alone, so that a resumed run has
nothing to restore.
"""

from __future__ import annotations

import math


def rate_at(step: int, steps: int, warmup: float) -> float:
    """Return the share of the peak rate, 0-1, at step `step` of `steps`, counted from 0.

    The first `warmup * steps` steps (rounded) rise to 1; the cosine reaches 0 one step after the last.
    """
    rising = round(warmup * steps)
    if step < rising:
        return (step + 1) / rising
    return 0.5 * (1 + math.cos(math.pi * (step - rising) / max(1, steps - rising)))
