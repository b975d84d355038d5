"""The vision transformer for pictures of several classes, with four registers beside its class token.

Registers (Darcet et al. 2023, arXiv 2309.16588) are tokens without a place in the image, where a network can keep what
belongs to the whole of it. Everything else is as in `several`, so that the two can be seen side by side.
"""

from __future__ import annotations

from functools import partial

from vitexplorer.models.bundled.recipe import Recipe
from vitexplorer.models.bundled.recipes import several, supervised
from vitexplorer.models.bundled.shapes import LABEL_NAMES, LABEL_NAMES_ZH

REGISTERS = 4

RECIPE = Recipe(
    name="scenes_registers_vit_patch16_192",
    architecture=supervised.ARCHITECTURE,
    model_args=supervised.MODEL_ARGS | {"reg_tokens": REGISTERS},
    learner=partial(several.Several, REGISTERS),
    schedule=several.PLAN,
    num_scenes=several.RECIPE.num_scenes,
    grounds=False,
    several=True,
    mean=several.MEAN,
    std=several.STD,
    measure=several.measure,
    story=f"""A ViT with four registers ([arXiv 2309.16588](https://arxiv.org/abs/2309.16588)), 6 blocks, 3 heads, 192
wide, for pictures of several classes: `scenes_several_vit_patch16_192` with four more tokens, which began as random
vectors without a position. {several.HOW}""",
    limits=several.LIMITS,
    label_names=LABEL_NAMES,
    label_names_zh=LABEL_NAMES_ZH,
)
