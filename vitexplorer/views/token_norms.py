"""Are there patches that the model uses as scratch paper? The length of every token after every block.

Darcet et al. 2023 (arXiv 2309.16588): large models put global information into a few patches of empty background,
whose tokens then are several times longer than the others; registers take that over. The paper's threshold (150 for
DINOv2 giant) is one model's. Here a patch is marked where its norm lies beyond Q3 + 3 (Q3 - Q1) of the patches of its
block, Tukey's "far out". Prefix tokens are shown and never marked. Swin's later blocks have fewer tokens.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float

from vitexplorer.capture import Capture
from vitexplorer.interfaces import Paper, View
from vitexplorer.types import MatrixResult
from vitexplorer.words import Text

TITLE = Text("Token norms", "标记的范数")
FAR_OUT = 3.0
"""interquartile ranges beyond the upper quartile (Tukey 1977)"""


def far_out(norms: Float[np.ndarray, " patches"]) -> Bool[np.ndarray, " patches"]:
    """Norms that are far above the others."""
    lower, upper = np.quantile(norms, (0.25, 0.75))
    return norms > upper + FAR_OUT * (upper - lower)


def compute(capture: Capture) -> MatrixResult:
    """L2 norm of each token after each block, (blocks, tokens), prefix tokens first; outliers in `marked`."""
    streams = [capture.residual_after(block) for block in range(capture.depth)]
    values = np.full((len(streams), max(map(len, streams))), np.nan)
    marked, prefix = np.zeros(values.shape, dtype=bool), len(capture.prefix_tokens)
    for block, tokens in enumerate(streams):
        norms = tokens.double().norm(dim=-1).cpu().numpy()
        values[block, : len(norms)] = norms
        marked[block, prefix : len(norms)] = far_out(norms[prefix:])
    notes = [
        Text(
            "Outliers, more than 3 interquartile ranges above the upper quartile of their block: {count}.",
            "离群者（超出所在块上四分位数 3 倍四分位距以上）：{count} 个。",
        ).format(count=int(marked.sum()))
    ]
    if np.isnan(values).any():
        notes.append(
            Text("Later blocks have fewer tokens; the rest is empty (NaN).", "靠后的块标记较少；其余留空 (NaN)。")
        )
    return MatrixResult(
        view="token_norms",
        title=TITLE,
        values=values,
        axes=("blocks", "tokens"),
        unit=Text("L2 norm after the block", "块输出的 L2 范数"),
        formula="|x_i|",
        provenance=capture.provenance,
        notes=tuple(notes),
        marked=marked,
    )


VIEW = View(
    title=TITLE,
    question=Text("Are some tokens much longer than the others?", "是否有些标记的范数远大于其他标记？"),
    misleads=Text(
        "Long tokens grow block by block in every model; only a few among many of the same block are outliers.",
        "任何模型的标记范数都会逐块增长；只有同一块中的少数异常值才算离群。",
    ),
    room="tokens",
    compute=compute,
    paper=Paper("Darcet et al. 2023", "https://arxiv.org/abs/2309.16588"),
)
