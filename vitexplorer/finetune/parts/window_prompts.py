"""Prompt tokens for windowed attention (Swin, Swin V2), as in VPT's own code (arXiv 2203.12119).

The prompts are prepended to every window. Their rows and columns of the relative bias and of the shift's mask are 0,
and their attention outputs are averaged over the windows of an image. The prompts have a stream of their own (batch,
prompts, dim) outside the patch grid. It goes through the same norms and MLPs as the patches; where patches are merged
it is tiled four times over the channels. Pooling does not include it.

The stream of the running forward pass is stored per thread.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from vitexplorer.core.text import Text
from vitexplorer.core.types import PADDING, BlockSite, PatchGrid, WindowLayout
from vitexplorer.finetune.parts.prompts import Prompts, widen_table, widened
from vitexplorer.models.anatomy import block_parts
from vitexplorer.models.family import ModelFamily
from vitexplorer.models.loading import LoadedModel

AS_PADDING = Text(
    "Every window has prompt tokens; attention to them is counted as padding.",
    "每个窗口中都有提示标记；落在其上的注意力计入填充。",
)
_PASS = threading.local()


def prompt_windows(model: LoadedModel, count: int, deep: bool, dropout: float) -> LoadedModel:
    """Insert prompts into every window of `model`: one stream through all blocks or, if `deep`, new ones at each."""
    module = model.module
    sites = model.blocks(model.preprocessing.input_size)
    patch_size = sites[0].grid.patch_size
    for place, site in enumerate(sites):
        block = module.get_submodule(site.name)
        parts = block_parts(module, site.name)
        if deep or place == 0:
            block.add_module("prompts", Prompts(count, parts.width, patch_size, dropout))
            block.register_forward_pre_hook(_begin)
        block.attn.register_forward_pre_hook(partial(_prepend, block, parts.norm_first), with_kwargs=True)
        block.attn.register_forward_hook(_take_out)
        _make_room(block.attn, count)
        if not deep and place + 1 < len(sites):
            block.mlp.register_forward_hook(partial(_carry_on, block, parts.norm_first))
    if not deep:
        for stage in module.layers:
            if hasattr(stage.downsample, "reduction"):
                stage.downsample.register_forward_hook(_merge)
    return replace(model, family=prompted_family(model.family, count), notes=(*model.notes, AS_PADDING))


# ---------------------------------------------------------------------------------------------- the stream


def _begin(block: nn.Module, args: tuple[Any, ...]) -> None:
    _PASS.stream = block.prompts(len(args[0]))


def _prepend(
    block: nn.Module, norm_first: bool, attention: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Prepend the prompts to each window; the windows of one image are adjacent."""
    (windows,) = args
    prompts = block.norm1(_PASS.stream) if norm_first else _PASS.stream
    prompts = prompts.repeat_interleave(len(windows) // len(prompts), dim=0)
    mask = kwargs["mask"]
    kwargs = {**kwargs, "mask": None if mask is None else widened(mask, 0, prompts.shape[1])}
    return (torch.cat([prompts, windows], dim=1),), kwargs


def _take_out(attention: nn.Module, args: tuple[Any, ...], made: Tensor) -> Tensor:
    images, count = _PASS.stream.shape[:2]
    _PASS.attended = made[:, :count].unflatten(0, (images, -1)).mean(1)
    return made[:, count:]


def _carry_on(block: nn.Module, norm_first: bool, mlp: nn.Module, args: tuple[Any, ...], made: Tensor) -> None:
    """Compute the rest of the block for the prompts: attention's residual, then the MLP.

    Runs after the patches' own MLP, so that a tap still finds the patches in a block's first norm and last sum.
    """
    stream, attended = _PASS.stream, _PASS.attended
    if norm_first:
        stream = stream + block.drop_path1(attended)
        stream = stream + block.drop_path2(mlp.forward(block.norm2(stream)))
    else:
        stream = stream + block.drop_path1(block.norm1(attended))
        stream = stream + block.drop_path2(block.norm2(mlp.forward(stream)))
    _PASS.stream = stream


def _merge(merging: nn.Module, args: tuple[Any, ...], made: Tensor) -> None:
    """Merge the prompts; Swin applies the norm before the reduction, Swin V2 after it."""
    tiled = _PASS.stream.repeat(1, 1, 4)
    norm_first = merging.norm.normalized_shape[0] == tiled.shape[-1]
    _PASS.stream = merging.reduction(merging.norm(tiled)) if norm_first else merging.norm(merging.reduction(tiled))


# ---------------------------------------------------------------------------------------------- the bias


def _make_room(attention: nn.Module, count: int) -> None:
    if hasattr(attention, "relative_position_bias_table"):
        widen_table(attention, 0, count)
    else:
        _make_room_in_v2(attention, count)


def _make_room_in_v2(attention: nn.Module, count: int) -> None:
    """Add an offset with bias 0: Swin V2 looks 16 sigmoid(t) up in a table, and t = -inf gives exactly 0.

    Swin V2 reshapes the result by `window_size`, whose product must be the number of tokens.
    """
    index = attention.relative_position_index
    tokens = len(index)
    offsets = attention.relative_coords_table[0, ..., 0].numel()
    attention.cpb_mlp.register_forward_hook(_one_more_offset)
    attention.relative_position_index = F.pad(index, (count, 0, count, 0), value=offsets)
    attention.window_size = (count + tokens, 1)


def _one_more_offset(table: nn.Module, args: tuple[Any, ...], made: Tensor) -> Tensor:
    return F.pad(made.flatten(0, -2), (0, 0, 0, 1), value=float("-inf"))


# ---------------------------------------------------------------------------------------------- layout for views


@dataclass(frozen=True)
class PromptedWindows(WindowLayout):
    """Windows with leading prompts, which have no place in the image and count as padding."""

    prompts: int = 0

    def positions(self, grid: PatchGrid) -> np.ndarray:
        """Return `WindowLayout.positions` with `PADDING` for every prompt."""
        return np.pad(super().positions(grid), ((0, 0), (self.prompts, 0)), constant_values=PADDING)


def prompted_family(family: ModelFamily, count: int) -> ModelFamily:
    """Return `family` adapted to modules with prompts in every window."""
    kind: Any = type(family)  # a base class known only at run time

    class Prompted(kind):
        def blocks(self, module: nn.Module, input_size: tuple[int, int]) -> tuple[BlockSite, ...]:
            return tuple(
                replace(site, windows=PromptedWindows(site.windows.window_size, site.windows.shift_size, count))
                for site in super().blocks(module, input_size)
            )

        def size_step(self, module: nn.Module) -> None:
            return None  # the prompts fit windows of this size

    return Prompted()
