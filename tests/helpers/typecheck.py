"""The checker behind every annotated function of the package while tests run: jaxtyping and beartype, int as a float.

What `jaxtyping.jaxtyped` makes of a function takes as long as importing it, and its every call a good part of what the
package itself does; most functions are never called where types are looked at, and most of the others see no array.
So a function is made a checking one at its first call that is looked at, also those that are defined anew inside
others, and jaxtyping, whose work is that one name means one length in all arguments, is for those with arrays.
"""

from __future__ import annotations

import typing
from collections.abc import Callable
from dataclasses import is_dataclass
from functools import partial, wraps
from inspect import isclass
from typing import Any

import jaxtyping
from beartype import BeartypeConf, beartype

check = beartype(conf=BeartypeConf(is_pep484_tower=True))
_with_shapes = partial(jaxtyping.jaxtyped, typechecker=check)


def jaxtyped(*, typechecker: Callable) -> Callable:
    """In place of `jaxtyping.jaxtyped`: the import hook puts it on every function and class; the checker is ours."""
    return _on_class_or_function


def _on_class_or_function(thing: Any) -> Any:
    if not isclass(thing):
        return _checked_if_enabled(thing)
    if is_dataclass(thing) and "__init__" in vars(thing) and not hasattr(thing.__init__, "__wrapped__"):
        thing.__init__ = _checked_if_enabled(thing.__init__)
    return thing


def _checked_if_enabled(function: Callable) -> Callable:
    checking = None

    @wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        nonlocal checking
        if jaxtyping.config.jaxtyping_disable:
            return function(*args, **kwargs)
        if checking is None:
            checking = _with_shapes(function) if _sees_arrays(function) else check(function)
        return checking(*args, **kwargs)

    return called


def _sees_arrays(function: Callable) -> bool:
    """Also where its annotations name what is imported for them alone: jaxtyping leaves those out one by one."""
    try:
        return any(map(_holds_array, typing.get_type_hints(function).values()))
    except NameError:
        return True


def _holds_array(hint: Any) -> bool:
    if isclass(hint) and issubclass(hint, jaxtyping.AbstractArray):
        return True
    return any(map(_holds_array, typing.get_args(hint)))
