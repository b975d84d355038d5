"""Contrastive model of pictures and texts (Radford et al. 2021, arXiv 2103.00020), read at the class token."""

from __future__ import annotations

from training.clip import HOW, JOINT, MODEL_ARGS, text_config, two_towers
from training.loop import Schedule

STEPS = 7000
START = "scenes_several_vit_patch16_192"
ARGS = MODEL_ARGS | {"num_classes": JOINT}
TEXT = text_config(JOINT, sigmoid=False)

RECIPE = two_towers(
    "scenes_clip",
    START,
    ARGS,
    TEXT,
    Schedule(steps=STEPS, learning_rate=1e-3, warmup=50, cosine=STEPS, cooldown=250),
    24576,
    f"""Learned which sentence belongs to which picture: the class token of a ViT with 6 blocks, 3 heads, 192
wide, and a transformer of 2 layers, 128 wide, over the words of the sentence meet in a joint space of 128 dimensions.
To be short the image tower began with the weights of `{START}`. {HOW}The class token of the last block also learned
to look at the things. In the softmax over the sentences of a batch all true ones are right answers; another softmax
chooses among the names of the shapes alone. The plan was changed on the way. The first 5500 steps took scenes 0 to
12287 without that second softmax, the first 2500 of them with every scene alone shown whole. 600 steps at half the rate
over twice the scenes followed. From the mean of the weights before and after these, two runs of 450 steps learned with
both, and the shipped weights are the mean of the two (Wortsman et al. 2022, arXiv 2203.05482).""",
)
