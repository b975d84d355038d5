"""Texts of the picture of the whole network. The browser fills in `{name}` from the token under the mouse."""

from __future__ import annotations

from vitexplorer.core.text import Text

NETWORK_WORDS: dict[str, Text] = {
    "picture": Text(
        "The whole network: the image, its tokens after {blocks:block}, and the answer",
        "整个网络：图像、{blocks} 个块之后的标记，以及答案",
    ),
    "hint": Text(
        "Point at a token to follow it, click to keep it. Click on a head, a block or a number to open its room.",
        "指向一个标记即可追踪，点击可固定。点击头、块或数字可打开相应的页面。",
    ),
    "keys": Text(
        "Arrow keys move the followed token, Home returns to the whole image, space runs the pass.",
        "方向键移动追踪的标记，Home 键回到整幅图像，空格键运行前向过程。",
    ),
    "image": Text("image", "图像"),
    "tokens": Text("tokens", "标记"),
    "block": Text("block {block}", "块 {block}"),
    "answer": Text("answer", "答案"),
    "similarity": Text("like {token}", "与{token}的相似度"),
    "run": Text("Run the pass", "运行前向过程"),
    "pause": Text("Pause", "暂停"),
    "step_back": Text("One step back", "后退一步"),
    "step_on": Text("One step on", "前进一步"),
    "slider": Text("Step of the pass", "前向过程的步骤"),
    "record": Text("Save as a film", "保存为影片"),
    "recording": Text("Filming …", "正在录制……"),
    "follow": Text("Follow the {token}", "追踪{token}"),
    "keeps": Text("what the token keeps", "标记保留的内容"),
    "head": Text("head {head}", "头 {head}"),
    "all_heads": Text("{heads} heads, a hue each", "{heads} 个头，各一种颜色"),
    "drawn": Text("the lines hold {share} of its attention", "连线占其注意力的 {share}"),
    "colours": Text(
        "same colour: alike to the network (three principal components of all blocks)",
        "颜色相近：对网络而言相似（所有块的三个主成分）",
    ),
    "read_here": Text("answer if read here", "若在此读出的答案"),
    "attention": Text("attention adds", "注意力增加"),
    "mlp": Text("MLP adds", "MLP 增加"),
    "attention_adds": Text("attention adds to “{target}”", "注意力为“{target}”增加"),
    "mlp_adds": Text("MLP adds to “{target}”", "MLP 为“{target}”增加"),
    "tip_token": Text("{token}, {where}", "{token}，{where}"),
    "before": Text("before block 0", "块 0 之前"),
    "after": Text("after block {block}", "块 {block} 之后"),
    "tip_head": Text(
        "Block {block}, head {head}: {drawn} of the attention is drawn, the most goes to {key} ({share})",
        "块 {block} 头 {head}：画出注意力的 {drawn}，最多的在{key}（{share}）",
    ),
    "tip_head_silent": Text(
        "Block {block}, head {head}: this token asks for nothing here", "块 {block} 头 {head}：该标记在此不作查询"
    ),
    "patch": Text("patch in row {row}, column {col}", "第 {row} 行第 {col} 列的图块"),
    "mean": Text("mean over patches", "图块平均"),
    "row_block": Text("Block", "块"),
    "row_value": Text("Probability", "概率"),
    "row_output": Text("Output", "输出值"),
    "failed": Text("The picture could not be fetched.", "未能取得图像。"),
}
