"""Step: many heads attend at once, each in its own way."""

from __future__ import annotations

import numpy as np

from vitexplorer.core.text import Text
from vitexplorer.learn.step import Numbers, Seen, Step


def numbers(seen: Seen) -> Numbers:
    """Return the nearest, farthest and mean attention distances of heads, in pixels of the input."""
    distances = seen.compute("head_atlas", metric="distance").values
    near, far = (np.unravel_index(pick(distances), distances.shape) for pick in (np.nanargmin, np.nanargmax))
    return {
        "blocks": len(distances),
        "heads": seen.capture.num_heads(0),
        "all": int(np.isfinite(distances).sum()),
        "near_block": int(near[0]),
        "near_head": int(near[1]),
        "near": float(distances[near]),
        "far_block": int(far[0]),
        "far_head": int(far[1]),
        "far": float(distances[far]),
        "first": float(np.nanmean(distances[0])),
        "last": float(np.nanmean(distances[-1])),
    }


STEP = Step(
    key="heads",
    title=Text("Many heads at once", "多个头同时看"),
    state={
        "model": "scenes_dino_patch16_192",
        "size": "384",
        "room": "attention",
        "view": "attention_map",
        "block": "5",
        "head": "0",
        "query": "cls",
    },
    light="strip",
    says=Text(
        "Each block asks its question several times over, in {heads} heads, each with queries and keys of its own. "
        "The strip under the picture has all {all} heads of the {blocks} blocks for one query. "
        "Some look right beside the query, some across the whole image.",
        "每个块用 {heads} 个头同时提问，每个头有自己的查询和键。图下方的一排小图是 {blocks} 个块的全部 {all} 个头"
        "对同一查询的注意力：有的只看紧邻的地方，有的看遍整幅图像。",
    ),
    formula=Text(
        "distance of a head = mean over patches i of Σ_j A_ij · |place_i − place_j|: "
        "from {near:.3g} to {far:.3g} pixels",
        "一个头的距离 = 对各图块 i 取平均的 Σ_j A_ij · |位置_i − 位置_j|：{near:.3g} 到 {far:.3g} 像素",
    ),
    numbers=numbers,
    asks=Text(
        "Where do heads look farther on average, in the first block or in the last?",
        "平均而言，第一个块的头看得更远，还是最后一个块的头看得更远？",
    ),
    choices=(Text("In the first block", "第一个块"), Text("In the last block", "最后一个块")),
    right=lambda values: int(values["last"] > values["first"]),
    reveal=Text(
        "{first:.3g} pixels in the first block, {last:.3g} in the last. The nearest of all is head {near_head} of "
        "block {near_block} ({near:.3g} pixels), the farthest head {far_head} of block {far_block} ({far:.3g}).",
        "第一个块平均 {first:.3g} 像素，最后一个块 {last:.3g} 像素。看得最近的是块 {near_block} 的头 {near_head}"
        "（{near:.3g} 像素），最远的是块 {far_block} 的头 {far_head}（{far:.3g} 像素）。",
    ),
    action=Text(
        "Bring head {near_head} of block {near_block} onto the stage: click it in the strip.",
        "在下方小图中点击块 {near_block} 的头 {near_head}，把它显示到主图上。",
    ),
    becomes={"block": "{near_block}", "head": "{near_head}"},
    printed=("head_gallery", {"block": "5", "query": "cls"}),
)
