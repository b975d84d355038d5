"""The least that a view is asked for where any answer of it does, for whatever goes over all views.

Only views that run the network many times stand here: the others are asked for what a person gets first.
"""

from __future__ import annotations

from typing import Any

from vitexplorer.interfaces import View
from vitexplorer.views import VIEWS

LEAST: dict[str, dict[str, Any]] = {
    "faithfulness": {"methods": ("input_x_gradient",), "steps": 2},
    "integrated_gradients": {"steps": 2},
    "translation": {"patches": 1},
}


def runs_often(view: View) -> bool:
    """Whether it runs the network many times."""
    return view.reports_progress


def quick_views() -> list[str]:
    """Keys of the views that run the network once at most."""
    return [key for key, view in VIEWS.items() if not runs_often(view)]
