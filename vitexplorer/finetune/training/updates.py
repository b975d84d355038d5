"""Sizes of the first updates of a training, by parameter, as a check-up judges them.

The first step, and the five from the end of the warm-up, where the learning rate is at its peak.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import torch
from torch import Tensor

from vitexplorer.finetune.job.folder import UPDATES, Update, Updates
from vitexplorer.storage.checked_reading import BrokenFileError

_AT_PEAK = 5
"""Number of steps after the warm-up"""


def is_recorded(step: int, steps: int, warmup: float) -> bool:
    """Return True if the updates of step `step` of `steps`, counted from 0, are recorded."""
    return step == 0 or 0 <= step - round(warmup * steps) < _AT_PEAK


@contextmanager
def recorded(parameters: Mapping[str, Tensor], step: int, folder: Path, fresh: Sequence[str] = ()) -> Iterator[None]:
    """Write into the folder of a run how far each parameter moves within the context; `fresh` are those of a new head.

    A step that a resumed run repeats replaces the earlier record.
    """
    before = {name: parameter.detach().clone() for name, parameter in parameters.items()}
    yield
    with torch.no_grad():
        sizes = {
            name: (float((parameters[name] - earlier).norm()), float(earlier.norm()))
            for name, earlier in before.items()
        }
    nothing = Updates(tuple(fresh), ())
    try:
        known = UPDATES.read(folder) or nothing
    except BrokenFileError:  # a training goes on without it
        known = nothing
    others = (update for update in known.steps if update.step < step)
    UPDATES.write(folder, Updates(nothing.fresh, (*others, Update(step, sizes))))
