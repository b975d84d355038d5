"""Step: blocks only add to the residual stream; the contribution of each to the answer."""

from __future__ import annotations

from vitexplorer.core.text import Text
from vitexplorer.learn.step import Numbers, Seen, Step, check_classes


def numbers(seen: Seen) -> Numbers:
    """Return the parts of the top class's logit. Raises UnsupportedError for a model with one output, or none."""
    check_classes(seen)
    result = seen.compute("logit_attribution")
    parts = dict(zip(result.parts, map(float, result.values), strict=True))
    blocks = {name: value for name, value in parts.items() if name.startswith("block")}
    most = max(blocks, key=blocks.__getitem__)
    return {
        "name": result.target.name,
        "logit": result.logit,
        "embedding": parts["embedding"],
        "attention": sum(value for name, value in blocks.items() if name.endswith("attn")),
        "mlp": sum(value for name, value in blocks.items() if name.endswith("mlp")),
        "constant": parts["constant"],
        "blocks": seen.capture.depth,
        "most_block": int(most.split()[1]),
        "most_part": Text("the MLP", "MLP 层") if most.endswith("mlp") else Text("attention", "注意力"),
        "most": blocks[most],
    }


STEP = Step(
    key="residual",
    title=Text("Every block only adds", "每个块只做加法"),
    state={"model": "scenes_vit_patch16_192", "room": "outputs", "view": "logit_attribution"},
    light="panel",
    says=Text(
        "A block does not replace a token, it adds to it: first what attention brings from other tokens, then what the "
        "MLP makes of the token itself. So the class token that the classifier reads is one long sum, "
        "and with the last norm's scale held fixed so is the logit of a class.",
        "块并不替换标记，而是往标记上加：先加上注意力从其他标记取来的内容，再加上 MLP 由该标记本身算出的内容。"
        "因此分类头读取的类别标记是一个很长的和；如果把最后的归一化的尺度固定，一个类别的 logit 也是这样一个和。",
    ),
    formula=Text(
        "logit({name}) = embedding + Σ attention + Σ MLP + constant "
        "= {embedding:.2f} + {attention:.2f} + {mlp:.2f} + {constant:.2f} = {logit:.2f}",
        "logit({name}) = 嵌入 + Σ 注意力 + Σ MLP + 常数 "
        "= {embedding:.2f} + {attention:.2f} + {mlp:.2f} + {constant:.2f} = {logit:.2f}",
    ),
    numbers=numbers,
    asks=Text(
        "Which adds more to the logit of “{name}”: attention of all {blocks} blocks, or all their MLPs?",
        "对“{name}”的 logit，{blocks} 个块的注意力总共加得更多，还是它们的 MLP 总共加得更多？",
    ),
    choices=(Text("All attention together", "全部注意力"), Text("All MLPs together", "全部 MLP")),
    right=lambda values: int(values["mlp"] > values["attention"]),
    reveal=Text(
        "All attention adds {attention:+.2f}, all MLPs {mlp:+.2f}; most of all adds {most_part} of block "
        "{most_block} ({most:+.2f}). Attention brings what is elsewhere in the image; what is made of it may be "
        "counted later, for an MLP.",
        "注意力总共加 {attention:+.2f}，MLP 总共加 {mlp:+.2f}；加得最多的是块 {most_block}：{most_part}"
        "（{most:+.2f}）。注意力取来图像别处的内容，而由此得到的结果可能算在后面的 MLP 名下。",
    ),
    action=Text(
        "Choose another class for the figure: which parts support it, and which count against it?",
        "为该图另选一个类别：哪些部分支持它，哪些部分反对它？",
    ),
    becomes={"v.target": r"\d+"},
)
