"""Bundled models to suggest for views that the current model lacks."""

from __future__ import annotations

PLAIN = "scenes_vit_patch16_192"
"""Model with blocks, a class token, positions and classes: all that most views need"""
ONLY = {
    "mae_reconstruction": "scenes_mae_patch16_192",
    "relative_position_bias": "scenes_swin_patch4_window6_192",
}
OF_CHANGES = ("before_after",)
"""Views that need a changed run, whatever the model"""


def model_showing(view: str) -> str | None:
    """Return a bundled model that has the view; None for a view that needs something else."""
    return None if view in OF_CHANGES else ONLY.get(view, PLAIN)
