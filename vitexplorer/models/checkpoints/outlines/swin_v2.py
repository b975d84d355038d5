"""Outline of timm's SwinTransformerV2: heads from the temperatures; no weight shows the window size."""

from __future__ import annotations

from vitexplorer.core.text import Text
from vitexplorer.models.checkpoints.misfit import per_stage, shape_of
from vitexplorer.models.checkpoints.outlines.swin import OUTSIDE_BLOCKS, arguments_of, name_of, stages_of
from vitexplorer.models.checkpoints.records import Blueprint, Facts, Outline, Tensors

_USUAL_WINDOW = 8
"""Window size of the versions at 256 pixels, torchvision's among them"""
GUESSED_WINDOW = Text(
    "The file does not state the size of its windows; {window} x {window} patches are assumed.",
    "文件没有说明窗口大小；此处按 {window} x {window} 个图块处理。",
)


def blueprint(tensors: Tensors, facts: Facts) -> Blueprint:
    """Derive the heads from the temperatures; `pretrained_windows` scale the inputs of the position MLP."""
    scales = [f"layers.{stage}.blocks.0.attn.logit_scale" for stage in range(len(stages_of(tensors)))]
    heads = tuple(shape_of(tensors, name, 3)[0] for name in scales)
    pretrained = per_stage("pretrained_window_sizes", facts.pretrained_windows, len(heads))
    window = facts.window_size or _USUAL_WINDOW
    guessed = facts.window_size is None and facts.library != "torchvision"
    arguments = {
        **arguments_of(tensors, facts, window, heads),
        "qkv_bias": "layers.0.blocks.0.attn.q_bias" in tensors,
        "pretrained_window_sizes": pretrained or (0,) * len(heads),
    }
    notes = (*facts.notes, GUESSED_WINDOW.format(window=window)) if guessed else facts.notes
    name = name_of("swinv2", arguments)
    facts = facts.but(notes=notes)
    return Blueprint(name, "swinv2_tiny_window8_256", arguments, tensors, facts, OUTSIDE_BLOCKS)


OUTLINE = Outline(
    signs=(r"^layers\.0\.blocks\.0\.attn\.logit_scale$", r"^layers\.0\.blocks\.0\.attn\.cpb_mlp\.0\.weight$"),
    never=(),
    blueprint=blueprint,
)
