"""Sigmoid model of pictures and texts (Zhai et al. 2023, arXiv 2303.15343), read by attention pooling."""

from __future__ import annotations

from functools import partial

from training.clip import ARCHITECTURE, DATA, HOW, LIMITS, MEAN, MODEL_ARGS, STD, TwoTowers, text_config
from training.clip_figures import text_figures
from training.loop import Schedule
from training.recipe import Recipe
from training.worded_pool import WordedPool

STEPS = 1000
START = "scenes_clip"
ARGS = MODEL_ARGS | {"num_classes": 0, "class_token": False, "global_pool": "map"}
TEXT = text_config(192, sigmoid=True)

RECIPE = Recipe(
    name="scenes_siglip",
    architecture=ARCHITECTURE,
    model_args=ARGS,
    learner=partial(TwoTowers, START, ARGS, TEXT),
    schedule=Schedule(steps=STEPS, batch_size=64, learning_rate=1e-3, warmup=50, cosine=STEPS, floor=0.0, cooldown=100),
    num_scenes=12288,
    pool=WordedPool,
    mean=MEAN,
    std=STD,
    measure=text_figures,
    data=DATA,
    text=TEXT,
    story=f"""Learned of each sentence by itself whether it is true of a picture, by a sigmoid of scale x cosine + bias,
instead of choosing among the sentences of a batch. There is no class token: a pooling head attends to the patch tokens
of a ViT with 6 blocks, 3 heads, 192 wide, and its output is the picture's vector. To be short both towers began with
the weights of `{START}`, without its class token and projections; the steps and minutes below come on top of that
model's. {HOW}""",
    limits=LIMITS,
)
