"""How far does each head look, in pixels? Local heads beside global ones, block by block.

Mean over patches i of sum_j A_ij D_ij, where D_ij is the distance between patch centres in pixels of the model's input
(Dosovitskiy et al. 2021, arXiv 2010.11929, figure 7 right; probing-vits). Two normalisations are in use. "raw" drops
the columns of the prefix tokens and leaves the rows unnormalised: uniform attention on 14 x 14 patches of 16 pixels
with one class token gives 115.90 px. "renormalised" divides by the mass on patches: 116.49 px. In Swin no distance can
be longer than the window, whose shift is respected. The paper averages over many images, this view shows one.
"""

from __future__ import annotations

import numpy as np

from vitexplorer.capturing.capture import Capture
from vitexplorer.controls import Choice
from vitexplorer.core.format import measured
from vitexplorer.core.paper import Paper
from vitexplorer.core.text import Text, present, same
from vitexplorer.core.types import MatrixResult
from vitexplorer.quantities.head_statistics import distances, uneven_heads
from vitexplorer.quantities.on_the_map import is_constant
from vitexplorer.views.record import View

ONE_IMAGE = Text("For this image only; the paper averages over many.", "仅针对这一幅图像；论文中是对许多图像取平均。")
DROPPED = Text(
    "Attention on prefix tokens or padding counts as distance zero.", "落在前缀标记或填充上的注意力，距离按零计。"
)
DIVIDED = Text(
    "Each row is divided by its mass on patches, so prefix tokens and padding do not count.",
    "每一行都除以该行落在图块上的注意力之和，因此前缀标记和填充不计入。",
)


def compute(capture: Capture, normalise: str) -> MatrixResult:
    """Compute the mean attention distance, (blocks, heads) in pixels; NaN where a block has fewer heads."""
    renormalise = normalise == "renormalised"
    values = distances(capture, renormalise)
    return MatrixResult(
        values=values,
        axes=("blocks", "heads"),
        unit=Text("pixels of the model's input", "模型输入的像素"),
        formula="mean_i Σ_j A_ij D_ij / Σ_j A_ij" if renormalise else "mean_i Σ_j A_ij D_ij",
        notes=present(DIVIDED if renormalise else DROPPED, ONE_IMAGE, uneven_heads(values)),
    )


def reading(result: MatrixResult) -> Text:
    """Name the blocks that look farthest and nearest, and the block whose heads differ most."""
    of_blocks = np.nanmean(result.values, axis=1)
    low, high = np.nanmin(result.values, axis=1), np.nanmax(result.values, axis=1)
    far = int(of_blocks.argmax())
    near = int(of_blocks.argmin())
    uneven = int((high - low).argmax())
    heads = Text(
        " The heads of one block differ most in block {block}: from {low} to {high} px.",
        "同一块内各头相差最大的是块 {block}：从 {low} 到 {high} 像素。",
    ).format(block=uneven, low=measured(low[uneven]), high=measured(high[uneven]))
    fields = {
        "far": far,
        "most": measured(of_blocks[far]),
        "near": near,
        "least": measured(of_blocks[near]),
        "heads": heads if result.values.shape[1] > 1 else same(""),
    }
    if is_constant(of_blocks):
        return Text(
            "The heads look {most} px away on average, in every block.{heads}",
            "在每个块中，各头平均都看 {most} 像素远。{heads}",
        ).format(**fields)
    return Text(
        "Block {far} looks farthest, with a mean of {most} px over its heads; block {near} looks nearest, with "
        "{least} px.{heads}",
        "块 {far} 看得最远，各头平均 {most} 像素；块 {near} 最近，为 {least} 像素。{heads}",
    ).format(**fields)


VIEW = View(
    title=Text("Attention distance", "注意力距离"),
    question=Text("How far does each head look?", "每个头看得有多远？"),
    misleads=Text(
        "A head with uniform attention also gets a large distance, although it looks at nothing in particular.",
        "注意力均匀的头并没有特定的关注对象，算出的距离却也很大。",
    ),
    room="attention",
    compute=compute,
    reads=("attention",),
    reading=reading,
    controls=(
        Choice(
            "normalise",
            Text("Rows", "行的归一化"),
            (
                ("raw", Text("as they are", "保持原样")),
                ("renormalised", Text("divided by the mass on patches", "除以落在图块上的注意力之和")),
            ),
        ),
    ),
    paper=Paper("Dosovitskiy et al. 2021, figure 7", "https://arxiv.org/abs/2010.11929"),
)
