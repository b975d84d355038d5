"""How large are the two, and what do they cost? Parameters, multiply-accumulates for this input, tokens and blocks.

The views `parameters` and `cost` compute the first two, the latter at each capture's input size.
Misleading: multiplications are not time; memory traffic and the machine matter as well.
"""

from __future__ import annotations

import numpy as np

from vitexplorer.capturing.capture import Capture
from vitexplorer.comparisons.record import Comparison
from vitexplorer.comparisons.sides import names_of
from vitexplorer.core.format import measured
from vitexplorer.core.text import Text
from vitexplorer.core.types import SidesResult

COUNT = Text("count", "个数")
QUANTITIES = (
    (Text("parameters", "参数量"), COUNT),
    (Text("multiply-accumulates of one image", "单幅图像的乘加次数"), Text("MACs", "次乘加（MAC）")),
    (Text("tokens in the first block", "第一个块的标记数"), COUNT),
    (Text("tokens in the last block", "最后一块的标记数"), COUNT),
    (Text("blocks", "块数"), COUNT),
    (Text("heads in the last block", "最后一块的头数"), COUNT),
    (Text("width of a token in the last block", "最后一块的标记宽度"), COUNT),
)


def compute(left: Capture, right: Capture) -> SidesResult:
    """Compute the quantities of both, (quantities, sides)."""
    return SidesResult(
        values=np.array([quantities(left), quantities(right)], dtype=float).T,
        axes=("quantities", "sides"),
        unit=Text("of each row, its own", "每行各自的单位"),
        formula="",
        entries=tuple(name for name, _ in QUANTITIES),
        units=tuple(unit for _, unit in QUANTITIES),
        names=names_of(left, right),
    )


def quantities(capture: Capture) -> tuple[int, ...]:
    """Return the quantities of one capture, in the order of `QUANTITIES`."""
    from vitexplorer.views import compute as compute_view

    last = capture.depth - 1
    prefix = len(capture.prefix_tokens)
    return (
        compute_view("parameters", capture).total,
        compute_view("cost", capture).total,
        prefix + capture.grid(0).num_patches,
        prefix + capture.grid(last).num_patches,
        capture.depth,
        capture.num_heads(last),
        capture.residual_after(last).shape[-1],
    )


def refuses(left: Capture, right: Capture) -> Text | None:
    """Refuse models whose multiplications cannot be counted."""
    from vitexplorer.views import refusal

    return next(filter(None, (refusal("cost", capture) for capture in (left, right))), None)


def reading(result: SidesResult) -> Text:
    """State the ratios of the right to the left."""
    parameters, macs = (result.values[row, 1] / result.values[row, 0] for row in (0, 1))
    return Text(
        "The right model has {parameters} times the parameters of the left one and needs {macs} times its "
        "multiplications for this input.",
        "右侧的参数量是左侧的 {parameters} 倍，处理此输入的乘加次数是左侧的 {macs} 倍。",
    ).format(parameters=measured(parameters), macs=measured(macs))


COMPARISON = Comparison(
    title=Text("Parameters and cost side by side", "参数量与开销对比"),
    question=Text("How large are the two, and what do they cost?", "两者的规模与开销如何？"),
    misleads=Text(
        "Multiplications are not time: memory traffic and hardware matter too.",
        "乘加次数不等于时间：访存与硬件同样重要。",
    ),
    compute=compute,
    reading=reading,
    refuses=refuses,
)
