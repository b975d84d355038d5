"""Texts of the attention canvas in both languages. Its value holds them; the script has none of its own."""

from __future__ import annotations

from vitexplorer.core.text import Language, Text, in_language, same
from vitexplorer.core.types import PREFIX_WORDS
from vitexplorer.ui.shell.frame import frame_words

CANVAS_WORDS: dict[str, Text] = {
    # the picture
    "region": Text("Attention on the image", "图像上的注意力"),
    "view_label": Text("Attention map. {direction}, {head}.", "注意力图。{direction}，{head}。"),
    "help": Text(
        "Arrow keys move the query patch, or the key where patches are not queries. Enter holds or releases it. "
        "Escape and Home return to the class token or the mean. Square brackets change the head; M, X and N choose "
        "mean, maximum and minimum. Comma and full stop go to the previous and the next block.",
        "方向键移动查询图块（图块不作查询时移动键）。Enter 固定或取消固定。Escape 与 Home 回到类别标记或图块平均。"
        "方括号键切换头。M、X、N 选择均值、最大值、最小值。逗号键与句号键切换到前一块和后一块。",
    ),
    "empty": Text("The attention map appears here when an image is loaded.", "载入图像后，此处显示注意力图。"),
    "welcome": Text(
        "This is what a vision transformer looks at. See how it gets there, or give it a picture of your own.",
        "这就是视觉 Transformer 所关注的地方。看看它怎样一步步走到这里，或者换上您自己的图像。",
    ),
    "welcome_learn": Text("Show me", "带我看看"),
    "welcome_image": Text("My picture", "用我的图像"),
    "loading": Text("Loading block {block} ...", "正在加载块 {block}……"),
    "failed": Text("The attention of block {block} could not be loaded.", "无法加载块 {block} 的注意力。"),
    "retry": Text("Try again", "重试"),
    "hint": Text("Point at a patch to look from it, click to hold it.", "指向图块：从该图块出发；点击：固定。"),
    "hint_pinned": Text(
        "Point at patches to read them as keys. Click again or press Esc to release the query.",
        "指向图块：将其作为键读取；再次点击或按 Esc：取消固定查询。",
    ),
    "hint_partial": Text(
        "Too large to send whole: point at patches to read them as keys, click to fetch a patch's map.",
        "数据过大，无法一次传完。指向图块：将其作为键读取；点击：获取该图块的注意力图。",
    ),
    "hint_class": Text(
        "Patches are not queries in this block: the map of the {query} is shown. Point at a patch to read it as a key.",
        "本块中图块不作查询：显示的是{query}的注意力图。指向图块可将其作为键读取。",
    ),
    "hint_silent": Text(
        "The {token} is not a query in this block: the map of the {query} is shown.",
        "{token}在本块中不作查询：显示的是{query}的注意力图。",
    ),
    "hint_touch": Text("Tap a patch to look from it, or drag across.", "轻触图块或拖动：从该图块出发。"),
    "hint_pinned_touch": Text(
        "Drag to read keys, tap the patch again to release it.", "拖动：将图块作为键读取；再次轻触该图块：取消固定。"
    ),
    "hint_partial_touch": Text(
        "Too large to send whole: drag to read keys, tap to fetch a patch's map.",
        "数据过大，无法一次传完。拖动：将图块作为键读取；轻触：获取该图块的注意力图。",
    ),
    # who looks, and at what
    "question": Text("Where does the {query} look?", "{query}关注哪里？"),
    "question_mean": Text("Where do the patches look, on average?", "所有图块平均关注哪里？"),
    "reading": Text(
        "In block {block}, {head}: the strongest key is the {key}, {share}.",
        "块 {block}，{head}：最强的键是{key}，{share}。",
    ),
    "reading_even": Text(
        "In block {block}, {head}: nearly even. Each token would get {even}; no patch gets more than {share}.",
        "块 {block}，{head}：几乎均匀。若完全均匀，每个标记占 {even}；没有图块超过 {share}。",
    ),
    "reading_elsewhere": Text(
        "In block {block}, {head}: {rest} of the attention goes to other tokens than patches; no patch gets more than "
        "{share}.",
        "块 {block}，{head}：{rest} 的注意力给了图块以外的标记；没有图块超过 {share}。",
    ),
    "direction": Text("{query} → keys", "{query} → 键"),
    "patch": Text("patch in row {row}, column {col}", "第 {row} 行第 {col} 列的图块"),
    "query": Text("Query", "查询"),
    "key": Text("Key", "键"),
    "strongest": Text("Strongest key", "最强的键"),
    "held": Text("held", "已固定"),
    "mean_query": PREFIX_WORDS["mean"],
    "look_from": Text("Look from", "查询来自"),
    "not_attended": Text("outside the window", "窗口之外"),
    # heads
    "heads": Text("Heads", "注意力头"),
    "of_block": Text("Heads of block {block}", "块 {block} 的注意力头"),
    "only_block": Text("Block {block}", "块 {block}"),
    "blocks": Text("Block", "块"),
    "block_before": Text("The block before", "前一块"),
    "block_after": Text("The block after", "后一块"),
    "play": Text("Run through the blocks", "逐块播放"),
    "fuse": Text("Fuse heads by", "多头融合"),
    "mean": Text("mean", "均值"),
    "max": Text("max", "最大"),
    "min": Text("min", "最小"),
    "head": Text("head {head}", "头 {head}"),
    "fused_one": Text("its only head", "唯一的头"),
    "fused_mean": Text("mean of {heads:head}", "{heads} 个头的均值"),
    "fused_max": Text("maximum of {heads:head}", "{heads} 个头的最大值"),
    "fused_min": Text("minimum of {heads:head}", "{heads} 个头的最小值"),
    "peak_short": same("{value}"),
    "peak": Text("max {value}", "最大 {value}"),
    "block": Text("block {block} of 0–{last}", "块 {block}（0–{last}）"),
    # all heads of all blocks
    "strip_label": Text("All heads of all blocks", "所有块的所有头"),
    "strip": Text(
        "All heads of all blocks: {query}. These maps do not change while you point.",
        "所有块的所有头：{query}。指向图块时，这些图不变。",
    ),
    "block_short": Text("block {block}", "块 {block}"),
    "tile": Text("block {block}, head {head}", "块 {block}，头 {head}"),
    # where it goes
    "goes_to": Text("Destination of the attention", "注意力的去向"),
    "patches": Text("patches", "图块"),
    "padding": Text("padding", "填充"),
    # display
    "settings": Text("Settings", "设置"),
    "display": Text("Show", "显示"),
    "rare": Text("More", "更多"),
    "mode": Text("View", "视图"),
    "mode_overlay": Text("overlay", "叠加"),
    "mode_map": Text("map", "仅热图"),
    "mode_reveal": Text("reveal", "遮罩"),
    "colormap": Text("Colours", "配色"),
    "viridis": same("Viridis"),
    "magma": same("Magma"),
    "cividis": same("Cividis"),
    "inferno": same("Inferno"),
    "greys": Text("Greys", "灰度"),
    "opacity": Text("Opacity", "不透明度"),
    "scale": Text("Scale", "色标"),
    "scale_map": Text("this map", "本图"),
    "scale_heads": Text("all heads", "所有头"),
    "scale_block": Text("whole block", "整块"),
    "keep_mass": Text("Keep mass", "保留份额"),
    "keep_all": Text("all", "全部"),
    "smooth": Text("Smooth", "平滑"),
    "sharpen": Text("Sharpen by passes", "多次传播细化"),
    "sharpen_1": Text("off", "关"),
    "sharpen_4": same("4"),
    "sharpen_16": same("16"),
    "sharpen_64": same("64"),
    "sharpen_lost": Text("The server did not answer; choose the passes again.", "服务器没有响应，请重新选择次数。"),
    "sharpening": Text("{passes} of {of} passes", "已完成 {passes}/{of} 次前向传播"),
    # the colour bar and the notes under the picture
    "unit": Text("share of attention", "注意力份额"),
    "scale_map_long": Text("colours from 0 to this map's maximum", "颜色从 0 到本图的最大值"),
    "scale_heads_long": Text("colours from 0 to the maximum over all heads", "颜色从 0 到所有头的最大值"),
    "scale_block_long": Text("colours from 0 to the maximum of the whole block", "颜色从 0 到整块的最大值"),
    "signed_map_long": Text(
        "the brighter, the stronger, to this map's largest magnitude; blue is below 0",
        "越亮绝对值越大，范围到本图的最大绝对值；蓝色为负",
    ),
    "signed_heads_long": Text(
        "the brighter, the stronger, to the largest magnitude of all heads; blue is below 0",
        "越亮绝对值越大，范围到所有头的最大绝对值；蓝色为负",
    ),
    "signed_block_long": Text(
        "the brighter, the stronger, to the largest magnitude of the whole block; blue is below 0",
        "越亮绝对值越大，范围到整块的最大绝对值；蓝色为负",
    ),
    "note_keep": Text("only the patches with {share} of the total", "仅显示合计占 {share} 的图块"),
    "note_window": Text("windowed: a query sees only its outlined window", "窗口注意力：查询只能看到框出的窗口"),
    "note_smooth": Text("interpolated between patch centres", "在图块中心之间插值"),
    "note_sharpen": Text(
        "mean of {passes} passes over the moved image; the numbers are those of the patches",
        "图像平移后 {passes} 次前向传播的平均；数值仍为图块的数值",
    ),
    "note_precision": Text("8 bits a weight: values to ±{error}", "每个权重 8 位：误差 ±{error}"),
}


def canvas_words(language: Language) -> dict[str, str]:
    """Return the texts of the canvas and of the frame around it in one language, for `CanvasData.words`."""
    return frame_words(language) | in_language(CANVAS_WORDS, language)
