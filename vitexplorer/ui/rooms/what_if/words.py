"""Texts of the room What if."""

from __future__ import annotations

from vitexplorer.core.text import Text

WHAT_IF_WORDS: dict[str, Text] = {
    "examples": Text("Try", "试一试"),
    "nothing": Text("nothing changed", "不作更改"),
    "puzzle": Text("a puzzle", "拼图"),
    "bag": Text("a puzzle, no positions", "拼图且无位置编码"),
    "positions": Text("no positions", "无位置编码"),
    "sparse": Text("only 8 keys", "每个查询只看 8 个键"),
    "block": Text("last heads off", "关闭最后一块的所有头"),
    "hidden": Text("middle hidden", "遮住中央"),
    "shift": Text("shifted by half a patch", "平移半个图块"),
    "blunt": Text("flatter attention", "让注意力更平缓"),
    "same_answer": Text("The answer stays: {name}, {before} → {after}.", "答案不变：{name}，{before} → {after}。"),
    "unsure_answer": Text(
        "The answer stays, with less confidence: {name}, {before} → {after}. It depends partly on what was changed.",
        "答案不变，但把握变小：{name}，{before} → {after}。它部分依据被更改的内容。",
    ),
    "new_answer": Text(
        "The answer changes: {before} → {after}. It depends on what was changed.",
        "答案改变：{before} → {after}。它依据的正是被更改的内容。",
    ),
    "number": Text("The output: {before} → {after}.", "输出值：{before} → {after}。"),
    "no_answer": Text(
        "This model names no class. Its representation of the image is {so} (cosine {cosine}).",
        "该模型不给出类别。它对图像的表示{so}（余弦 {cosine}）。",
    ),
    "same_text": Text(
        "“{text}” fits best in both runs: cosine {before} → {after}.",
        "两次运行中最相符的都是“{text}”：余弦 {before} → {after}。",
    ),
    "new_text": Text(
        "Another text fits best: “{before}” ({before_cosine}) → “{after}” ({after_cosine}).",
        "最相符的文字改变：“{before}”（{before_cosine}）→“{after}”（{after_cosine}）。",
    ),
    "alike": Text("almost the same", "几乎相同"),
    "moved": Text("partly changed", "部分改变"),
    "other": Text("another one", "已大不相同"),
    "scales": Text(
        "Two scales: the brightest colour is {left} in the plain run and {right} in the changed run.",
        "两图标度不同：最亮的颜色在原始运行中表示 {left}，更改后表示 {right}。",
    ),
    "plain": Text("plain run", "原始运行"),
    "changed": Text("changed run", "更改后"),
}
