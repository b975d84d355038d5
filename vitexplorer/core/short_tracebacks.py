"""Short tracebacks for the public functions: they end at the caller's line.

An `ExplainedError` is a sentence about what was asked for. The frames below the call, and the library's error that the
sentence was made of, say nothing more to the person who can mend it. Every other error is a defect and keeps them all.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import Any

from vitexplorer.core.text import ExplainedError


@cache
def ends_at_caller(function: Callable) -> Callable:
    """Wrap a function so that its explained errors show the lines of its callers alone."""

    @wraps(function)
    def public(*args: Any, **keywords: Any) -> Any:
        try:
            return function(*args, **keywords)
        except ExplainedError as error:
            error.__cause__ = error.__traceback__ = None
            raise  # without a name, which would add this frame

    public.__module__, public.__qualname__ = "vitexplorer", function.__name__  # under which pickle finds it again
    return public
