"""Benchmarks of the package: `python -m benchmarks.NAME`; requirements.txt lists the libraries compared with."""

from __future__ import annotations

import sys
from types import TracebackType


def explain(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Report a missing package in a sentence, and any other error as Python does."""
    if isinstance(error, ModuleNotFoundError):
        print(f"This needs {error.name}: pip install -r benchmarks/requirements.txt", file=sys.stderr)
    else:
        sys.__excepthook__(kind, error, trace)


if sys.argv[0] == "-m":  # the value while Python looks up the module to run
    sys.excepthook = explain
