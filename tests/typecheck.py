"""The checker behind every annotated function of the package while tests run: beartype, with int allowed for float.

Beartype writes a function for each that it checks, which takes as long as importing the package; most are never called
where types are looked at, so each is written at its first call.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from beartype import BeartypeConf, beartype

_checked = cache(beartype(conf=BeartypeConf(is_pep484_tower=True)))


def check(function: Callable) -> Callable:
    """The function, which looks at what it gets and gives."""

    def checking(*args: Any, **kwargs: Any) -> Any:
        return _checked(function)(*args, **kwargs)

    return checking
