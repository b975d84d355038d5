"""One test over many cheap cases, which reports all that fail together, each by its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest


def check_every(cases: Mapping[str, Any], check: Callable[[Any], None]) -> None:
    """Run a check on every case; raise the failures of all in one group, each with the name of its case."""
    assert cases
    failures: dict[str, BaseException] = {}
    for name, case in cases.items():
        try:
            check(case)
        except (Exception, pytest.fail.Exception) as failure:
            failure.add_note(f"Case: {name}")
            failures[name] = failure
    if failures:
        raise BaseExceptionGroup(f"{len(failures)} of {len(cases)} fail: {', '.join(failures)}", [*failures.values()])
