"""Small models by how they know the place of a patch."""

from __future__ import annotations

from tests.helpers.small_models import RECIPES, load_small

LEARNED = [key for key in RECIPES if getattr(load_small(key).module, "pos_embed", None) is not None]
ROTARY = [key for key in RECIPES if getattr(load_small(key).module, "rope", None) is not None]
RELATIVE = [key for key in RECIPES if key.startswith(("swin", "beit"))]
