"""How does the cost of the blocks grow with the image, and what do windows change?

Multiply-accumulates of all blocks for square images of growing size: projections 4 N D^2 and MLP 2 N D M grow with the
number of tokens N, attention 2 N^2 D with its square. In windows of w x w patches every query has T = w^2 keys instead
of N, 2 N T D (Liu et al. 2021, arXiv 2103.14030, equations 1 and 2), so all three grow linearly. Both designs are
computed for every model: a Swin as if its attention were global, a ViT as if its patches attended in windows. D and M
are read off the module's own matrices. Windows that are not full are computed as if they were. Prefix tokens attend to
everything, and every window attends to them.
Misleading: this is what the same weights would cost, not how well they would work there; patch embedding, merging and
classifier are not counted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from torch import nn

from vitexplorer.capturing.capture import Capture
from vitexplorer.controls import Number
from vitexplorer.core.format import compact
from vitexplorer.core.paper import Paper
from vitexplorer.core.text import Text
from vitexplorer.core.types import BlockSite, GrowthResult, WindowLayout
from vitexplorer.quantities.multiplications import KINDS, MLP, PRODUCTS, PROJECTIONS, kind_of
from vitexplorer.views.record import View

POINTS = 12
USUAL_WINDOW = 7
"""Swin's window size, for models that have none of their own (arXiv 2103.14030, section 3.3)"""

IS_WINDOWED = Text("This model uses window attention.", "该模型用的是窗口注意力。")
IS_GLOBAL = Text("This model uses global attention.", "该模型用的是全局注意力。")
WINDOWS = Text("Windows of {side} × {side} patches.", "窗口为 {side} × {side} 个图块。")
OWN_WINDOWS = Text("Windows of the model's own size.", "窗口大小与模型自身相同。")
BLOCKS_ONLY = Text(
    "Blocks only: patch embedding, merging and classifier are left out.", "仅统计各块：不含图块嵌入、图块合并与分类头。"
)


@dataclass(frozen=True)
class BlockMatrices:
    """Sizes of one block for each token: elements of its matrices, and the width of all heads together."""

    projections: int
    mlp: int
    width: int


def matrices_of(module: nn.Module, site: BlockSite, number: int, width: int) -> BlockMatrices:
    """Count the elements of a block's linear layers by kind; each element multiplies every token once."""
    sizes = {PROJECTIONS: 0, MLP: 0}
    for name, part in module.get_submodule(site.name).named_modules():
        kind = kind_of(f"{site.name}.{name}.weight", f"block {number}")
        if isinstance(part, nn.Linear) and kind in sizes:
            sizes[kind] += part.weight.numel()
    return BlockMatrices(sizes[PROJECTIONS], sizes[MLP], width)


def block_macs(matrices: BlockMatrices, tokens: int, prefix: int, windowed: int, keys: int) -> tuple[int, int, int]:
    """Return MACs of projections, attention and MLP of one block.

    Args:
        matrices: sizes of the block's matrices.
        tokens: number of tokens, prefix tokens included.
        prefix: number of prefix tokens; they attend to all tokens, and all tokens attend to them.
        windowed: number of patch tokens in windows, including the padding of windows that are not full.
        keys: number of patch tokens that each of these attends to.
    """
    pairs = windowed * (keys + prefix) + prefix * tokens
    return matrices.projections * (windowed + prefix), 2 * pairs * matrices.width, matrices.mlp * tokens


def sizes_up_to(largest: int, multiple: int) -> tuple[int, ...]:
    """Return at most twelve sizes in pixels, about equally far apart, all multiples of `multiple`."""
    steps = np.linspace(0, max(largest // multiple, 1), POINTS + 1)[1:].round()
    return tuple(int(step) * multiple for step in sorted({*steps.tolist()}) if step >= 1)


def growth(capture: Capture, sizes: tuple[int, ...], window: int | None) -> np.ndarray:
    """Compute MACs over all blocks, int64 (designs, kinds, sizes): global, windowed; projections, attention, MLP."""
    module = capture.model.module
    macs = np.zeros((2, 3, len(sizes)), dtype=np.int64)
    for at, size in enumerate(sizes):
        for number, site in enumerate(capture.model.blocks((size, size))):
            heads, dim = capture.call(number).query.shape[1], capture.call(number).query.shape[-1]
            matrices = matrices_of(module, site, number, heads * dim)
            grid = site.grid
            tokens = grid.num_prefix_tokens + grid.num_patches
            layout = window_of(site, window)
            windows, keys = layout.positions(grid).shape
            macs[0, :, at] += block_macs(matrices, tokens, grid.num_prefix_tokens, grid.num_patches, grid.num_patches)
            macs[1, :, at] += block_macs(matrices, tokens, grid.num_prefix_tokens, windows * keys, keys)
    return macs


def window_of(site: BlockSite, window: int | None) -> WindowLayout:
    """Return windows of the given side; without one the block's own, or Swin's usual windows."""
    if not window and site.windows:
        return WindowLayout(site.windows.window_size, (0, 0))
    side = window or USUAL_WINDOW
    return WindowLayout((side, side), (0, 0))


def compute(capture: Capture, largest: int, window: int) -> GrowthResult:
    """Compute MACs of all blocks, int64 (designs, kinds, sizes): attention global or in windows, for growing images."""
    model = capture.model
    free = model.family.size_multiple(model.module)
    sizes = sizes_up_to(largest, max(free or (capture.grid(0).patch_size,)))
    is_windowed = capture.sites[0].windows is not None
    windows = OWN_WINDOWS if is_windowed and not window else WINDOWS.format(side=window or USUAL_WINDOW)
    return GrowthResult(
        values=growth(capture, sizes, window or None),
        axes=("designs", "kinds", "sizes"),
        unit=Text("MACs", "MACs"),
        formula="4 N D² + 2 N D M + 2 N² D,  4 N D² + 2 N D M + 2 N T D",
        notes=(IS_WINDOWED if is_windowed else IS_GLOBAL, windows, BLOCKS_ONLY),
        designs=("global", "windowed"),
        kinds=("projections", "attention", "mlp"),
        kind_texts=(KINDS[PROJECTIONS], KINDS[PRODUCTS], KINDS[MLP]),
        sizes=sizes,
    )


def reading(result: GrowthResult) -> Text:
    """State the cost of the largest image in both designs, and the size from which attention exceeds the MLPs."""
    both = result.values.sum(1)[:, -1]
    attention, mlp = (result.kinds.index(kind) for kind in ("attention", "mlp"))
    larger = result.values[0, attention] > result.values[0, mlp]
    overtakes = (
        Text(
            "The products of global attention cost more than the MLPs from {size} px on.",
            "从 {size} 像素起，全局注意力的矩阵乘法比 MLP 计算量更大。",
        ).format(size=result.sizes[int(larger.argmax())])
        if larger.any()
        else Text(
            "Up to there the MLPs cost more than the products of global attention.",
            "在此尺寸以内，MLP 始终比全局注意力的矩阵乘法计算量更大。",
        )
    )
    return Text(
        "At {side} × {side} px the blocks cost {whole} MACs with global attention and {windowed} in windows. "
        "{overtakes}",
        "在 {side} × {side} 像素时，全局注意力的各块需要 {whole} 次乘加，窗口注意力需要 {windowed} 次。{overtakes}",
    ).format(side=result.sizes[-1], whole=compact(both[0]), windowed=compact(both[1]), overtakes=overtakes)


VIEW = View(
    title=Text("Growth of the cost", "计算量的增长"),
    question=Text(
        "How does the cost grow with the image, and what changes with windows?",
        "计算量怎样随图像尺寸增长，改用窗口后有何不同？",
    ),
    misleads=Text(
        "This is what the same weights would cost, not how well they would work at that size.",
        "这只是同一组权重所需的计算量，并不说明它们在该尺寸下效果如何。",
    ),
    room="size",
    compute=compute,
    reads=("attention", "values"),
    names_of_timm=True,
    reading=reading,
    controls=(
        Number("largest", Text("Largest image", "最大图像"), low=64, high=4096, start=1024, step=32, whole=True),
        Number("window", Text("Window (0: usual)", "窗口（0：通常大小）"), low=0, high=64, start=0, step=1, whole=True),
    ),
    paper=Paper("Liu et al. 2021, equations 1 and 2", "https://arxiv.org/abs/2103.14030"),
)
