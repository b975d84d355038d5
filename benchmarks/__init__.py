"""What the product is measured with: `python -m benchmarks.NAME`. What it is compared with is in requirements.txt."""

from __future__ import annotations

import sys
from types import TracebackType


def explain(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Say in a sentence which package is missing; anything else as Python does."""
    if isinstance(error, ModuleNotFoundError):
        print(f"This needs {error.name}: pip install -r benchmarks/requirements.txt", file=sys.stderr)
    else:
        sys.__excepthook__(kind, error, trace)


if sys.argv[0] == "-m":  # so while Python looks for the module that it is to run
    sys.excepthook = explain
