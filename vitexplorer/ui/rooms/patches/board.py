"""Component of the patches board, and its data for the browser."""

from __future__ import annotations

from collections.abc import Sequence

from vitexplorer.core.text import Language, Text
from vitexplorer.core.types import PatchGrid, prefix_text
from vitexplorer.ui.kit.served_files import ServedFile
from vitexplorer.ui.kit.widget import Widget
from vitexplorer.ui.shell.frame import FrameData, frame_words

BOARD_WORDS: dict[str, Text] = {
    "board": Text("The image cut into {rows} × {cols} patches", "切成 {rows} × {cols} 个图块的图像"),
    "hint": Text(
        "Point at a patch to look at it, click to keep it. Arrow keys move it. All counted from 0.",
        "指向一个图块即可查看，点击可固定，方向键可移动。均从 0 开始计数。",
    ),
    "gap": Text("Gap between the patches", "图块间距"),
    "show": Text("Show", "显示"),
    "reading_none": Text(
        "{height} × {width} px cut into {rows} × {cols} patches of {side} × {side} px: {patches} tokens and no class "
        "token. The {numbers} numbers of a patch become a vector of {dim}.",
        "{height} × {width} 像素切成 {rows} × {cols} 个图块，每块 {side} × {side} 像素：共 {patches} 个图块标记，"
        "没有类别标记。每个图块的 {numbers} 个数变成 {dim} 维向量。",
    ),
    "reading_one": Text(
        "{height} × {width} px cut into {rows} × {cols} patches of {side} × {side} px: {patches} tokens and 1 {name}. "
        "The {numbers} numbers of a patch become a vector of {dim}.",
        "{height} × {width} 像素切成 {rows} × {cols} 个图块，每块 {side} × {side} 像素：{patches} 个图块标记，"
        "另加 1 个{name}。每个图块的 {numbers} 个数变成 {dim} 维向量。",
    ),
    "reading_more": Text(
        "{height} × {width} px cut into {rows} × {cols} patches of {side} × {side} px: {patches} tokens and {prefix} "
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
        "The sequence: {tokens} tokens = {prefix} prefix + {patches} patches",
        "序列：{tokens} 个标记 = {prefix} 个前缀标记 + {patches} 个图块标记",
    ),
    "sequence_bare": Text("The sequence: {tokens} tokens, one for each patch", "序列：{tokens} 个标记，每个图块一个"),
    "prefix": Text("{name}: learned, not cut from the image", "{name}：学习得到，并非取自图像"),
    "image_failed": Text("The image did not arrive. Please choose it again.", "图像未能载入，请重新选择。"),
}


class BoardData(FrameData):
    """One image as a sequence of tokens."""

    image: ServedFile | None = None
    """Lossless file of the pixels that the model saw"""
    rows: int = 0
    cols: int = 0
    patch_size: int = 0
    """Side of a patch in pixels of the model's input"""
    embed_dim: int = 0
    prefix_tokens: list[str] = []
    """Prefix tokens in words"""
    num_tokens: int = 0
    start: tuple[int, int] = (0, 0)
    """Row and column of the patch that is enlarged until another is picked"""
    caption: list[str] = []
    """Lines under a saved picture: model, weights, image"""
    saved_as: str = ""
    """First part of the name of a saved picture: view, model, run"""


class PatchesBoard(Widget):
    """Component with the image in patches, the picked patch enlarged, and the sequence of tokens.

    Event: `patch_select` with `row` and `col` when a patch is clicked or Enter is pressed on it.
    """

    data_model = BoardData
    stem = "board"
    sends = ("patch_select",)


def board_data(
    image: ServedFile,
    grid: PatchGrid,
    prefix_tokens: Sequence[str],
    embed_dim: int,
    language: Language,
    caption: Sequence[Text] = (),
    *,
    start: tuple[int, int] = (0, 0),
    saved_as: str = "patches",
) -> BoardData:
    """Return the data of the board for one image.

    Args:
        image: lossless file of the pixels that the model saw, (rows * patch_size) x (cols * patch_size).
        grid: patch grid of the first block.
        prefix_tokens: names of the prefix tokens in order: "cls", "dist", "reg1", ...
        embed_dim: width of a token of the first block.
        language: language of all texts.
        caption: lines under a saved picture.
        start: row and column of the patch that is enlarged first.
        saved_as: first part of the name of a saved picture.
    """
    return BoardData(
        image=image,
        rows=grid.rows,
        cols=grid.cols,
        patch_size=grid.patch_size,
        embed_dim=embed_dim,
        prefix_tokens=[prefix_text(name).in_(language) for name in prefix_tokens],
        num_tokens=len(prefix_tokens) + grid.num_patches,
        start=start,
        caption=[line.in_(language) for line in caption],
        saved_as=saved_as,
        words=frame_words(language) | {key: text.in_(language) for key, text in BOARD_WORDS.items()},
    )


def reading(
    size: tuple[int, int], grid: PatchGrid, prefix_tokens: Sequence[str], embed_dim: int, language: Language
) -> str:
    """Describe the cut of (height, width) pixels in two sentences: the number of tokens, and the size of a token."""
    key = {0: "reading_none", 1: "reading_one"}.get(len(prefix_tokens), "reading_more")
    sentences = BOARD_WORDS[key].format(
        height=size[0],
        width=size[1],
        rows=grid.rows,
        cols=grid.cols,
        side=grid.patch_size,
        patches=f"{grid.num_patches:,}",
        prefix=len(prefix_tokens),
        name=prefix_text(prefix_tokens[0]) if prefix_tokens else "",
        numbers=f"{3 * grid.patch_size**2:,}",
        dim=f"{embed_dim:,}",
    )
    return sentences.in_(language)
