"""Texts of the room Compare."""

from __future__ import annotations

from vitexplorer.core.text import Text

COMPARE_WORDS: dict[str, Text] = {
    "answers": Text("Left: {left}. Right: {right}.", "左：{left}。右：{right}。"),
    "left": Text("left", "左侧"),
    "right": Text("right", "右侧"),
    "left_of": Text("Left: {name}", "左：{name}"),
    "right_of": Text("Right: {name}", "右：{name}"),
    "hint": Text(
        "Point at a token to follow it in both networks, click to keep it.",
        "指向一个标记即可在两个网络中追踪，点击可固定。",
    ),
    "swap": Text("Swap sides", "左右互换"),
    "left_changed": Text("Left: as in What if", "左侧：按“假如改变”"),
    "right_changed": Text("Right: as in What if", "右侧：按“假如改变”"),
    "scales": Text(
        "Two scales: the brightest colour is {left} on the left and {right} on the right.",
        "两侧标度不同：最亮的颜色在左侧表示 {left}，在右侧表示 {right}。",
    ),
    "presets": Text("Pairs to begin with", "可以先看的组合"),
    "vit_dino": Text("ViT beside DINO", "ViT 与 DINO"),
    "vit_swin": Text("ViT beside Swin", "ViT 与 Swin"),
    "dino_mae": Text("DINO beside MAE", "DINO 与 MAE"),
    "registers": Text("without and with registers", "无寄存器与有寄存器"),
    "pictures": Text("several pictures, one basis", "多幅图像，同一组基"),
    "trained": Text("trained beside random", "已训练与随机权重"),
    "sizes": Text("{one} beside {other} px", "{one} 与 {other} 像素"),
    "images": Text(
        "Two images: the mouse is at the same share of height and width in both, whatever lies there.",
        "两幅不同的图像：鼠标在两边的相对高度与宽度相同，与那里是什么内容无关。",
    ),
    "fits": Text(
        "The two sides fit the image differently: the same place in both pictures is not the same part of the image.",
        "两边的图像适配方式不同：两幅图中的相同位置并不是图像的同一部分。",
    ),
    "grids": Text(
        "Patches: {one} and {other}. The pointer marks the same place of the image on both sides.",
        "此处的图块：左 {one}，右 {other}。鼠标在两边标出图像的同一位置。",
    ),
    "depths": Text(
        "Block {one} of 0–{last} is compared with block {other} of 0–{other_last}, at about the same relative depth.",
        "块 {one}（0–{last}）与块 {other}（0–{other_last}）对比：相对深度大致相同。",
    ),
    "token": Text(
        "The {side} model has no {token}: it shows the mean over its patches instead.",
        "{side}模型没有{token}：改为显示图块平均。",
    ),
    "change": Text("Changed on the {side}: {what}.", "{side}的更改：{what}。"),
}
