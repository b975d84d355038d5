"""How much memory a capture will keep, told from shapes alone before anything runs, and the bound that it may not pass.

One pass through a copy without numbers, seen by the same tap as the real one: what it keeps has the shapes that the
capture will keep, and storage that several of its tensors share is shared there as well.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from vitexplorer.core.settings import settings
from vitexplorer.core.text import SettingError, Text
from vitexplorer.models.weightless import weightless
from vitexplorer.tracing.attention_call import held_bytes, view_layout
from vitexplorer.tracing.tap import AttentionTap

if TYPE_CHECKING:
    from vitexplorer.models.loading import LoadedModel

_TOO_MUCH = Text(
    "{model} at {height} × {width} pixels has {tokens:,} tokens: a capture would keep {kept:,.0f} MB, and the "
    "attention of one block takes {attention:,.0f} MB more. {most:,} MB are allowed here (VIT_SIZE_MEGABYTES). "
    "Choose a smaller size.",
    "{model} 在 {height} × {width} 像素下有 {tokens:,} 个标记：一次运行要保留 {kept:,.0f} MB，单个块的注意力另需 "
    "{attention:,.0f} MB。此处上限为 {most:,} MB (VIT_SIZE_MEGABYTES)。请选择更小的尺寸。",
)


@dataclass(frozen=True)
class CaptureMemory:
    """What one image of a size takes."""

    tokens: int
    """of the block that has most, prefix tokens included"""
    kept: int
    """bytes that a capture keeps alive"""
    attention: int
    """bytes of the largest attention matrix of one block, all heads, made when somebody asks for it"""

    @property
    def refused(self) -> bool:
        """Whether it is more than this installation allows."""
        return self.kept + self.attention > settings().size_megabytes * 1e6


def memory_of(model: LoadedModel) -> CaptureMemory:
    """What a capture of `model` at its input size takes; nothing is computed."""
    shapes, size = weightless(model), model.preprocessing.input_size
    sites = shapes.blocks(size)
    tap = AttentionTap(shapes.block_of_parameter, keep_stream=model.family.shows_stream, sites=sites)
    pixels = torch.empty(1, 3, *size, device="meta")
    with torch.inference_mode(mode=False), torch.no_grad(), tap:
        output = shapes.module(pixels)
    of_blocks = list(enumerate(sites))  # no pooling after the blocks
    calls = [call for block, site in of_blocks for call in view_layout(tap.calls.get(block, ()), site)]
    kept = [output, pixels, *tap.read.values(), *tap.made.values()]
    return CaptureMemory(
        tokens=max(site.grid.num_prefix_tokens + site.grid.num_patches for site in sites),
        kept=held_bytes([*kept, *(tensor for call in calls for tensor in call.tensors)]) + 3 * math.prod(size),
        attention=max((4 * math.prod(call.query.shape[:-1]) * call.num_tokens for call in calls), default=0),
    )


def check_memory(model: LoadedModel) -> None:
    """Raises SettingError, saying the cost, where a capture at this size takes more than is allowed."""
    needed, (height, width) = memory_of(model), model.preprocessing.input_size
    if needed.refused:
        raise SettingError(too_much(model.name, (height, width), needed))


def too_much(model: str, size: tuple[int, int], needed: CaptureMemory) -> Text:
    """Why a size is refused, with its cost."""
    return _TOO_MUCH.format(
        model=model,
        height=size[0],
        width=size[1],
        tokens=needed.tokens,
        kept=needed.kept / 1e6,
        attention=needed.attention / 1e6,
        most=settings().size_megabytes,
    )
