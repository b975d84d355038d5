"""Texts of the strip under every room."""

from __future__ import annotations

from vitexplorer.core.text import Text

THREAD_WORDS: dict[str, Text] = {
    "strip": Text("One patch, from the image to the answer", "一个图块，从图像到答案"),
    "image": Text("Image", "图像"),
    "grid": Text("{rows} × {cols} patches", "{rows} × {cols} 个图块"),
    "image_title": Text("The image as the model sees it, cut into patches", "模型看到的图像，切成图块"),
    "patch": Text("Patch", "图块"),
    "patch_most": Text("Strongest patch", "最强的图块"),
    "patch_at": Text("row {row}, column {col}", "第 {row} 行第 {col} 列"),
    "patch_title": Text("The patch that was chosen last, in any room", "最近在任一页面中选中的图块"),
    "patch_most_title": Text(
        "The patch to which {reader} attends most in block {block}, heads averaged; choose another in any room",
        "块 {block} 中{reader}最关注的图块（各头平均）；可在任一页面另选",
    ),
    "token": Text("Token", "标记"),
    "norm": Text("norm {norm}", "范数 {norm}"),
    "token_title": Text(
        "Length (L2 norm) of the patch's token after block {block}", "该图块的标记在块 {block} 之后的 L2 范数"
    ),
    "head": Text("Strongest head", "最强的头"),
    "head_chosen": Text("Chosen head", "选中的头"),
    "head_at": Text("block {block}, head {head}: {share}", "块 {block} 头 {head}：{share}"),
    "head_title": Text(
        "In this head of block {block}, {reader} gives {share} of its attention to the patch",
        "在块 {block} 的这个头中，{reader}把 {share} 的注意力给了该图块",
    ),
    "adds": Text("Attention adds", "注意力贡献"),
    "adds_both": Text("The block adds", "该块贡献"),
    "adds_title": Text(
        "Direct contribution of all heads of block {block} to the logit of {name}; all blocks together give the logit",
        "块 {block} 的所有头对“{name}”的 logit 的直接贡献；所有块合计即为该 logit",
    ),
    "answer": Text("Answer", "答案"),
    "answer_random": Text("Random weights say", "随机权重的答案"),
    "answer_random_title": Text(
        "This model has learned nothing: its answer means nothing", "该模型未经训练：它的答案没有意义"
    ),
    "answer_chosen": Text("Chosen class", "选中的类别"),
    "answer_title": Text("What the model says to the whole image", "模型对整幅图像的回答"),
    "answer_chosen_title": Text("The class that was chosen last, in any room", "最近在任一页面中选中的类别"),
    "companion": Text("{model} says", "{model} 认为"),
    "companion_title": Text(
        "This model has no classifier; {model} has seen the same image", "该模型没有分类头；{model} 看过同一图像"
    ),
}
