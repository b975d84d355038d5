"""Step: attention in windows instead of the whole image, and exchange between windows."""

from __future__ import annotations

from vitexplorer.core.text import Text, UnsupportedError
from vitexplorer.learn.step import Numbers, Seen, Step

NO_WINDOWS = Text(
    "{model} has no windows: every token looks at the whole image.", "{model} 没有窗口：每个标记都看整幅图像。"
)


def numbers(seen: Seen) -> Numbers:
    """Return windows and grid of the first block, the shift of the second, and the grid of the last.

    Raises UnsupportedError for a model without windows.
    """
    capture = seen.capture
    if capture.site(0).windows is None:
        raise UnsupportedError(NO_WINDOWS.format(model=capture.model.title))
    patches = seen.compute("patch_grid")
    side = capture.site(0).windows.window_size[0]
    return {
        "rows": patches.grid.rows,
        "patches": patches.grid.num_patches,
        "pixels": patches.grid.patch_size,
        "side": side,
        "window": side * side,
        "shift": capture.site(1).windows.shift_size[0],
        "windowed": patches.grid.num_patches * side * side,
        "all": patches.grid.num_patches**2,
        "last_rows": capture.grid(capture.depth - 1).rows,
        "last_pixels": capture.grid(capture.depth - 1).patch_size,
    }


STEP = Step(
    key="swin",
    title=Text("Windows that move", "会移动的窗口"),
    state={
        "model": "scenes_swin_patch4_window6_192",
        "room": "attention",
        "view": "attention_map",
        "block": "0",
        "head": "0",
        "query": "20,20",
    },
    light="stage",
    says=Text(
        "Patches of {pixels} pixels see more detail, but there are {patches:,} of them, too many to compare each with "
        "each in block after block. Swin cuts the grid into windows of {side} × {side} patches, and only "
        "tokens of one window look at each other: the lit square around the query.",
        "{pixels} 像素的图块能保留更多细节，但共有 {patches:,} 个，每个块都要两两比较，就太多了。"
        "Swin 把网格切成 {side} × {side} 个图块的窗口，只有同一窗口内的标记才互相关注，即查询周围亮起的方块。",
    ),
    formula=Text(
        "pairs of a head = N · M² = {patches:,} · {side}² = {windowed:,}, in place of N² = {all:,}",
        "每个头的查询-键对 = N · M² = {patches:,} · {side}² = {windowed:,}，而不是 N² = {all:,}",
    ),
    numbers=numbers,
    asks=Text(
        "If windows never moved, could something at the left edge ever reach the right edge before patches are merged?",
        "如果窗口从不移动，在合并图块之前，左边缘的信息能传到右边缘吗？",
    ),
    choices=(
        Text("Yes, through many blocks", "能，经过许多块即可"),
        Text("No, it stays in its window", "不能，它一直留在自己的窗口里"),
    ),
    right=lambda values: 1,
    reveal=Text(
        "It would stay in its {window} patches. So every second block moves the windows by {shift} patches, where "
        "neighbours on both sides of a border share one. Later, merging makes {last_rows} rows of {rows}, with "
        "patches of {last_pixels} pixels.",
        "它会一直留在那 {window} 个图块里。因此每隔一个块，窗口移动 {shift} 个图块，"
        "边界两侧的邻居在那里处于同一窗口；合并图块后，{rows} 行变为 {last_rows} 行，每个图块 {last_pixels} 像素。",
    ),
    action=Text(
        "Go one block on and hold a patch: see how its window lies now.",
        "前往下一个块并点住一个图块，看看它的窗口现在位于何处。",
    ),
    becomes={"block": "1", "query": r"\d+,\d+"},
)
