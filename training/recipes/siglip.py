"""Sigmoid model of pictures and texts (Zhai et al. 2023, arXiv 2303.15343), read by attention pooling."""

from __future__ import annotations

from training.clip import HOW, MODEL_ARGS, text_config, two_towers
from training.loop import Schedule

STEPS = 1000
START = "scenes_clip"
ARGS = MODEL_ARGS | {"num_classes": 0, "class_token": False, "global_pool": "map"}
TEXT = text_config(192, sigmoid=True)

RECIPE = two_towers(
    "scenes_siglip",
    START,
    ARGS,
    TEXT,
    Schedule(steps=STEPS, learning_rate=1e-3, warmup=50, cosine=STEPS, cooldown=100),
    12288,
    f"""Learned of each sentence by itself whether it is true of a picture, by a sigmoid of scale x cosine + bias,
instead of choosing among the sentences of a batch. There is no class token: a pooling head attends to the patch tokens
of a ViT with 6 blocks, 3 heads, 192 wide, and its output is the picture's vector. To be short both towers began with
the weights of `{START}` after its first 5500 steps, without its class token and projections; the steps and minutes
below come on top of these. {HOW}""",
)
