"""Measurement of every method by every protocol, case by case; all share one capture per image."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from itertools import groupby
from time import perf_counter
from typing import Any

import numpy as np

from vitexplorer.capturing.capture import capture
from vitexplorer.evaluation.case import Case, Trial
from vitexplorer.evaluation.methods import explainer
from vitexplorer.evaluation.protocol import PROTOCOLS
from vitexplorer.models.loading import LoadedModel

Scores = dict[tuple[str, str], list[np.ndarray]]
"""(protocol, method) -> scores of each case"""


def measure(
    model: LoadedModel,
    cases: Sequence[Case],
    methods_of: Mapping[str, Collection[str]],
    *,
    first: int = 0,
    of_model: dict[Hashable, Any] | None = None,
    report: Callable[[str, str, float], None] = lambda protocol, method, seconds: None,
) -> Scores:
    """Measure cases in order.

    Args:
        model: model to explain.
        cases: cases; consecutive ones of the same image share its capture.
        methods_of: methods to measure by each protocol.
        first: number of the first case; a case's number is its seed.
        of_model: cache of the model's trials; pass the same dictionary again to reuse it.
        report: called with protocol, method and seconds of each number; with "" as the protocol for each map itself.
    """
    scores: Scores = {(protocol, method): [] for protocol, methods in methods_of.items() for method in methods}
    methods = list(dict.fromkeys(method for methods in methods_of.values() for method in methods))
    of_model = {} if of_model is None else of_model
    numbered = enumerate(cases, first)
    for _, of_image in groupby(numbered, lambda pair: id(pair[1].image)):
        captured = None
        shared: dict[Hashable, Any] = {}
        for seed, case in of_image:
            captured = captured or capture(model, case.image, fit="squash")
            for method in methods:
                explain = explainer(method, case, seed)
                since = perf_counter()
                trial = Trial(captured, case, explain(captured, case.target), explain, seed, shared, of_model)
                report("", method, perf_counter() - since)
                for protocol in methods_of:
                    if method in methods_of[protocol]:
                        since = perf_counter()
                        scores[protocol, method].append(np.atleast_1d(PROTOCOLS[protocol].measure(trial)))
                        report(protocol, method, perf_counter() - since)
    return scores
