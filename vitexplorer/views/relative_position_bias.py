"""Which offsets does each head prefer before it has seen anything? The bias that is added to its scores.

Swin (arXiv 2103.14030, equation 4) learns a table. Swin V2 (arXiv 2111.09883, section 3.3) learns a small network over
logarithms of offsets and adds 16 sigmoid of its output. BEiT (arXiv 2106.08254) learns a table, in some models shared
by all blocks. Entry (dy, dx) is added where the query lies dy rows below and dx columns right of the key, so zero is in
the middle, and the left column is for keys to the right. In nats: a difference of 1 is a factor e before the softmax.
Misleading: content usually decides; a strong bias shows what a head does when content has nothing to say.
"""

from __future__ import annotations

import numpy as np

from vitexplorer.capturing.capture import Capture
from vitexplorer.controls import BlockControl
from vitexplorer.core.capture_protocol import refuse_if
from vitexplorer.core.format import signed
from vitexplorer.core.paper import Paper
from vitexplorer.core.text import Text, present, same
from vitexplorer.core.types import OffsetsResult
from vitexplorer.quantities.on_the_map import is_constant
from vitexplorer.views.record import View

DIRECTION = Text(
    "Offsets are query minus key: the top left entry is for a key far below and to the right of the query.",
    "偏移为查询减键：左上角对应位于查询右下方远处的键。",
)
CLASS_TOKEN = Text("The three entries for the class token are left out.", "与类别标记有关的三个条目未显示。")


def compute(capture: Capture, block: int) -> OffsetsResult:
    """Return the bias of each offset, (heads, 2 Wh - 1, 2 Ww - 1), for windows of Wh x Ww cells (BEiT: the grid)."""
    values = capture.model.family.relative_bias(capture.model.module, block).cpu().numpy()
    _, rows, cols = values.shape
    return OffsetsResult(
        values=values,
        axes=("heads", "row_offsets", "col_offsets"),
        unit=Text("added to the scores before the softmax", "softmax 之前加到分数上的值"),
        formula=Text("softmax(scores + B[query − key])", "softmax(分数 + B[查询 − 键])"),
        notes=present(DIRECTION, CLASS_TOKEN if capture.prefix_tokens else None),
        row_offsets=tuple(range(-(rows // 2), rows // 2 + 1)),
        col_offsets=tuple(range(-(cols // 2), cols // 2 + 1)),
    )


def place_text(rows: int, cols: int) -> Text:
    """Describe the place of a key by its offset, query minus key: 2 rows above and 1 column to the left."""
    en, zh = [], []
    if rows:
        en.append(f"{abs(rows)} {'row' if abs(rows) == 1 else 'rows'} {'above' if rows > 0 else 'below'}")
        zh.append(f"{'上' if rows > 0 else '下'}方 {abs(rows)} 行")
    if cols:
        side = "left" if cols > 0 else "right"
        en.append(f"{abs(cols)} {'column' if abs(cols) == 1 else 'columns'} to the {side}")
        zh.append(f"{'左' if cols > 0 else '右'}侧 {abs(cols)} 列")
    return Text(" and ".join(en) or "at its own place", "、".join(zh) or "自身")


def reading(result: OffsetsResult) -> Text:
    """Name the head with the strongest bias, the keys that it prefers and avoids, and the head with the weakest."""
    flat = result.values.reshape(len(result.values), -1)
    spread = np.ptp(flat, axis=1)
    strong, weak = int(spread.argmax()), int(spread.argmin())
    if is_constant(flat[strong]):
        return Text(
            "No head prefers a position: all offsets have the same bias.", "各头都不偏好任何位置：所有偏移的偏置相同。"
        )

    def place(at: int) -> Text:
        row, col = divmod(at, len(result.col_offsets))
        return place_text(result.row_offsets[row], result.col_offsets[col])

    weakest = Text(
        " Head {head} depends on it least: {low} to {high}.", "头 {head} 最不在意，从 {low} 到 {high}。"
    ).format(head=weak, low=signed(flat[weak].min()), high=signed(flat[weak].max()))
    return Text(
        "Head {head} depends on the place most: it prefers the key {near} ({high}) and avoids the key {far} ({low})."
        "{weakest}",
        "头 {head} 最在意位置：它偏好{near}的键（{high}），避开{far}的键（{low}）。{weakest}",
    ).format(
        head=strong,
        near=place(int(flat[strong].argmax())),
        high=signed(flat[strong].max()),
        far=place(int(flat[strong].argmin())),
        low=signed(flat[strong].min()),
        weakest=weakest if weak != strong else same(""),
    )


VIEW = View(
    title=Text("Relative position bias", "相对位置偏置"),
    question=Text("Which neighbours does each head prefer?", "每个头偏好哪些邻居？"),
    misleads=Text(
        "The bias is only a part of the score; the content of query and key usually counts more.",
        "偏置只是分数的一部分；查询与键的内容通常占更大比重。",
    ),
    room="positions",
    compute=compute,
    reads=(),
    names_of_timm=True,
    reading=reading,
    controls=(BlockControl(),),
    paper=Paper("Liu et al. 2021", "https://arxiv.org/abs/2103.14030"),
    refuses=refuse_if(
        lambda capture: capture.model.family.relative_bias(capture.model.module, 0) is None,
        Text("{model} adds no bias for relative positions.", "{model} 不使用相对位置偏置。"),
    ),
)
