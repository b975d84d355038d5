"""Step: learning from images alone, by a student and its teacher or by reconstructing hidden patches."""

from __future__ import annotations

import numpy as np

from vitexplorer.core.text import Text
from vitexplorer.core.types import MapResult
from vitexplorer.learn.step import Numbers, Seen, Step

HIDDEN = 0.75
"""Share of patches that an MAE does not see: He et al. 2021 (arXiv 2111.06377), section 3"""


WITH_LABELS, WITHOUT_LABELS = "scenes_vit_patch16_192", "scenes_dino_patch16_192"
HOW = {
    WITH_LABELS: Text("which learned with labels", "用标签训练"),
    WITHOUT_LABELS: Text("which learned without labels", "不用标签训练"),
}


def numbers(seen: Seen) -> Numbers:
    """Count the fewest patches that hold half of the class token's attention, in this model and in the other."""
    half, patches = gathered(seen)
    name = seen.capture.model.name
    other = WITHOUT_LABELS if name == WITH_LABELS else WITH_LABELS
    other_half, other_patches = gathered(seen.beside(other))
    return {
        "model": name,
        "half": half,
        "patches": patches,
        "share": half / patches,
        "hidden": patches - int(patches * (1 - HIDDEN)),
        "other": other,
        "how": HOW[other],
        "other_half": other_half,
        "other_patches": other_patches,
        "other_share": other_half / other_patches,
    }


def gathered(seen: Seen) -> tuple[int, int]:
    """Count the fewest patches that hold half of the class token's attention to patches, and all patches.

    The attention is the mean over the heads of the last block.
    """
    seen_map: MapResult = seen.compute("attention_map", block=seen.capture.depth - 1, head="mean", query="cls")
    weights = np.sort(seen_map.values.ravel().astype(float))[::-1]
    return int((weights.cumsum() < weights.sum() / 2).sum()) + 1, weights.size


STEP = Step(
    key="without_labels",
    title=Text("Learning without labels", "没有标签也能学习"),
    state={
        "model": "scenes_dino_patch16_192",
        "room": "attention",
        "view": "attention_map",
        "block": "5",
        "head": "mean",
        "query": "cls",
    },
    light="stage",
    says=Text(
        "Nobody needs to say what is in an image. In DINO a student that sees crops learns to answer as its teacher "
        "does, which is the student's own running average; a masked autoencoder (MAE) learns to draw patches it cannot "
        "see. The stage shows where the class token looks in the last block.",
        "不需要有人标注图像里有什么。在 DINO 中，学生网络看裁剪图，学习给出与教师网络相同的答案，"
        "而教师网络是学生网络自身的滑动平均；掩码自编码器（MAE）则学习画出看不见的图块。"
        "主图显示的是最后一个块中类别标记看向哪里。",
    ),
    formula=Text(
        "DINO: min −Σ p_teacher · log p_student; MAE: min mean (x̂ − x)² over {hidden} hidden of {patches} patches",
        "DINO：使学生与教师输出的交叉熵最小；MAE：使 {patches} 个图块中被遮住的 {hidden} 个的均方误差最小",
    ),
    numbers=numbers,
    asks=Text(
        "How many patches does it take to hold half of the attention that the class token gives to patches?",
        "类别标记分给图块的注意力中，有一半集中在多少个图块上？",
    ),
    choices=(
        Text("Fewer than one in ten", "不到十分之一"),
        Text("One in ten up to a quarter", "十分之一到四分之一"),
        Text("More than a quarter", "超过四分之一"),
    ),
    right=lambda values: 0 if values["share"] < 0.1 else 1 + int(values["share"] > 0.25),
    reveal=Text(
        "{half} of {patches} ({share:.0%}) in {model}. On the same image it is {other_half} of {other_patches} "
        "({other_share:.0%}) in {other}, {how}. Fewer is not better: see whether they lie on the object.",
        "在 {model} 中是 {patches} 个里的 {half} 个（{share:.0%}）。对同一幅图像，"
        "{how}的 {other} 为 {other_patches} 个里的 {other_half} 个（{other_share:.0%}）。更少并不等于更好："
        "要看它们是否落在物体上。",
    ),
    action=Text(
        "Have the MAE draw what it cannot see: change the hidden share in the settings and see what it still guesses.",
        "让 MAE 画出它看不见的部分：在“设置”中改变遮挡比例，看看它还能猜出什么。",
    ),
    becomes={"model": "scenes_mae_patch16_192", "v.mask_ratio": r"0\.\d+"},
    leads={"model": "scenes_mae_patch16_192", "room": "outputs", "view": "mae_reconstruction"},
)
