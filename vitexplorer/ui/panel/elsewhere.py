"""The bundled model that has a view which the one on the screen lacks."""

from __future__ import annotations

PLAIN = "scenes_vit_patch16_192"
"""has blocks, a class token, positions and classes: all that most views ask for"""
ONLY = {
    "mae_reconstruction": "scenes_mae_patch16_192",
    "relative_position_bias": "scenes_swin_patch4_window6_192",
}
OF_CHANGES = ("before_after",)
"""views that no model has by itself"""


def model_showing(view: str) -> str | None:
    """A bundled model that has the view; None for one that needs something else."""
    return None if view in OF_CHANGES else ONLY.get(view, PLAIN)
