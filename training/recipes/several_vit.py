"""Vision transformer for pictures of several classes; `several_registers` is the same with registers."""

from __future__ import annotations

from training.several_vit import several_vit

RECIPE = several_vit(
    "scenes_several_vit_patch16_192",
    registers=0,
    opening="A ViT with 6 blocks, 3 heads, 192 wide, for pictures of several classes.",
)
