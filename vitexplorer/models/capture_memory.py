"""Memory that a capture will keep, computed from shapes alone before it runs, and the limit on it.

A copy of the module on the meta device makes one pass under the same tap as a real capture. The tensors it keeps have
the shapes that the capture will keep, and shared storage is shared there too.
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
    "{model} 在 {height} × {width} 像素下有 {tokens:,} 个标记：一份前向传播记录要占 {kept:,.0f} MB，单个块的注意力另需 "
    "{attention:,.0f} MB。此处上限为 {most:,} MB（VIT_SIZE_MEGABYTES）。请选择更小的尺寸。",
)


@dataclass(frozen=True)
class CaptureMemory:
    """Memory that one image of a size takes."""

    tokens: int
    """Largest number of tokens of a block, prefix tokens included"""
    capture_bytes: int
    """Bytes that a capture keeps alive"""
    attention: int
    """Bytes of the largest attention matrix of one block, all heads; computed on demand"""

    @property
    def refused(self) -> bool:
        """True if this is more than the installation allows."""
        return self.capture_bytes + self.attention > settings().size_megabytes * 1e6


def memory_of(model: LoadedModel) -> CaptureMemory:
    """Return the memory of a capture of `model` at its input size, from shapes alone."""
    shapes = weightless(model)
    size = model.preprocessing.input_size
    sites = shapes.blocks(size)
    tap = AttentionTap(shapes.block_of_parameter, sites=sites, parts=model.family.parts)
    pixels = torch.empty(1, 3, *size, device="meta")
    with torch.inference_mode(mode=False), torch.no_grad(), tap:
        output = shapes.module(pixels)
    # Only the blocks' calls: attention pooling after the blocks is left out.
    calls = [call for block, site in enumerate(sites) for call in view_layout(tap.calls.get(block, ()), site)]
    tensors = [output, pixels, *tap.read.values(), *tap.made.values()]
    tensors += [tensor for call in calls for tensor in call.tensors]
    return CaptureMemory(
        tokens=max(site.grid.num_prefix_tokens + site.grid.num_patches for site in sites),
        capture_bytes=held_bytes(tensors) + 3 * math.prod(size),
        attention=max((4 * math.prod(call.query.shape[:-1]) * call.num_tokens for call in calls), default=0),
    )


def check_memory(model: LoadedModel) -> None:
    """Check that a capture of `model` at its input size stays within the limit.

    Raises:
        SettingError: it takes more; the message says how much.
    """
    needed = memory_of(model)
    if needed.refused:
        raise SettingError(too_much(model.name, model.preprocessing.input_size, needed))


def too_much(model: str, size: tuple[int, int], needed: CaptureMemory) -> Text:
    """Return the message that refuses a size, with its cost."""
    return _TOO_MUCH.format(
        model=model,
        height=size[0],
        width=size[1],
        tokens=needed.tokens,
        kept=needed.capture_bytes / 1e6,
        attention=needed.attention / 1e6,
        most=settings().size_megabytes,
    )
