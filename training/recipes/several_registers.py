"""Vision transformer for pictures of several classes, with four registers beside its class token.

Registers (Darcet et al. 2023, arXiv 2309.16588) are tokens without a place in the image, where a network can store
global information. Everything else is as in `several_vit`, so that the two models can be compared.
"""

from __future__ import annotations

from training.several_vit import several_vit

RECIPE = several_vit(
    "scenes_several_vit_reg4_patch16_192",
    registers=4,
    opening="""A ViT with four registers ([arXiv 2309.16588](https://arxiv.org/abs/2309.16588)), 6 blocks, 3 heads, 192
wide, for pictures of several classes: `scenes_several_vit_patch16_192` with four more tokens, which began as random
vectors without a position.""",
)
