"""Cheapest settings of views, for tests over all views in which any result will do.

Only views that run the network many times are listed, and those of texts, which small models do not read: they get
vectors in place of texts. The others use their defaults.
"""

from __future__ import annotations

from typing import Any

import numpy as np

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


OF_TEXTS = {"text_scores": 3, "text_segmentation": 3, "text_map": 1}
"""Views of texts, with a number of texts"""


def text_settings(view: str, captured: Capture) -> dict[str, Any]:
    """Return vectors for a view of texts of a model that reads none; {} for any other view."""
    if view not in OF_TEXTS or captured.model.text is not None:
        return {}
    vectors = np.random.default_rng(0).standard_normal((OF_TEXTS[view], len(captured.joint_embedding)))
    return {"text": vectors[0]} if view == "text_map" else {"texts": list(vectors)}


def run_once() -> list[str]:
    """Return the keys of the views that run the network once at most."""
    return [key for key, view in VIEWS.items() if view.runs != "many"]


def cheaply(view: str, captured: Capture, **settings: Any) -> Result:
    """Compute the view with its cheapest settings."""
    return compute(view, captured, **{**LEAST.get(view, {}), **text_settings(view, captured), **settings})
