"""Display names of a model's parts, by timm's names."""

from __future__ import annotations

from vitexplorer.core.text import Text, same

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
    "stage": Text("stage {number}", "阶段 {number}"),
    "cls_token": Text("class token", "类别标记"),
    "dist_token": Text("distillation token", "蒸馏标记"),
    "reg_token": Text("registers", "寄存器标记"),
    "attn": Text("attention", "注意力"),
    "mlp": Text("MLP", "MLP"),
    "norm1": Text("norm before attention", "注意力之前的归一化"),
    "norm2": Text("norm before the MLP", "MLP 之前的归一化"),
    "in_norm": Text("norm at the start", "开头的归一化"),
    "qkv": Text("queries, keys, values", "查询、键、值"),
    "in_proj": Text("queries, keys, values, MLP", "查询、键、值、MLP"),
    "q_proj": Text("queries", "查询"),
    "k_proj": Text("keys", "键"),
    "v_proj": Text("values", "值"),
    "q": Text("queries", "查询"),
    "kv": Text("keys, values", "键、值"),
    "q_norm": Text("norm of queries", "查询的归一化"),
    "k_norm": Text("norm of keys", "键的归一化"),
    "q_bias": Text("bias of queries", "查询的偏置"),
    "v_bias": Text("bias of values", "值的偏置"),
    "proj": Text("projection", "投影"),
    "attn_out_proj": Text("projection of attention", "注意力的输出投影"),
    "mlp_out_proj": Text("projection of the MLP", "MLP 的输出投影"),
    "fc1": Text("first matrix", "第一个线性层"),
    "fc1_g": Text("first matrix, gate", "第一个线性层（门控）"),
    "fc1_x": Text("first matrix, content", "第一个线性层（内容）"),
    "fc2": Text("second matrix", "第二个线性层"),
    "ls1": Text("scale of attention", "注意力的缩放"),
    "ls2": Text("scale of the MLP", "MLP 的缩放"),
    "gamma_1": Text("scale of attention", "注意力的缩放"),
    "gamma_2": Text("scale of the MLP", "MLP 的缩放"),
    "relative_position_bias_table": Text("table of relative positions", "相对位置偏置表"),
    "logit_scale": Text("temperatures", "温度"),
    "cpb_mlp": Text("network of relative positions", "相对位置偏置网络"),
    "latent": Text("learned query", "可学习的查询"),
    "reduction": Text("matrix", "线性层"),
    "weight": Text("weights", "权重"),
    "bias": Text("biases", "偏置"),
}


def part_text(part: str) -> Text:
    """Return a part's display name, or its own name where it has none: `head` is the classifier, `block 3` block 3."""
    name, _, number = part.partition(" ")
    if name.isdigit():  # the module has numbered parts only
        return Text("part {number}", "第 {number} 部分").format(number=name)
    return PARTS[name].format(number=number) if name in PARTS else same(part)
