"""Damaged files, addresses, events and calls by the ten thousand: each is right or a sentence, and nothing else.

    python -m benchmarks.fuzz [cases [subject ...]]

Cases are divided among the subjects of `tests/helpers/fuzzed.py` by what they cost. Printed is a table of outcomes
beside the target, each kind of fault with a case that has it, and the memory at its peak. The exit code is 1 where
there is any.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.helpers.fuzz_subject import Subject, outcome
from tests.helpers.fuzzed import subjects

SHARES = {"weights safetensors": 0.5, "weights pth": 0.5, "tuned": 0.5, "merged words": 0.2, "zips": 0.5}
SHARES |= {"calls": 0.5, "page events": 0.5, "views": 0.1, "views, one wrong": 1.0}
"""of the cases of a subject that costs nothing more"""
GOOD = ("right", "sentence")
ANSWERED, LEAST_ANSWERED = "views", 0.9
"""the subject whose cases are all such as can be answered, and the share that must be"""


def tried(subject: Subject, cases: int) -> tuple[Counter[str], dict[str, str]]:
    """How often each outcome came, and a case of every fault."""
    found: Counter[str] = Counter()
    faults: dict[str, str] = {}

    @seed(0)
    @settings(
        max_examples=cases,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(subject.cases)
    def one(case: Any) -> None:
        came = outcome(subject, case)
        found[came] += 1
        if came not in GOOD:
            faults.setdefault(came, repr(case)[:400])

    one()
    return found, faults


def main(cases: int = 10_000, *wanted: str) -> int:
    """Print the table; 1 where anything but right and a sentence came of a case."""
    print(f"{'':22}{'cases':>8}{'right':>8}{'sentence':>10}{'other (0)':>11}{'seconds':>9}")
    whole: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as place, subjects(Path(place)) as found:
        chosen = {name: SHARES.get(name, 1.0) for name in wanted or found}
        for name, share in chosen.items():
            start = time.perf_counter()
            came, faults = tried(found[name], round(cases * share / sum(chosen.values())))
            whole += came
            if name == ANSWERED and came["right"] < LEAST_ANSWERED * came.total():
                faults[f"answered: {came['right'] / came.total():.0%}"] = "of what the controls of views offer"
                whole["answered too seldom"] += 1
            _print(name, came, time.perf_counter() - start)
            for fault, case in faults.items():
                print(f"    {fault} ({came[fault]})\n        {case}")
    _print("all", whole, 0.0)
    print(f"peak of memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")
    return int(any(came not in GOOD for came in whole))


def _print(name: str, came: Counter[str], seconds: float) -> None:
    right, sentence = (came[outcome] for outcome in GOOD)
    other = came.total() - right - sentence
    print(f"{name:22}{came.total():8}{right:8}{sentence:10}{other:11}{seconds:9.1f}", flush=True)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:2]), *sys.argv[2:]))
