"""Texts of the patches board. The browser fills in `{name}` from the patch under the mouse."""

from __future__ import annotations

from vitexplorer.core.text import Text

BOARD_WORDS: dict[str, Text] = {
    "board": Text("The image cut into {rows} × {cols} patches", "切成 {rows} × {cols} 个图块的图像"),
    "hint": Text(
        "Point at a patch to look at it, click to keep it. Arrow keys move it. All counted from 0.",
        "指向一个图块即可查看，点击可固定，方向键可移动。编号均从 0 开始。",
    ),
    "gap": Text("Gap between the patches", "图块间距"),
    "show": Text("Show", "显示"),
    "reading_none": Text(
        "{height} × {width} px cut into {rows} × {cols} patches of {side} × {side} px: {patches:token} and no class "
        "token. The {numbers} numbers of a patch become a vector of {dim}.",
        "{height} × {width} 像素切成 {rows} × {cols} 个图块，每块 {side} × {side} 像素：共 {patches} 个图块标记，"
        "没有类别标记。每个图块的 {numbers} 个数变成 {dim} 维向量。",
    ),
    "reading_one": Text(
        "{height} × {width} px cut into {rows} × {cols} patches of {side} × {side} px: {patches:token} and 1 {name}. "
        "The {numbers} numbers of a patch become a vector of {dim}.",
        "{height} × {width} 像素切成 {rows} × {cols} 个图块，每块 {side} × {side} 像素：{patches} 个图块标记，"
        "另加 1 个{name}。每个图块的 {numbers} 个数变成 {dim} 维向量。",
    ),
    "reading_more": Text(
        "{height} × {width} px cut into {rows} × {cols} patches of {side} × {side} px: {patches:token} and {prefix} "
        "prefix tokens. The {numbers} numbers of a patch become a vector of {dim}.",
        "{height} × {width} 像素切成 {rows} × {cols} 个图块，每块 {side} × {side} 像素：{patches} 个图块标记，"
        "另加 {prefix} 个前缀标记。每个图块的 {numbers} 个数变成 {dim} 维向量。",
    ),
    "patch": Text("Patch in row {row}, column {col}", "第 {row} 行第 {col} 列的图块"),
    "index": Text("index in the sequence", "序列中的序号"),
    "zoom": Text(
        "The patch enlarged: {side} × {side} pixels. Arrow keys move over them.",
        "放大的图块：{side} × {side} 像素，方向键可逐像素移动。",
    ),
    "pixel": Text("Pixel in row {row}, column {col} of the patch", "图块内第 {row} 行第 {col} 列的像素"),
    "red": Text("red", "红"),
    "green": Text("green", "绿"),
    "blue": Text("blue", "蓝"),
    "numbers": Text("{n} numbers", "{n} 个数"),
    "sequence": Text(
        "The sequence: {tokens:token} = {prefix} prefix + {patches:patch}",
        "序列：{tokens} 个标记 = {prefix} 个前缀标记 + {patches} 个图块标记",
    ),
    "sequence_bare": Text("The sequence: {tokens:token}, one for each patch", "序列：{tokens} 个标记，每个图块一个"),
    "prefix": Text("{name}: learned, not cut from the image", "{name}：学习得到，并非从图像切出"),
    "image_failed": Text("The image could not be loaded. Please choose it again.", "图像未能加载，请重新选择。"),
}
