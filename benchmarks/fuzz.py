"""Fuzzing of files, addresses, events and calls: every case must succeed or be refused with a message.

Settings of views that their controls offer must succeed.

    python -m benchmarks.fuzz [cases [subject ...]]

Cases are divided among the subjects of `tests/helpers/fuzzed.py` by their cost. Prints a table of outcomes with the
target, each kind of fault with a case that shows it, and the peak memory. The exit code is 1 if there is a fault.
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
"""Cases of expensive subjects, as a share of the cases of the others"""
GOOD = ("right", "sentence")
VALID = "views"
"""Subject whose cases are all valid: none may be refused"""


def tried(subject: Subject, cases: int) -> tuple[Counter[str], dict[str, str]]:
    """Run random cases; return the count of each outcome, and a case of every fault."""
    good = GOOD[:1] if subject.name == VALID else GOOD
    counts: Counter[str] = Counter()
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
    def run(case: Any) -> None:
        result = outcome(subject, case)
        counts[result] += 1
        if result not in good:
            faults.setdefault(result, repr(case)[:400])

    run()
    return counts, faults


def main(cases: int = 10_000, *selected: str) -> int:
    """Print the table; return 1 if there is a fault."""
    print(f"{'':22}{'cases':>8}{'right':>8}{'sentence':>10}{'other (0)':>11}{'seconds':>9}")
    total: Counter[str] = Counter()
    has_fault = False
    with tempfile.TemporaryDirectory() as folder, subjects(Path(folder)) as known:
        shares = {name: SHARES.get(name, 1.0) for name in selected or known}
        for name, share in shares.items():
            start = time.perf_counter()
            counts, faults = tried(known[name], max(1, round(cases * share / sum(shares.values()))))
            total += counts
            has_fault |= bool(faults)
            _print(name, counts, time.perf_counter() - start)
            for fault, case in faults.items():
                print(f"    {fault} ({counts[fault]})\n        {case}")
    _print("all", total, 0.0)
    print(f"peak of memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")
    return int(has_fault)


def _print(name: str, counts: Counter[str], seconds: float) -> None:
    right, sentence = (counts[outcome] for outcome in GOOD)
    other = counts.total() - right - sentence
    print(f"{name:22}{counts.total():8}{right:8}{sentence:10}{other:11}{seconds:9.1f}", flush=True)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:2]), *sys.argv[2:]))
