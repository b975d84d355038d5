"""Contrastive model of pictures and texts (Radford et al. 2021, arXiv 2103.00020), read at the class token."""

from __future__ import annotations

from training.clip import HOW, JOINT, MODEL_ARGS, text_config, two_towers
from training.loop import Schedule

STEPS = 5500
START = "scenes_several_vit_patch16_192"
ARGS = MODEL_ARGS | {"num_classes": JOINT}
TEXT = text_config(JOINT, sigmoid=False)

RECIPE = two_towers(
    "scenes_clip",
    START,
    ARGS,
    TEXT,
    Schedule(steps=STEPS, batch_size=64, learning_rate=1e-3, warmup=50, cosine=STEPS, floor=0.0, cooldown=250),
    f"""Learned which sentence belongs to which picture: the class token of a ViT with 6 blocks, 3 heads, 192
wide, and a transformer of 2 layers, 128 wide, over the words of the sentence meet in a joint space of 128 dimensions.
To be short the image tower began with the weights of `{START}`. {HOW}The class token of the last block also learned to
look at the things. In the softmax over the sentences of a batch all true ones are right answers. The first 2500 steps
followed a plan of 2500 steps and showed every scene alone whole.""",
)
