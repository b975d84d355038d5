"""What kind of head is where? One number for each head of each block, the whole network at a glance.

Every metric is a mean over the patches as queries: `distance` in pixels (as the view attention_distance, raw),
`entropy` in nats (with its share of log keys, what uniform attention would have), `class_mass` on the class token,
`prefix_mass` on all prefix tokens together, `self_mass` on the query itself, `peak` the largest weight.
After Raghu et al. 2021 (arXiv 2108.08810), section 3, and Voita et al. 2019 (arXiv 1905.09418).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from jaxtyping import Float

from vitexplorer.capturing.capture import Capture
from vitexplorer.controls import Choice
from vitexplorer.core.capture_protocol import CaptureProtocol
from vitexplorer.core.format import measured, percent
from vitexplorer.core.paper import Paper
from vitexplorer.core.text import ITEMS, Text, present, same
from vitexplorer.core.types import MatrixResult, prefix_text
from vitexplorer.quantities.head_statistics import distances, head_measures, over_blocks, uneven_heads
from vitexplorer.quantities.on_the_map import ALIKE, is_constant
from vitexplorer.views.record import View

TITLE = Text("Head atlas", "注意力头总览")
METRICS = {
    "distance": Text("attention distance", "注意力距离"),
    "entropy": Text("entropy", "熵"),
    "class_mass": Text("mass on the class token", "落在类别标记上的注意力"),
    "prefix_mass": Text("mass on all prefix tokens", "落在全部前缀标记上的注意力"),
    "self_mass": Text("mass on the query itself", "落在查询自身上的注意力"),
    "peak": Text("largest weight", "最大权重"),
}
SHARE = Text("share of a query's attention", "占一个查询注意力的份额")
UNITS = {"distance": Text("pixels of the model's input", "模型输入的像素"), "entropy": Text("nats", "奈特（nat）")}
FORMULAS = {
    "distance": "mean_i Σ_j A_ij D_ij",
    "entropy": "mean_i −Σ_j A_ij ln A_ij",
    "class_mass": "mean_i A_i,cls",
    "prefix_mass": "mean_i Σ_{j < p} A_ij",
    "self_mass": "mean_i A_ii",
    "peak": "mean_i max_j A_ij",
}
READ = {
    "distance": Text(
        "{A} looks farthest, {most} px on average; {b} looks nearest, {least} px.",
        "看得最远的是{A}，平均 {most} 像素；最近的是{b}，为 {least} 像素。",
    ),
    "entropy": Text(
        "{A} is the most even, with {most} nats ({share} of the possible maximum); {b} is the least even, with "
        "{least}.",
        "看得最均匀的是{A}，{most} 奈特，为最大可能值的 {share}；最集中的是{b}，为 {least}。",
    ),
    "class_mass": Text(
        "{A} gives the class token the most, {most} of its attention; {b} gives it the least, {least}.",
        "给类别标记最多的是{A}，占其注意力的 {most}；最少的是{b}，为 {least}。",
    ),
    "prefix_mass": Text(
        "{A} gives the prefix tokens the most, {most} of its attention; {b} gives them the least, {least}.",
        "给前缀标记最多的是{A}，占其注意力的 {most}；最少的是{b}，为 {least}。",
    ),
    "self_mass": Text(
        "{A} gives the query itself the most, {most} of its attention; {b} gives it the least, {least}.",
        "留给查询自身最多的是{A}，占其注意力的 {most}；最少的是{b}，为 {least}。",
    ),
    "peak": Text(
        "{A} is the sharpest, with a largest weight of {most} on average; {b} is the least sharp, with {least}.",
        "看得最集中的是{A}：最大权重平均为 {most}。最不集中的是{b}，为 {least}。",
    ),
}
NOTES = {
    "entropy": Text(
        "The share is that of ln(keys), the most there can be; masked keys of a shifted window count as keys.",
        "百分比为占最大可能值 ln（键数）的比例；移位窗口中被掩码遮住的键也计入键数。",
    ),
    "distance": Text(
        "Attention on prefix tokens and padding counts as distance zero.", "落在前缀标记和填充上的注意力，距离按零计。"
    ),
}
OPTIONS = tuple(sorted(METRICS.items(), key=lambda option: option[0] == "distance"))
"""Metrics with distance last, which `attention_distance` shows already"""
PATCHES_ONLY = Text("Averaged over the patches as queries.", "对作为查询的所有图块取平均。")


class MetricControl(Choice):
    """Control for the metric; the mass on the class token is a choice only for models that have one."""

    def refusal(self, option: str, capture: CaptureProtocol, settings: Mapping[str, Any]) -> Text | None:
        """Return the reason why there is no mass on a class token, or None for any other metric."""
        if option != "class_mass" or "cls" in capture.prefix_tokens:
            return None
        return Text(
            "{model} has no class token, so there is no mass on it.", "{model} 没有类别标记，因此没有落在其上的注意力。"
        ).format(model=capture.model.title)


def table_of(metric: str, capture: Capture) -> Float[np.ndarray, "blocks heads"]:
    """Compute a metric of every head."""
    if metric == "distance":
        return distances(capture)
    return over_blocks(capture, lambda block: {metric: head_measures(capture, block)[metric]})[metric]


def compute(capture: Capture, metric: str) -> MatrixResult:
    """Compute one number for each head, (blocks, heads); NaN where a block has fewer heads."""
    values = table_of(metric, capture)
    relative = None
    if metric == "entropy":
        most = [math.log(capture.call(block).num_tokens) for block in range(capture.depth)]
        relative = values / np.maximum(most, np.finfo(float).tiny)[:, None]
    return MatrixResult(
        title=Text("{title}: {metric}", "{title}：{metric}").format(title=TITLE, metric=METRICS[metric]),
        values=values,
        axes=("blocks", "heads"),
        unit=UNITS.get(metric, SHARE),
        formula=FORMULAS[metric],
        notes=present(PATCHES_ONLY, uneven_heads(values), note_of(capture, metric)),
        relative=relative,
    )


def note_of(capture: Capture, metric: str) -> Text | None:
    """Return the note on a metric, or None."""
    if metric != "prefix_mass":
        return NOTES.get(metric)
    names = [prefix_text(name) for name in capture.prefix_tokens]
    if not names:
        return Text("This model has no prefix tokens.", "该模型没有前缀标记。")
    return Text("The p prefix tokens: {names}.", "p 个前缀标记：{names}。").format(names=ITEMS.join(names))


def head_with(values: Float[np.ndarray, "blocks heads"], extreme: float) -> Text:
    """Name the head and block with this number, and how many others share it."""
    at = np.argwhere(np.isclose(values, extreme, rtol=ALIKE, atol=0))
    block, head = (int(n) for n in at[0])
    others = len(at) - 1
    tied = Text(f", with {others} other{'' if others == 1 else 's'} alike,", f"（另有 {others} 个相同）")
    return Text("head {head} of block {block}{tied}", "块 {block} 的头 {head}{tied}").format(
        block=block, head=head, tied=tied if others else same("")
    )


def reading(result: MatrixResult) -> Text:
    """Name the two heads at the ends of the scale."""
    metric = result.settings["metric"]
    most, least = (float(extreme(result.values)) for extreme in (np.nanmax, np.nanmin))
    write = measured if metric in UNITS else percent
    if is_constant(result.values):
        return Text("All heads are the same: {metric} {most}.", "所有头的数值都相同：{metric} {most}。").format(
            metric=METRICS[metric], most=write(most)
        )
    share = result.relative if result.relative is not None else result.values
    first = head_with(result.values, most)
    return READ[metric].format(
        A=Text(first.en.capitalize(), first.zh),
        b=head_with(result.values, least),
        most=write(most),
        least=write(least),
        share=percent(float(share[result.values == most].max())),
    )


VIEW = View(
    title=TITLE,
    question=Text("Which kinds of heads are where in the network?", "网络的各处分别是哪一类头？"),
    misleads=Text(
        "A mean over queries hides heads that treat patches differently, and one image is only one sample.",
        "对查询取平均，会掩盖对不同图块表现不同的头；而且一幅图像只是一个样本。",
    ),
    room="attention",
    compute=compute,
    reads=("attention",),
    reading=reading,
    controls=(MetricControl("metric", Text("Metric", "指标"), OPTIONS),),
    paper=Paper("Raghu et al. 2021", "https://arxiv.org/abs/2108.08810"),
)
