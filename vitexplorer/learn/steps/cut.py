"""Step: the image becomes a sequence of patches."""

from __future__ import annotations

from vitexplorer.core.text import Text
from vitexplorer.learn.step import Numbers, Seen, Step


def numbers(seen: Seen) -> Numbers:
    """Return the sizes of the first block's patch grid, and of one at twice the side."""
    patches = seen.compute("patch_grid")
    height, width = patches.image.shape[:2]
    grid = patches.grid
    return {
        "height": height,
        "width": width,
        "rows": grid.rows,
        "cols": grid.cols,
        "side": grid.patch_size,
        "patches": grid.num_patches,
        "prefix": grid.num_prefix_tokens,
        "tokens": grid.num_patches + grid.num_prefix_tokens,
        "more": 4 * grid.num_patches,
        "pairs": (grid.num_patches + grid.num_prefix_tokens) ** 2,
        "more_pairs": (4 * grid.num_patches + grid.num_prefix_tokens) ** 2,
    }


STEP = Step(
    key="cut",
    title=Text("Cut the image into patches", "把图像切成图块"),
    state={"model": "scenes_dino_patch16_192", "room": "patches"},
    light="board",
    says=Text(
        "A transformer reads a sequence, and an image is not one. So it is cut into squares of {side} × {side} pixels, "
        "read row by row like words of a page: here {rows} rows of {cols}. "
        "One more token, the class token, which is not a patch, is put in front.",
        "Transformer 读入的是序列，而图像不是序列。于是把它切成 {side} × {side} 像素的方块，像读一页文字那样逐行读取："
        "这里是 {rows} 行，每行 {cols} 个。最前面再加一个不是图块的标记，即类别标记。",
    ),
    formula=Text(
        "N = (H / P) · (W / P) + {prefix} = ({height} / {side}) · ({width} / {side}) + {prefix} = {tokens} tokens",
        "N = (H / P) · (W / P) + {prefix} = ({height} / {side}) · ({width} / {side}) + {prefix} = {tokens} 个标记",
    ),
    numbers=numbers,
    asks=Text(
        "Give the model the same image at twice the side. How many patches will there be?",
        "把同一幅图像的边长放大到两倍再交给模型，会有多少个图块？",
    ),
    choices=(Text("As many as now", "与现在一样多"), Text("Twice as many", "两倍"), Text("Four times as many", "四倍")),
    right=lambda values: 2,
    reveal=Text(
        "Four times: {patches:,} become {more:,}, for rows and columns both double. Attention compares every token "
        "with every other, so that its table grows from {pairs:,} to {more_pairs:,} numbers for each head.",
        "四倍：{patches:,} 个变成 {more:,} 个，因为行数和列数都翻倍。注意力要把每个标记与其他所有标记比较，"
        "所以每个头的表格从 {pairs:,} 个数增加到 {more_pairs:,} 个。",
    ),
    action=Text(
        "Choose another size in the bar above and see how many patches the board has.",
        "在上方的工具栏里选择另一个尺寸，看看图上有多少个图块。",
    ),
    becomes={"size": r"\d.*"},
    printed=("patch_grid", {}),
)
