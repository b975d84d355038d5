"""Are there patches that the model uses as scratch paper? The length of every token after every block.

Darcet et al. 2023 (arXiv 2309.16588): large models put global information into a few patches of empty background,
whose tokens become several times longer than the others; registers take over this role. The paper's threshold (150 for
DINOv2 giant) fits one model only. Here a patch is marked if its norm lies beyond Q3 + 3 (Q3 - Q1) of the patches of its
block, Tukey's "far out". Prefix tokens are shown and never marked. Swin's later blocks have fewer tokens.
"""

from __future__ import annotations

import numpy as np

from vitexplorer.capturing.capture import Capture
from vitexplorer.core.format import counted, measured
from vitexplorer.core.paper import Paper
from vitexplorer.core.stacking import stacked
from vitexplorer.core.text import Text, present
from vitexplorer.core.types import MatrixResult
from vitexplorer.quantities.outliers import far_out
from vitexplorer.views.record import View

OUTLIERS = Text(
    "Outliers, more than 3 interquartile ranges above the upper quartile of their block: {count}.",
    "离群图块（范数比所在块的上四分位数高出 3 倍四分位距以上）：{count} 个。",
)
FEWER = Text("Later blocks have fewer tokens; the rest is empty (NaN).", "靠后的块标记较少；其余留空（NaN）。")


def compute(capture: Capture) -> MatrixResult:
    """Compute the L2 norm of each token after each block, (blocks, tokens), prefix tokens first; `marked`: outliers."""
    streams = [capture.residual_after(block) for block in range(capture.depth)]
    norms = [tokens.double().norm(dim=-1).cpu().numpy() for tokens in streams]
    values = stacked(norms)
    marked = np.zeros(values.shape, dtype=bool)
    prefix = len(capture.prefix_tokens)
    for row, of_block in zip(marked, norms, strict=True):
        row[prefix : len(of_block)] = far_out(of_block[prefix:])
    return MatrixResult(
        values=values,
        axes=("blocks", "tokens"),
        unit=Text("L2 norm after the block", "块输出的 L2 范数"),
        formula="|x_i|",
        notes=present(OUTLIERS.format(count=int(marked.sum())), FEWER if np.isnan(values).any() else None),
        marked=marked,
    )


def reading(result: MatrixResult) -> Text:
    """Say how many patches stand out, where and by how much; if none does, how the median length changes."""
    outlier_counts = result.marked.sum(1)
    medians = np.nanmedian(result.values, axis=1)
    last = len(medians) - 1
    if not outlier_counts.any():
        return Text(
            "No block has an outlier; the median length of a token is {start} after block 0 and {end} after block "
            "{last}.",
            "任何一块都没有离群图块；标记长度的中位数在块 0 之后为 {start}，在块 {last} 之后为 {end}。",
        ).format(start=measured(medians[0]), end=measured(medians[-1]), last=last)
    outliers = np.where(result.marked, result.values / medians[:, None], -np.inf)
    block = int(np.unravel_index(outliers.argmax(), outliers.shape)[0])
    return Text(
        "{some} of {blocks:block} {some:~has/have} outliers, block {most} the most: {count}. The longest, after block "
        "{block}, is {times} times as long as the median token there.",
        "{blocks} 个块中有 {some} 个出现离群图块，块 {most} 之后最多：{count} 个。最长的在块 {block} 之后，"
        "是那里中位长度的 {times} 倍。",
    ).format(
        some=int((outlier_counts > 0).sum()),
        blocks=len(outlier_counts),
        most=int(outlier_counts.argmax()),
        count=counted(outlier_counts.max()),
        block=block,
        times=measured(outliers.max()),
    )


VIEW = View(
    title=Text("Token norms", "标记的范数"),
    question=Text("Are some tokens much longer than the others?", "是否有些标记的范数远大于其他标记？"),
    misleads=Text(
        "Tokens get longer from block to block in every model. Only a few tokens that stand out in their block are "
        "outliers.",
        "任何模型的标记范数都会逐块增长；只有在同一块中格外突出的少数标记才算离群标记。",
    ),
    room="tokens",
    compute=compute,
    reads=("stream",),
    reading=reading,
    paper=Paper("Darcet et al. 2023", "https://arxiv.org/abs/2309.16588"),
)
