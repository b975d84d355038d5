"""The parts of a model in words; timm's own name where there are none."""

from __future__ import annotations

from vitexplorer.words import Text, same

PARTS = {
    "patch_embed": Text("patch embedding", "图块嵌入"),
    "pos_embed": Text("position embedding", "位置编码"),
    "prefix_tokens": Text("prefix tokens", "前缀标记"),
    "norm": Text("final norm", "最后的归一化"),
    "fc_norm": Text("norm after pooling", "池化后的归一化"),
    "norm_pre": Text("norm before the blocks", "各块之前的归一化"),
    "head": Text("classifier", "分类头"),
    "head_dist": Text("classifier of the distillation token", "蒸馏标记的分类头"),
    "attn_pool": Text("attention pooling", "注意力池化"),
    "block": Text("block {number}", "块 {number}"),
    "downsample": Text("merging before stage {number}", "阶段 {number} 之前的合并"),
}


def part_text(part: str) -> Text:
    """`head` is the classifier, `block 3` is block 3."""
    name, _, number = part.partition(" ")
    return PARTS[name].format(number=number) if name in PARTS else same(part)
