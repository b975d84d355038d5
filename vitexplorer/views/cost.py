"""How much does one image cost to compute, and which part of it grows with the image?

Multiply-accumulates (MACs, half of the floating point operations that torch's flop counter has formulas for) of one
forward pass, part by part. ViT-B/16 at 224 pixels: 17.56 GMACs. Each block splits into projections, O(N D^2), the two
products of attention, O(N^2 D) or in windows of T tokens O(N T D), and the MLP, O(N D M). Where the closed formula
gives exactly the counted number, its terms are shown too.

Published numbers for one model differ: a tool that cannot see into fused attention leaves out 2 N^2 D of each block
(ViT-B/16: 16.9), some forget that a linear layer runs once for each token (0.2), some count two operations for a MAC.
Only shapes are used, never the model's weights, so any image size is answered at once.
Misleading as a measure of time: memory traffic and kernels decide that as well.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any

import numpy as np
from torch import nn

from vitexplorer.capturing.capture import Capture
from vitexplorer.controls import Control
from vitexplorer.core.capture_protocol import CaptureProtocol
from vitexplorer.core.format import compact, percent
from vitexplorer.core.paper import Paper
from vitexplorer.core.text import COMMA, SettingError, Text, present
from vitexplorer.core.types import BlockSite, CostResult, Term
from vitexplorer.models.input_size import sides
from vitexplorer.models.weightless import without_storage
from vitexplorer.quantities.multiplications import (
    KINDS,
    MLP,
    OTHER,
    PRODUCTS,
    PROJECTIONS,
    count_multiplications,
    table,
)
from vitexplorer.quantities.parameter_formulas import Factor, letter, squared, stage_term, sum_term, times
from vitexplorer.views.record import View

LARGEST = 4096
IN_SHORT = {
    PROJECTIONS: Text("projections", "投影"),
    PRODUCTS: Text("products of attention", "注意力的矩阵乘法"),
    MLP: Text("MLPs", "MLP 层"),
    OTHER: Text("the rest", "其余部分"),
}
COUNTED = Text(
    "Matrix products and convolutions, those inside attention included; norms, softmax, activations and sums are not "
    "counted. One MAC is two floating point operations.",
    "统计矩阵乘法与卷积，包括注意力内部的乘法；不计归一化、softmax、激活函数与加法。一次 MAC 为两次浮点运算。",
)


OF_SIZE = Text("For one image of {height} x {width} pixels.", "针对一幅 {height} x {width} 像素的图像。")
NO_FORMULA = Text(
    "No closed formula is stated for this architecture; the numbers are counted.",
    "该结构没有给出闭式公式；数字由实际计数得到。",
)
NOT_FULL = Text("Windows that are not full cost as much as full ones.", "未填满的窗口按填满计算。")


@dataclass(frozen=True)
class ImageSizeControl(Control):
    """Control for the image size in pixels: one number for a square, or (height, width)."""

    name: str = "image_size"
    label: Text = Text("Image size", "图像尺寸")

    def default(self, capture: CaptureProtocol) -> tuple[int, int]:
        """Return the size of the captured image."""
        return tuple(capture.input.pixels.shape[:2])

    def parse(self, value: Any, capture: CaptureProtocol, settings: Mapping[str, Any]) -> tuple[int, int]:
        """Return height and width; also reads "224" and "224,320".

        Raises:
            SettingError: the size is neither the captured one nor whole patches, or it exceeds the largest.
        """
        height, width = sides(value, self.name)
        multiple = size_multiple(capture)
        whole = height % multiple[0] == 0 and width % multiple[1] == 0
        fits = whole and min(height, width) > 0 and max(height, width) <= LARGEST
        if not fits and (height, width) != self.default(capture):
            raise SettingError(
                Text(
                    "image_size must be multiples of {height} x {width} pixels up to {largest}, not {given}.",
                    "image_size 必须是 {height} x {width} 像素的倍数且不超过 {largest}，而不是 {given}。",
                ).format(height=multiple[0], width=multiple[1], largest=LARGEST, given=f"{height} x {width}")
            )
        return height, width


def size_multiple(capture: Capture) -> tuple[int, int]:
    """Return the numbers that divide height and width: the patch size, or for free sizes what keeps merging even."""
    model = capture.model
    free = model.family.size_multiple(model.module)
    return tuple(model.module.patch_embed.patch_size) if free is None else free


# ---------------------------------------------------------------------------------------------- counted


def resized(module: nn.Module, size: tuple[int, int], own: tuple[int, int]) -> nn.Module:
    """Copy a module without storage for this input size; timm refits a module whose size is fixed."""
    copied = without_storage(module)
    if size != own and not getattr(module, "dynamic_img_size", False):
        copied.set_input_size(img_size=size)
    return copied


# ---------------------------------------------------------------------------------------------- the closed formula


@dataclass(frozen=True)
class _Stage:
    """Equal blocks: tokens in the MLP, tokens in windows, keys of each, widths."""

    tokens: int
    in_windows: int
    keys: int
    dim: int
    hidden: int


def _stage(module: nn.Module, site: BlockSite) -> _Stage:
    """Read the sizes of a block. Raises AttributeError if it has no plain MLP."""
    fc1 = module.get_submodule(site.name).mlp.fc1
    tokens = site.grid.num_prefix_tokens + site.grid.num_patches
    shape = site.windows.positions(site.grid).shape if site.windows else (1, tokens)
    return _Stage(tokens, math.prod(shape), shape[1], fc1.in_features, fc1.out_features)


def closed_formula(module: nn.Module, sites: tuple[BlockSite, ...]) -> tuple[Term, ...]:
    """Return MACs of patch embedding, projections, attention, MLP, merging and classifier of a plain ViT or Swin.

    N patches, T keys of each query, D and M widths, L blocks, K classes; a sum over stages where they differ. Tokens
    that only fill up a window are projected too.

    Raises:
        AttributeError: the module has other parts.
    """
    stages = [(stage, len(list(same))) for stage, same in groupby(_stage(module, site) for site in sites)]
    windowed, many = sites[0].windows is not None, len(stages) > 1
    s, over_stages = ("_s", stage_term) if many else ("", sum_term)
    kernel = module.patch_embed.proj.weight.shape
    projections, attention, mlp = [], [], []
    for stage, count in stages:
        L, D, tokens = letter(f"L{s}", count), letter(f"D{s}", stage.dim), letter(f"N{s}", stage.in_windows)
        pairs = (Factor(f"N{s}²", f"{stage.keys}²", stage.in_windows * stage.keys),)
        if windowed:
            pairs = (tokens, letter(f"T{s}", stage.keys))
        projections.append((L, times(4), tokens, squared(f"D{s}", stage.dim)))
        attention.append((L, times(2), *pairs, D))
        mlp.append((L, times(2), letter(f"N{s}", stage.tokens), D, letter(f"M{s}", stage.hidden)))
    terms = [
        sum_term(
            Text("Patch embedding", "图块嵌入"),
            (
                letter("n", sites[0].grid.num_patches),
                Factor("P²", f"{kernel[2]} · {kernel[3]}", kernel[2] * kernel[3]),
                letter("C", kernel[1]),
                letter("D", kernel[0]),
            ),
        ),
        over_stages(Text("Projections", "投影"), *projections),
        over_stages(Text("Attention", "注意力"), *attention),
        over_stages(Text("MLP", "MLP"), *mlp),
    ]
    if many:
        merged = [(after.tokens, before.dim) for (before, _), (after, _) in pairwise(stages)]
        products = ((letter("N_{s+1}", tokens), times(8), squared("D_s", dim)) for tokens, dim in merged)
        terms.append(stage_term(Text("Patch merging", "图块合并"), *products))
    if module.num_classes:
        heads = (times(2),) if hasattr(module, "head_dist") else ()
        classifier = (*heads, letter("D", module.num_features), letter("K", module.num_classes))
        terms.append(sum_term(Text("Classifier", "分类头"), classifier))
    return tuple(terms)


# ---------------------------------------------------------------------------------------------- the view


def compute(capture: Capture, image_size: tuple[int, int]) -> CostResult:
    """Compute the MACs of each part for one image of a size, int64 (parts,)."""
    model = capture.model
    module = resized(model.module, image_size, capture.input.pixels.shape[:2])
    sites = model.family.blocks(module, image_size)
    counted = count_multiplications(module, image_size)
    rows = table(counted, [site.name for site in sites])
    split = np.array(list(rows.values()), dtype=np.int64)
    try:
        terms = closed_formula(module, sites)
    except AttributeError:
        terms = ()
    if sum(term.count for term in terms) != counted.total:
        terms = ()
    return CostResult(
        values=split.sum(1),
        axes=("parts",),
        unit=Text("multiply-accumulates", "次乘加（MAC）"),
        formula=" + ".join(term.symbols for term in terms)
        or Text("Σ m · n · k of every matrix product", "Σ 每个矩阵乘法的 m · n · k"),
        notes=present(
            COUNTED,
            OF_SIZE.format(height=image_size[0], width=image_size[1]),
            None if terms else NO_FORMULA,
            NOT_FULL if any(map(_is_filled_up, sites)) else None,
        ),
        parts=tuple(rows),
        terms=terms,
        total=counted.total,
        kinds=KINDS,
        split=split,
    )


def _is_filled_up(site: BlockSite) -> bool:
    return site.windows is not None and site.windows.positions(site.grid).size > site.grid.num_patches


def reading(result: CostResult) -> Text:
    """State the total and which kinds of multiplications take most of it."""
    height, width = result.settings["image_size"]
    total = max(result.total, 1)
    shares = result.split.sum(0) / total
    parts = [
        Text("{share} in {kind}", "{kind}占 {share}").format(share=percent(shares[kind]), kind=IN_SHORT[kind])
        for kind in np.argsort(-shares, kind="stable").tolist()
        if shares[kind]
    ]
    listed = COMMA.join(parts)
    return Text(
        "One image of {height} × {width} px takes {total} multiply-accumulates: {listed}.",
        "一幅 {height} × {width} 像素的图像需要 {total} 次乘加：{listed}。",
    ).format(height=height, width=width, total=compact(result.total), listed=listed)


VIEW = View(
    title=Text("Cost", "计算量"),
    question=Text(
        "What does one image cost, and how does that grow with its size?",
        "处理一幅图像的计算量是多少，又怎样随尺寸增长？",
    ),
    misleads=Text(
        "Multiplications are not seconds, and tools that cannot see into fused attention report less for the same "
        "model.",
        "乘法次数不等于秒数；而且有些工具看不到融合注意力的内部，对同一模型报出的数字会偏小。",
    ),
    room="size",
    compute=compute,
    reads=(),
    names_of_timm=True,
    reading=reading,
    controls=(ImageSizeControl(),),
    paper=Paper("Vaswani et al. 2017, table 1", "https://arxiv.org/abs/1706.03762"),
)
