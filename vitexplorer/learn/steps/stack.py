"""Step: block upon block; the depth at which the answer is decided."""

from __future__ import annotations

from vitexplorer.core.text import Text
from vitexplorer.learn.step import Numbers, Seen, Step

PARTS = 3
"""Number of equal parts of the stack that the learner chooses from"""


def numbers(seen: Seen) -> Numbers:
    """Return the classifier's answers after the first, the deciding and the last block, read from the class token."""
    lens = seen.compute("logit_lens")
    answers = [top[0] for top in lens.top]
    last = answers[-1]
    decided = next(i for i in range(len(answers)) if all(answer.index == last.index for answer in answers[i:]))
    return {
        "name": last.name,
        "share": last.probability,
        "first_name": answers[0].name,
        "first_share": answers[0].probability,
        "blocks": len(answers),
        "decided": lens.blocks[decided],
        "decided_share": answers[decided].probability,
    }


STEP = Step(
    key="stack",
    title=Text("Block upon block", "一个块接一个块"),
    state={"model": "scenes_vit_patch16_192", "room": "outputs", "view": "logit_lens"},
    light="panel",
    says=Text(
        "Every block writes into the same stream of tokens, so the final norm and classifier can be put after any of "
        "them: the logit lens. After block 0 it would say {first_name} ({first_share:.1%}), after all {blocks} blocks "
        "{name}.",
        "每个块都写入同一条标记流，所以可以在任何一个块之后接上最后的归一化与分类头，这就是 logit 透镜。"
        "在块 0 之后它会说“{first_name}”（{first_share:.1%}），在全部 {blocks} 个块之后则说“{name}”。",
    ),
    formula=Text(
        "p_l = softmax(W · norm(x_l) + b): {decided_share:.1%} for {name} after block {decided}, "
        "{share:.1%} at the end",
        "p_l = softmax(W · norm(x_l) + b)：块 {decided} 之后“{name}”为 {decided_share:.1%}，最后为 {share:.1%}",
    ),
    numbers=numbers,
    asks=Text(
        "From which part of the {blocks} blocks on does the model say {name}, and stay with it?",
        "从 {blocks} 个块的哪一部分起，模型就说“{name}”并不再改变？",
    ),
    choices=(Text("The first third", "前三分之一"), Text("The middle", "中间"), Text("The last third", "后三分之一")),
    right=lambda values: PARTS * values["decided"] // values["blocks"],
    reveal=Text(
        "From block {decided} on, with {decided_share:.1%} there and {share:.1%} at the end. The classifier was never "
        "trained to read earlier blocks: another answer there is no error.",
        "从块 {decided} 起：当时为 {decided_share:.1%}，最后为 {share:.1%}。分类头从未学过读取前面的块，"
        "在那里给出别的答案并不是错误。",
    ),
    action=Text(
        "Read every patch in place of the class token: which patches say {name} first?",
        "改为读取每个图块：哪些图块最先说“{name}”？",
    ),
    becomes={"v.token": "patches"},
)
