"""95 % interval of one run's metric, for other validation images of the same kind.

An accuracy has Wilson's score interval (Wilson 1927, JASA 22:209; recommended by Brown, Cai & DasGupta 2001, section
3.1.1), a root mean squared error the bootstrap's percentile interval over images. It misleads where two runs are
compared: their intervals may overlap although one run is ahead on the same images, see `bootstrap.py`.
"""

from __future__ import annotations

import numpy as np

from vitexplorer.finetune.results.bootstrap import DRAWS, LEVEL, drawn_means
from vitexplorer.finetune.results.metrics import losses_of_images
from vitexplorer.storage.dataset import Task


def metric_interval(
    task: Task, outputs: np.ndarray, targets: np.ndarray, *, draws: int = DRAWS, seed: int = 0
) -> tuple[float, float]:
    """Compute the interval (low, high) of the accuracy or the root mean squared error; NaN for the error of one image.

    Args:
        task: classification or regression.
        outputs: probabilities (images, classes), or predicted numbers (images,).
        targets: indices of classes, or numbers, (images,).
        draws: draws of the bootstrap.
        seed: seed of the draws.
    """
    losses = losses_of_images(task, outputs, targets)
    if task == "classification":
        from scipy.stats import binomtest  # imported late, so that the page opens sooner

        interval = binomtest(int((losses == 0).sum()), len(losses)).proportion_ci(LEVEL, "wilson")
        return float(interval.low), float(interval.high)
    if len(losses) == 1:
        return float("nan"), float("nan")
    errors = np.sqrt(drawn_means(losses[None], draws, seed)[0])
    low, high = np.quantile(errors, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)
