"""Step: one query meets all keys, by dot product, scale and softmax."""

from __future__ import annotations

import numpy as np

from vitexplorer.core.text import Text
from vitexplorer.core.types import DotProductResult
from vitexplorer.learn.step import Numbers, Seen, Step

BLOCK, HEAD = 3, 1
"""Head in which the class token's scores differ so much that the scale matters"""


def numbers(seen: Seen) -> Numbers:
    """Return the class token's largest weight in one head, with its score, with and without the scale."""
    result: DotProductResult = seen.compute("scaled_dot_product", block=BLOCK, head=HEAD, query="cls")
    top = int(result.values.argmax())
    plain = np.exp(result.scores - result.scores.max(), dtype=float)
    return {
        "keys": len(result.keys),
        "head_dim": len(result.query_vector),
        "score": float(result.scores[top]),
        "scaled": float(result.scaled[top]),
        "weight": float(result.values[top]),
        "sum": float(result.values.sum()),
        "even": 1 / len(result.keys),
        "plain": float(plain[top] / plain.sum()),
    }


STEP = Step(
    key="query_key",
    title=Text("A query meets the keys", "查询与键相遇"),
    state={
        "model": "scenes_dino_patch16_192",
        "size": "384",
        "room": "attention",
        "view": "scaled_dot_product",
        "v.block": str(BLOCK),
        "v.head": str(HEAD),
    },
    light="panel",
    says=Text(
        "Every token asks with a query and answers with a key, both of {head_dim} numbers. Their dot product is a "
        "score, high where they point the same way. Divided by √{head_dim}, the softmax turns the {keys} "
        "scores into weights.",
        "每个标记都有一个用来提问的查询和一个用来回答的键，各有 {head_dim} 个数。两者的点积就是分数，方向越一致分数越"
        "高。除以 √{head_dim} 后，softmax 把 {keys} 个分数变成权重。",
    ),
    formula=Text(
        "A_j = softmax(q · k_j / √d): {score:.3g} / √{head_dim} = {scaled:.3g} becomes {weight:.1%}; "
        "Σ_j A_j = {sum:.3f}",
        "A_j = softmax(q · k_j / √d)：{score:.3g} / √{head_dim} = {scaled:.3g} 变成 {weight:.1%}；Σ_j A_j = {sum:.3f}",
    ),
    numbers=numbers,
    asks=Text(
        "The key with the highest score gets {weight:.1%} of the class token's attention. "
        "What would it get without the division by √{head_dim}?",
        "分数最高的键得到类别标记 {weight:.1%} 的注意力。如果不除以 √{head_dim}，它会得到多少？",
    ),
    choices=(
        Text("Less", "更少"),
        Text("More, but less than half", "更多，但不到一半"),
        Text("More than half", "超过一半"),
    ),
    right=lambda values: 0 if values["plain"] < values["weight"] else 1 + int(values["plain"] > 0.5),
    reveal=Text(
        "{plain:.1%}. The more numbers a dot product adds up, the farther its values lie apart, and a softmax of "
        "large values leaves nearly all to one. The division keeps them comparable: here {weight:.1%}, where an "
        "even share of {keys} keys is {even:.2%}.",
        "{plain:.1%}。点积中相加的项越多，各个值就相差越大，而 softmax 遇到很大的值，会把几乎全部权重给一个键。"
        "除以 √d 使它们保持可比：这里是 {weight:.1%}，而 {keys} 个键平均分配时各得 {even:.2%}。",
    ),
    action=Text(
        "Make a patch the query: click one in the small picture of the settings, and see which keys answer it.",
        "在“设置”的小图中点击一个图块，让它成为查询，看看哪些键回应它。",
    ),
    becomes={"v.query": r"\d+,\d+"},
)
