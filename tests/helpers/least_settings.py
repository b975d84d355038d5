"""Cheapest settings of views, for tests over all views in which any result will do.

Only views that run the network many times are listed; the others use their defaults.
"""

from __future__ import annotations

from typing import Any

from vitexplorer.capturing.capture import Capture
from vitexplorer.core.types import Result
from vitexplorer.views import VIEWS, compute

LEAST: dict[str, dict[str, Any]] = {
    "trust": {"methods": ("input_x_gradient",), "steps": 2},
    "faithfulness": {"methods": ("input_x_gradient",), "steps": 2},
    "integrated_gradients": {"steps": 2},
    "side_by_side": {"methods": ("input_x_gradient",), "steps": 2, "measure": True},
    "translation": {"patches": 1},
}


def run_once() -> list[str]:
    """Return the keys of the views that run the network once at most."""
    return [key for key, view in VIEWS.items() if view.runs != "many"]


def cheaply(view: str, captured: Capture, **settings: Any) -> Result:
    """Compute the view with its cheapest settings."""
    return compute(view, captured, **{**LEAST.get(view, {}), **settings})
