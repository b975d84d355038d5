"""How does a patch of pixels become a token? Every step with its shape and the numbers of one patch.

ViT (Dosovitskiy et al. 2021, arXiv 2010.11929, equation 1): the patch, P x P x C normalised pixels, is written as one
row of P P C numbers and multiplied with the embedding matrix, D x P P C; then the position embedding is added. Swin
(arXiv 2103.14030) normalises instead of adding, CLIP normalises the sum. The row runs pixel after pixel, three channels
each; timm's convolution has the same numbers in another order. The result is compared with the token that the first
block read in the captured pass, and a mismatch is refused.
Misleading: the numbers of a token have no order, so a strip of them has no left and right.
"""

from __future__ import annotations

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from vitexplorer.capturing.capture import Capture
from vitexplorer.controls import QueryControl, sharpest_patch
from vitexplorer.core.capture_protocol import CaptureProtocol
from vitexplorer.core.format import counted, measured
from vitexplorer.core.paper import Paper
from vitexplorer.core.text import SettingError, Text, UnsupportedError, present
from vitexplorer.core.types import Query, TokenStep, TokenStepsResult, query_text
from vitexplorer.models.outline import has_parameters
from vitexplorer.views.record import View

CHANNELS = 3
CLOSE = 1e-4
"""Rounding that the order of additions can cause, as a share of the token's largest number"""

FLATTENED = Text(
    "Pixels are flattened row by row and normalised with the model's mean and standard deviation.",
    "像素逐行展平，并用该模型的均值与标准差归一化。",
)
RESAMPLED = Text("The table of places is resampled to this grid.", "位置编码表已重采样到该网格。")
SAME_TOKEN = Text(
    "This is exactly the token that the first block read; largest difference {difference:.1e}.",
    "第一个块读到的正是这个标记；最大差值 {difference:.1e}。",
)
PLACE = Text("position embedding", "位置编码")
ADDED = Text("A learned vector for the place is added.", "加上一个表示位置的可学习向量。")
ADDED_AND_TURNED = Text(
    "A learned position vector is added, and every block rotates queries and keys (rotary).",
    "加上一个表示位置的可学习向量；此外每个块还旋转查询与键（旋转位置编码）。",
)
TURNED = Text(
    "No position vector is added: every block rotates queries and keys (rotary).",
    "不加位置向量：每个块旋转查询与键（旋转位置编码）。",
)
BIASED = Text(
    "No position vector is added: every block adds a bias to its scores for each offset.",
    "不加位置向量：每个块按相对偏移给分数加上偏置。",
)


class PatchControl(QueryControl):
    """Control for one patch (row, col) of the patch embedding's grid."""

    def default(self, capture: CaptureProtocol) -> tuple[int, int]:
        """Return the patch with the sharpest edges."""
        return sharpest_patch(capture.input.pixels, capture.grid(0))

    def offered(self, capture: CaptureProtocol) -> tuple[tuple[str, Text], ...]:
        """Return the patch with the sharpest edges; the others are picked on the image."""
        row, col = self.default(capture)
        return ((f"{row},{col}", query_text((row, col))),)

    def named(self, name: str, capture: CaptureProtocol) -> Query:
        """Raise SettingError: prefix tokens are not made of pixels."""
        raise SettingError(
            Text(
                "Only patches are made of pixels: choose a patch as (row, col).",
                "只有图块由像素构成：请给出（行，列）。",
            )
        )


# ---------------------------------------------------------------------------------------------- the steps


def flattened(patch: Float[Tensor, "channels height width"]) -> Float[Tensor, " pixels"]:
    """Flatten pixel after pixel, row by row, the channels of each pixel side by side."""
    return patch.permute(1, 2, 0).flatten()


def projected(row: Float[Tensor, " pixels"], proj: nn.Conv2d) -> Float[Tensor, " dim"]:
    """Multiply the row by the embedding matrix, with columns in the row's order, and add the bias."""
    matrix = proj.weight.permute(0, 2, 3, 1).flatten(1)
    product = matrix @ row
    return product if proj.bias is None else product + proj.bias


def _step(name: Text, symbols: str, shape: tuple[int, ...], numbers: Tensor | None = None) -> TokenStep:
    entries = torch.zeros(0) if numbers is None else numbers
    return TokenStep(name, symbols, shape, entries.float().cpu().numpy())


@torch.no_grad()
def compute(capture: Capture, patch: tuple[int, int]) -> TokenStepsResult:
    """Compute the token of a patch as the first block reads it, (dim,), with every step before it."""
    module, grid, image = capture.model.module, capture.grid(0), capture.input.tensor[0]
    embed, (row, col) = module.patch_embed, patch
    height, width = embed.proj.kernel_size
    cut = (slice(row * height, (row + 1) * height), slice(col * width, (col + 1) * width))
    pixels = flattened(image[:, *cut])
    token = projected(pixels, embed.proj)
    dim, formula = token.shape, "W x_p + b"
    steps = [
        _step(Text("image", "图像"), "H × W × C", (*image.shape[1:], CHANNELS)),
        _step(Text("patch", "图块"), "P × P × C", (height, width, CHANNELS)),
        _step(Text("flattened, normalised", "展平并归一化"), "P · P · C", pixels.shape, pixels),
        _step(Text("projected", "线性投影"), "D", dim, token),
    ]
    if has_parameters(embed.norm):
        token, formula = embed.norm(token), f"norm({formula})"
        steps.append(_step(Text("normalised", "归一化"), "D", dim, token))
    if capture.provenance.weights == "fine-tuned":
        tuned = embed(capture.input.tensor).flatten(1, -2)[0, row * grid.cols + col]
        if not torch.allclose(tuned, token, rtol=CLOSE, atol=CLOSE):
            token, formula = tuned, f"{formula} + Δ"
            steps.append(_step(Text("with what tuning adds", "加上微调的改动"), "D", dim, token))
    family = capture.model.family
    positions = family.learned_positions(module, grid)
    if positions is not None:
        position = positions[row * grid.cols + col]
        token, formula = token + position, f"{formula} + e_p"
        steps.append(_step(PLACE, "D", dim, position))
        steps.append(_step(Text("sum", "相加"), "D", dim, token))
    if has_parameters(getattr(module, "norm_pre", None)):
        token, formula = module.norm_pre(token), f"norm({formula})"
        steps.append(_step(Text("normalised", "归一化"), "D", dim, token))
    sequence = capture.residual(0)
    steps.append(_step(Text("sequence of tokens", "标记序列"), "(p + N) × D", tuple(sequence.shape)))
    difference = _difference(capture, token, sequence[capture.token(patch, 0)])
    return TokenStepsResult(
        values=token.float().cpu().numpy(),
        axes=("dim",),
        unit=Text("entries of the token", "标记的各个分量"),
        formula=formula,
        notes=present(
            FLATTENED,
            _place_note(positions, family.rotary_positions(module, grid) is not None),
            RESAMPLED if positions is not None and family.learned_grid(module) != (grid.rows, grid.cols) else None,
            SAME_TOKEN.format(difference=difference),
        ),
        grid=grid,
        image=capture.input.pixels,
        place=patch,
        patch=capture.input.pixels[cut],
        steps=tuple(steps),
        prefix_names=capture.prefix_tokens,
        difference=difference,
    )


def _difference(capture: Capture, token: Tensor, read: Tensor) -> float:
    """Return the distance between the token and the one that the first block read.

    Raises:
        UnsupportedError: they are different tokens.
    """
    difference = float((token - read).abs().max())
    if difference > CLOSE * max(1.0, float(read.abs().max())):
        raise UnsupportedError(
            Text(
                "{model}: these steps do not reproduce the input of the first block (difference {difference:.2g}), "
                "so they are not shown.",
                "{model}：这些步骤得不到第一个块实际读到的标记（相差 {difference:.2g}），因此不予显示。",
            ).format(model=capture.model.title, difference=difference)
        )
    return difference


def _place_note(positions: Tensor | None, is_rotary: bool) -> Text:
    if positions is None:
        return TURNED if is_rotary else BIASED
    return ADDED_AND_TURNED if is_rotary else ADDED


def refuses(capture: Capture) -> Text | None:
    """Refuse changed runs, whose steps may differ, and hybrids, which cut features of a CNN instead of pixels."""
    if capture.change is not None:
        return Text("The steps are those of the plain run.", "这些步骤只适用于原始运行。")
    if capture.model.embeds_pixels:
        return None
    return Text(
        "{model} does not turn the pixels of a patch into a token with a single matrix.",
        "{model} 并不是用单个矩阵把图块的像素变成标记。",
    ).format(model=capture.model.title)


def reading(result: TokenStepsResult) -> Text:
    """Compare the numbers of pixels and of entries, and the length of the position embedding with the pixels' part."""
    names = [step.name for step in result.steps]
    fields = {
        "pixels": counted(result.patch.size),
        "patch": query_text(result.place),
        "dim": counted(result.values.size),
        "length": measured(np.linalg.norm(result.values)),
    }
    if PLACE not in names:
        return Text(
            "The {pixels} numbers of the {patch} become a token of {dim} numbers and length {length}; no position "
            "vector is added.",
            "{patch}的 {pixels} 个数变成 {dim} 维的标记，长度为 {length}；没有加位置向量。",
        ).format(**fields)
    at = names.index(PLACE)
    place, content = (np.linalg.norm(result.steps[n].numbers) for n in (at, at - 1))
    return Text(
        "The {pixels} numbers of the {patch} become a token of {dim}. The vector added for its place has the length "
        "{place}, the one from its pixels {content}.",
        "{patch}的 {pixels} 个数变成 {dim} 维的标记。为位置加上的向量长度为 {place}，"
        "由像素得到的向量长度为 {content}。",
    ).format(**fields, place=measured(place), content=measured(content))


VIEW = View(
    title=Text("From pixels to a token", "从像素到标记"),
    question=Text("How does a patch of pixels become a token?", "一个图块的像素怎样变成标记？"),
    misleads=Text(
        "The numbers of a token have no order: a strip of them has no left and right.",
        "标记的各个分量没有顺序：条带的左右没有意义。",
    ),
    room="tokens",
    compute=compute,
    reads=("stream",),
    names_of_timm=True,
    reading=reading,
    controls=(PatchControl("patch", Text("Patch", "图块"), first=True),),
    paper=Paper("Dosovitskiy et al. 2021, equation 1", "https://arxiv.org/abs/2010.11929"),
    refuses=refuses,
)
