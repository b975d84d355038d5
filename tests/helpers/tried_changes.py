"""Interventions tried on every small model, and the refusals of models, by hand."""

from __future__ import annotations

from vitexplorer.capturing.capture import Capture

TRIED = [
    "shift_image:right=5,down=-3",
    "shuffle_patches:seed=3",
    "mask_patches:patches=0.0+1.1",
    "mask_patches:patches=0.0+1.1,how=attention",
    "positions",
    "positions:how=shuffled",
    "temperature:temperature=0.5",
    "top_k:k=3",
    "heads_off:heads=0.1+2.*",
    "heads_off:heads=0.1+2.*,how=mean",
]
SWINS = {"swin", "swin_padded", "swin_s3", "swinv2", "swinv2_padded"}
REFUSED = {
    "mask_patches:patches=0.0+1.1,how=attention": {*SWINS, "hybrid", "hybrid_deep"},  # merged tokens; features of a CNN
    "positions:how=shuffled": {*SWINS, "beit", "beitv2", "dinov3", "rope_mixed"},  # nothing is added to their tokens
}
"""Small models that refuse an intervention of `TRIED`, by hand; all others accept all of them"""
NEEDS_OWN_SIZE = "positions:how=shuffled"


def is_refused(captured: Capture, changes: str) -> bool:
    elsewhere = changes == NEEDS_OWN_SIZE and captured.input.fit == "native"
    return elsewhere or captured.model.name in REFUSED.get(changes, ())
