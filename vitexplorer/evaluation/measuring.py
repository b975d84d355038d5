"""The numbers of every method by every protocol, case by case: one capture of an image answers all of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from itertools import groupby
from time import perf_counter
from typing import Any

import numpy as np

from vitexplorer.capturing.capture import capture
from vitexplorer.evaluation.case import Case, Trial
from vitexplorer.evaluation.methods import explainer
from vitexplorer.evaluation.protocols import PROTOCOLS
from vitexplorer.models.loading import LoadedModel

Scores = dict[tuple[str, str], list[np.ndarray]]
"""protocol and method -> what was measured of each case"""


def measure(
    model: LoadedModel,
    cases: Sequence[Case],
    wanted: Mapping[str, Collection[str]],
    *,
    first: int = 0,
    of_model: dict[Hashable, Any] | None = None,
    told: Callable[[str, str, float], None] = lambda protocol, method, seconds: None,
) -> Scores:
    """Measure cases in order.

    Args:
        model: which model.
        cases: those of one image behind each other share its capture.
        wanted: the methods that each protocol is to be asked about.
        first: number of the first case: it is the seed of what is drawn for it.
        of_model: what trials of the model share; the same dictionary may be given again.
        told: protocol, method and seconds of each number; of each map itself with "" as the protocol.
    """
    scores: Scores = {(protocol, method): [] for protocol, methods in wanted.items() for method in methods}
    methods = list(dict.fromkeys(method for methods in wanted.values() for method in methods))
    of_model = {} if of_model is None else of_model
    numbered = enumerate(cases, first)
    for _, of_image in groupby(numbered, lambda pair: id(pair[1].image)):
        shown, shared = None, {}
        for seed, case in of_image:
            shown = shown or capture(model, case.image, fit="squash")
            for method in methods:
                explain = explainer(method, case, seed)
                since = perf_counter()
                trial = Trial(shown, case, explain(shown, case.target), explain, seed, shared, of_model)
                told("", method, perf_counter() - since)
                for protocol in wanted:
                    if method in wanted[protocol]:
                        since = perf_counter()
                        scores[protocol, method].append(PROTOCOLS[protocol].measure(trial))
                        told(protocol, method, perf_counter() - since)
    return scores
