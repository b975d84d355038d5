"""Step: a patch of pixels becomes a token, by one matrix for all patches and a vector for the place."""

from __future__ import annotations

import numpy as np

from vitexplorer.core.text import Text, UnsupportedError
from vitexplorer.core.types import TokenStepsResult
from vitexplorer.learn.step import Numbers, Seen, Step


def numbers(seen: Seen) -> Numbers:
    """Return sizes and norms for the sharpest patch. Raises UnsupportedError if no position vector is added."""
    from vitexplorer.views.patch_to_token import PLACE

    result: TokenStepsResult = seen.compute("patch_to_token")
    names = [step.name for step in result.steps]
    if PLACE not in names:
        raise UnsupportedError(
            Text("{model} adds no vector for the place to its tokens.", "{model} 不给标记加上位置向量。").format(
                model=seen.capture.model.title
            )
        )
    at = names.index(PLACE)
    content, place = (float(np.linalg.norm(result.steps[n].numbers)) for n in (at - 1, at))
    pixels = result.patch.size
    dim = result.values.size
    return {
        "row": result.place[0],
        "col": result.place[1],
        "side": result.grid.patch_size,
        "pixels": pixels,
        "dim": dim,
        "weights": dim * pixels,
        "content": content,
        "place": place,
    }


STEP = Step(
    key="embed",
    title=Text("Each patch becomes a token", "每个图块变成一个标记"),
    state={"model": "scenes_dino_patch16_192", "size": "384", "room": "tokens", "view": "patch_to_token"},
    light="panel",
    says=Text(
        "A patch is {side} × {side} pixels of 3 colours, written one after the other as {pixels} numbers. "
        "One learned matrix, the same for every patch, turns them into a token. "
        "It cannot say where the patch was, so a learned vector for the place is added.",
        "一个图块是 {side} × {side} 个像素，每个像素 3 个颜色值，依次排成 {pixels} 个数。"
        "一个学到的矩阵（所有图块共用）把它们变成标记。仅凭这个矩阵看不出图块原来在哪里，"
        "所以再加上一个学到的位置向量。",
    ),
    formula=Text(
        "z = W x + b + e, with x of {pixels} numbers and W of {dim} × {pixels} = {weights:,}",
        "z = W x + b + e，其中 x 有 {pixels} 个数，W 有 {dim} × {pixels} = {weights:,} 个数",
    ),
    numbers=numbers,
    asks=Text("The patch has {pixels} numbers. How many has its token?", "图块有 {pixels} 个数，它的标记有多少个数？"),
    choices=(Text("Fewer", "更少"), Text("As many", "一样多"), Text("More", "更多")),
    right=lambda values: 1 + int(np.sign(values["dim"] - values["pixels"])),
    reveal=Text(
        "{dim}: this is the width of the model, and every token keeps it through all blocks. For the patch in row "
        "{row}, column {col}, what the pixels give has the length {content:.3g}, what is added for the place "
        "{place:.3g}.",
        "{dim} 个：这是模型的宽度，每个标记在所有块中都保持这一宽度。对第 {row} 行、第 {col} 列的图块，"
        "由像素得到的向量长度为 {content:.3g}，为位置加上的向量长度为 {place:.3g}。",
    ),
    action=Text(
        "Click another patch in the small picture of the settings and watch its numbers change.",
        "在“设置”的小图中点击另一个图块，看看它的数怎样变化。",
    ),
    becomes={"v.patch": r"\d+,\d+"},
)
