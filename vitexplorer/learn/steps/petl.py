"""Step: train a few parameters instead of all, by LoRA, adapters or prompts."""

from __future__ import annotations

from vitexplorer.core.text import Text, UnsupportedError
from vitexplorer.learn.step import Numbers, Seen, Step

RANK, BOTTLENECK, PROMPTS = 8, 64, 10
"""Settings of the methods; formulas from Hu et al. 2021 (arXiv 2106.09685), Pfeiffer et al. 2020 (2005.00247) and
Jia et al. 2022 (2203.12119)"""


def numbers(seen: Seen) -> Numbers:
    """Count the parameters that each method trains besides the new head.

    Raises UnsupportedError if the blocks differ in width.
    """
    from vitexplorer.finetune.preview import preview

    model = seen.capture.model
    depth = seen.capture.depth
    dim = seen.capture.residual(0).shape[-1]
    head = preview(model, "linear", 2)
    previews = {
        "lora": preview(model, "lora", 2, r=RANK, alpha=RANK),
        "adapter": preview(model, "adapter", 2, placement="pfeiffer", bottleneck=BOTTLENECK),
        "vpt": preview(model, "vpt_deep", 2, prompts=PROMPTS),
    }
    counts = {method: plan.trainable - head.trainable for method, plan in previews.items()}
    if counts["lora"] != 4 * depth * dim * RANK:
        raise UnsupportedError(
            Text(
                "The blocks of {model} are not all of one width, so that these formulas do not hold.",
                "{model} 的各个块宽度不一，这些公式不适用。",
            ).format(model=model.title)
        )
    total = head.total - head.trainable
    return {
        **counts,
        "depth": depth,
        "dim": dim,
        "total": total,
        "least": min(counts.values()) / total,
        "most": max(counts.values()) / total,
    }


STEP = Step(
    key="petl",
    title=Text("Train a few numbers", "只训练少量参数"),
    state={"model": "scenes_vit_patch16_192", "room": "finetune"},
    light="methods",
    says=Text(
        "For classes of your own, the {total:,} numbers of the model stay as they are. LoRA adds a change of rank 8 "
        "to the projections of queries and values, an adapter a bottleneck of 64 after each MLP, VPT-deep 10 learned "
        "tokens to the sequence of each block; only these and a new head are trained.",
        "要识别您自己的类别，模型的 {total:,} 个参数可以保持不变。LoRA 给查询与值的投影加上秩为 8 的改变量，"
        "适配器在每个 MLP 之后加上宽度为 64 的瓶颈层，深层提示（VPT-deep）给每个块的序列加上 10 个学到的标记；"
        "只训练这些参数和一个新的分类头。",
    ),
    formula=Text(
        "L = {depth}, D = {dim}: LoRA 4 L D r = {lora:,}; adapter L (2 D m + m + D) = {adapter:,}; "
        "prompts L p D = {vpt:,}",
        "L = {depth}，D = {dim}：LoRA 4 L D r = {lora:,}；适配器 L (2 D m + m + D) = {adapter:,}；提示 L p D = {vpt:,}",
    ),
    numbers=numbers,
    asks=Text("Which of the three trains the most numbers?", "三者中哪一个训练的参数最多？"),
    choices=(
        Text("LoRA of rank 8", "秩为 8 的 LoRA"),
        Text("Adapters of width 64", "宽度为 64 的适配器"),
        Text("10 prompts in each block", "每个块 10 个提示"),
    ),
    right=lambda values: max(range(3), key=lambda n: values[("lora", "adapter", "vpt")[n]]),
    reveal=Text(
        "LoRA {lora:,}, adapters {adapter:,}, prompts {vpt:,}: from {least:.1%} to {most:.1%} of what the model has. "
        "Few numbers are quick to store and hard to overfit; which method answers best depends on your images.",
        "LoRA {lora:,}，适配器 {adapter:,}，提示 {vpt:,}：相当于模型参数的 {least:.1%} 到 {most:.1%}。参数少，"
        "便于保存，也不易过拟合；哪种方法效果最好，取决于您的图像。",
    ),
    action=Text(
        "Use the drawn scenes as images and tick the adapter among the methods: its parameter count is next to it.",
        "点击“试用合成场景”作为图像，再在方法中勾选适配器：旁边就是它的参数量。",
    ),
    becomes={"plan": r'.*"on":\[[^\]]*"adapter".*'},
    printed=("parameters", {}),
)
