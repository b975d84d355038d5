"""Texts of the room Flow, for a canvas that shows a rollout."""

from __future__ import annotations

from vitexplorer.core.shares import SWIN_NOTE
from vitexplorer.core.text import Text

FLOW_WORDS: dict[str, Text] = {
    "region": Text("Rollout on the image", "图像上的注意力展开"),
    "unit": Text("share of the query's rollout", "占该查询展开结果的份额"),
    "goes_to": Text("Destination of the rollout", "展开的去向"),
    "question": Text("From which patches did the {query} gather?", "{query}从哪些图块汇集了信息？"),
    "question_mean": Text(
        "From which patches did the patches gather, on average?", "所有图块平均从哪些图块汇集了信息？"
    ),
    "reading": Text(
        "Blocks {block} to {last}, {head}: most came from the {key}, {share}.",
        "块 {block} 至 {last}，{head}，最多来自{key}，{share}。",
    ),
    "reading_even": Text(
        "Blocks {block} to {last}, {head}: nearly even. Each token would get {even}; no patch gets more than {share}.",
        "块 {block} 至 {last}，{head}：几乎均匀。若完全均匀，每个标记占 {even}；没有图块超过 {share}。",
    ),
    "reading_elsewhere": Text(
        "Blocks {block} to {last}, {head}: {rest} came from tokens that are no patches; no patch gave over {share}.",
        "块 {block} 至 {last}，{head}：{rest} 来自图块以外的标记；没有图块超过 {share}。",
    ),
    "block": Text("from block {block} to {last}", "从块 {block} 到块 {last}"),
    "blocks": Text("First block", "起始块"),
    "only_block": Text("From block {block} on", "从块 {block} 开始"),
    "block_before": Text("Start one block earlier", "提前一块开始"),
    "block_after": Text("Start one block later", "推后一块开始"),
    "play": Text("Let the rollout grow from the last block down", "从最后一块起逐块展开"),
    "loading": Text("Rolling out from block {block} ...", "正在从块 {block} 展开……"),
    "fused": Text("heads fused by {how}", "多头融合：{how}"),
    "swin": SWIN_NOTE,
}
