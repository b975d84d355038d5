"""Lets a module be called: `vx.capture(model, image)` and `from vitexplorer.capture import Capture` are both true.

The public functions `capture`, `views`, `models` share their names with the modules they live in. Python binds a
submodule to its name in the package as soon as anything imports it, so the module itself has to answer the call.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType


def call_module_as(function: Callable) -> None:
    """Make the module that defines `function` answer `module(...)` with `function(...)`."""
    module = sys.modules[function.__module__]
    module.__class__ = type("CallableModule", (ModuleType,), {"__call__": staticmethod(function)})
