"""Short tracebacks for the public functions: they end at the caller's line.

An `ExplainedError` is a sentence about the caller's request. The frames below the call, and the library's error behind
the sentence, do not help the person who can mend it. Every other error is a defect and keeps its whole traceback.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import Any

from vitexplorer.core.text import ExplainedError


@cache
def ends_at_caller(function: Callable) -> Callable:
    """Wrap a function so that its explained errors show only the lines of its callers."""

    @wraps(function)
    def public(*args: Any, **keywords: Any) -> Any:
        try:
            return function(*args, **keywords)
        except ExplainedError as error:
            error.__cause__ = error.__traceback__ = None
            raise  # without a name, which would add this frame

    public.__module__ = "vitexplorer"  # pickle finds the function by these two names
    public.__qualname__ = function.__name__
    return public
