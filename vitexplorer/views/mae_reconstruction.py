"""What does a masked autoencoder make of the patches it cannot see? Hidden patches as the decoder draws them.

He et al. 2021 (arXiv 2111.06377): the encoder sees only the visible patches, the decoder draws all of them. The hidden
patches are given, or drawn from a seed in the share `mask_ratio` (whole patches; at least one stays visible). "pasted"
shows the visible patches unchanged, "raw" shows the decoder's drawing of all patches, though its training loss never
counted the visible ones.
Misleading: a decoder that was trained on patches normalised to mean 0 and deviation 1 (norm-pix) draws no colours of
its own. For display each hidden patch gets its true mean and deviation back, which the model never saw, so the picture
looks far better than what was inferred. The weights do not reveal this kind of training; set `norm_pix` accordingly.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from vitexplorer.capturing.capture import Capture
from vitexplorer.controls import Choice, Number, PatchesControl, Switch
from vitexplorer.controls.patches import Cell, Others
from vitexplorer.core.format import counted, measured
from vitexplorer.core.paper import Paper
from vitexplorer.core.text import Text, present
from vitexplorer.core.types import PatchGrid, ReconstructionResult
from vitexplorer.models.mae import MaeDecoder, choose_visible, encode_visible, to_images, to_patches
from vitexplorer.views.record import View

HIDDEN = Text("{hidden} of {patches:patch} {hidden:~is/are} hidden.", "{patches} 个图块中遮住了 {hidden} 个。")
RAW = Text(
    "Visible patches are drawn too, although the training did not require it.",
    "可见图块也由解码器重建，尽管训练并不要求这样做。",
)
COLOURS_GIVEN = Text(
    "The mean and standard deviation of every hidden patch come from the image itself: its colours were not inferred.",
    "每个被遮图块的均值和标准差取自原图：其颜色并非推断而来。",
)


def hidden_patches(patches: int, mask_ratio: float, seed: int, mask: tuple[int, ...]) -> Bool[Tensor, " patches"]:
    """Return True for hidden patches: those in the mask, or all but a random choice."""
    if mask:
        return torch.zeros(patches, dtype=torch.bool).index_fill(0, torch.tensor(mask), True)
    visible = choose_visible(patches, mask_ratio, torch.Generator().manual_seed(seed))[0]
    return torch.ones(patches, dtype=torch.bool).index_fill(0, visible, False)


def with_own_statistics(
    drawn: Float[Tensor, "1 patches pixels"], true: Float[Tensor, "1 patches pixels"]
) -> Float[Tensor, "1 patches pixels"]:
    """Give drawings of a norm-pix decoder the mean and the deviation (n - 1) of the true patches."""
    return drawn * (true.var(-1, keepdim=True) + 1e-6).sqrt() + true.mean(-1, keepdim=True)


def mean_of_visible(
    true: Float[Tensor, "1 patches pixels"], hidden: Bool[Tensor, " patches"]
) -> Float[Tensor, "1 patches pixels"]:
    """Fill every patch with the mean colour of the visible ones."""
    colour = true[:, ~hidden].unflatten(-1, (-1, 3)).mean((1, 2))
    return colour.repeat(1, true.shape[-1] // 3)[:, None].expand_as(true)


@torch.no_grad()
def draw(
    capture: Capture, decoder: MaeDecoder, hidden: Bool[Tensor, " patches"], norm_pix: bool
) -> tuple[Float[Tensor, "1 patches pixels"], Float[Tensor, "1 patches pixels"]]:
    """Return the patches as drawn by the decoder and the true patches, both normalised."""
    image = capture.input.tensor
    true = to_patches(image, capture.grid(0).patch_size)
    visible = (~hidden).nonzero().T.to(image.device)
    drawn = decoder(encode_visible(capture.model.module, image, visible), visible)
    return (with_own_statistics(drawn, true) if norm_pix else drawn), true


def compute(
    capture: Capture, mask_ratio: float, seed: int, mask: tuple[Cell, ...], shown: str, norm_pix: bool
) -> ReconstructionResult:
    """Compute the picture drawn from its visible patches, (height, width, 3) uint8."""
    grid, pixels = capture.grid(0), capture.input.pixels
    named = tuple(row * grid.cols + col for row, col in mask)
    hidden = hidden_patches(grid.num_patches, mask_ratio, seed, named)
    drawn, true = draw(capture, capture.model.decoder, hidden, norm_pix)
    std = true.new_tensor(capture.model.preprocessing.std).repeat(true.shape[-1] // 3)
    board = hidden.reshape(grid.rows, grid.cols).numpy()
    choosing = {} if named else {"mask_ratio": mask_ratio, "seed": seed}
    return ReconstructionResult(
        values=_pasted(_pixels(capture, drawn, grid), pixels, board, grid)
        if shown == "pasted"
        else _pixels(capture, drawn, grid),
        axes=("height", "width", "channels"),
        unit=Text("8-bit RGB", "8 位 RGB"),
        formula="decoder(encoder(x visible), mask token for x hidden)",
        settings={**choosing, "mask": named, "shown": shown, "norm_pix": norm_pix},
        notes=present(
            HIDDEN.format(hidden=int(hidden.sum()), patches=grid.num_patches),
            RAW if shown == "raw" else None,
            COLOURS_GIVEN if norm_pix else None,
        ),
        grid=grid,
        image=pixels,
        hidden=board,
        error=_error(drawn, true, hidden, std),
        simplest_error=_error(mean_of_visible(true, hidden), true, hidden, std),
    )


def _error(drawn: Tensor, true: Tensor, hidden: Tensor, std: Tensor) -> float:
    """Compute the mean squared error of the hidden patches, pixels in 0-1."""
    return float(((drawn - true)[:, hidden] * std).square().mean())


def _pixels(capture: Capture, patches: Float[Tensor, "1 patches pixels"], grid: PatchGrid) -> np.ndarray:
    preprocessing = capture.model.preprocessing
    image = to_images(patches, (grid.rows, grid.cols), grid.patch_size)[0].permute(1, 2, 0).cpu().double().numpy()
    return np.rint((image * preprocessing.std + preprocessing.mean) * 255).clip(0, 255).astype(np.uint8)


def _pasted(drawn: np.ndarray, pixels: np.ndarray, hidden: np.ndarray, grid: PatchGrid) -> np.ndarray:
    """Return the drawing at hidden patches, the image elsewhere."""
    hidden_pixels = hidden.repeat(grid.patch_size, 0).repeat(grid.patch_size, 1)
    return np.where(hidden_pixels[..., None], drawn, pixels)


def _refuses(capture: Capture) -> Text | None:
    decoder, grid = capture.model.decoder, capture.grid(0)
    if decoder is None:
        return Text(
            "{model} has no decoder to draw hidden patches. The bundled MAE and checkpoints such as "
            "mae_visualize_vit_base have one.",
            "{model} 没有可以重建被遮图块的解码器。内置的 MAE 以及 mae_visualize_vit_base 之类的检查点带有解码器。",
        ).format(model=capture.model.title)
    if decoder.grid != (grid.rows, grid.cols):
        return Text(
            "The decoder draws {rows} x {cols} patches, but this image has {here}: choose a fit other than native.",
            "解码器重建 {rows} x {cols} 个图块，而当前图像为 {here}：请选择原始尺寸（native）以外的适配方式。",
        ).format(rows=decoder.grid[0], cols=decoder.grid[1], here=f"{grid.rows} x {grid.cols}")
    return None


def reading(result: ReconstructionResult) -> Text:
    """State how many patches are hidden, and whether the drawing beats the mean colour."""
    hidden = int(result.hidden.sum())
    fields = {
        "hidden": counted(hidden),
        "patches": counted(result.hidden.size),
        "error": measured(result.error),
        "simplest": measured(result.simplest_error),
    }
    if not hidden:
        return Text(
            "No patch is hidden, so there is nothing to reconstruct.", "没有遮住任何图块，因此没有可重建的内容。"
        )
    if not math.isfinite(result.simplest_error):
        return Text(
            "All {patches} patches are hidden; the mean squared error of the drawing is {error}.",
            "{patches} 个图块全部被遮住；重建的均方误差为 {error}。",
        ).format(**fields)
    return Text(
        "{hidden} of {patches:patch} {hidden:~is/are} hidden. The mean squared error of their reconstruction is "
        "{error}; filling them with the mean colour of the others gives {simplest}.",
        "{patches} 个图块中遮住了 {hidden} 个。重建的均方误差为 {error}；若用其余图块的平均颜色填充则为 {simplest}。",
    ).format(**fields)


VIEW = View(
    title=Text("Masked autoencoder", "掩码自编码器（MAE）"),
    question=Text("What does the model make of patches it cannot see?", "对看不见的图块，模型会画出什么？"),
    misleads=Text(
        "Where the content cannot be known, the model draws the mean of all possibilities: blur is honest, not a "
        "failure.",
        "无法得知的内容会被画成各种可能的平均：模糊是如实的表达，而不是失败。",
    ),
    room="outputs",
    compute=compute,
    reads=(),
    reading=reading,
    runs="once",
    controls=(
        Number("mask_ratio", Text("Hidden share", "遮挡比例"), low=0.05, high=0.95, start=0.75, step=0.05),
        Number("seed", Text("Seed", "随机种子"), low=0, high=999, step=1, whole=True),
        PatchesControl(
            "mask",
            Text("Hidden patches", "被遮图块"),
            Others(
                ("mask_ratio", "seed"),
                Text("chosen by the seed", "由种子决定"),
                Text("Choose by the seed", "由种子选择"),
            ),
        ),
        Choice(
            "shown",
            Text("Shown", "显示"),
            (("pasted", Text("with the visible patches", "保留可见图块")), ("raw", Text("raw output", "原始输出"))),
        ),
        Switch("norm_pix", Text("Trained with norm-pix", "训练时逐图块归一化像素（norm-pix）")),
    ),
    paper=Paper("He et al. 2021", "https://arxiv.org/abs/2111.06377"),
    refuses=_refuses,
)
