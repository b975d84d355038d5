"""Unsupported views offer the bundled model that supports them."""

from __future__ import annotations

import pytest

import vitexplorer as vx
from vitexplorer.core.settings import ASSETS
from vitexplorer.ui.panel.figure_panel import ONLY, PLAIN, model_showing
from vitexplorer.views import VIEWS, refusal


@pytest.mark.parametrize("model", [PLAIN, *ONLY.values()])
def test_the_model_that_is_offered_has_the_view(model: str) -> None:
    capture = vx.capture(vx.load_model(model), next((ASSETS / "examples").glob("*.png")))
    offered = [view for view in VIEWS if model_showing(view) == model]
    assert offered
    assert [view for view in offered if refusal(view, capture) is not None] == []
