"""Pictures, and the settings of a rollout, that tests of the page share."""

from __future__ import annotations

from vitexplorer.service.engine import Picture

SMALL = Picture("scene_flower", "vit_tiny_patch16_224", "random")
SWIN = Picture("scene_flower", "swin_tiny_patch4_window7_224", "random")
ROLLOUT = {"query": "mean", "head_fusion": "mean", "discard_ratio": 0.0}
