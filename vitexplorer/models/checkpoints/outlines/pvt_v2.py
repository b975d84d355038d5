"""Outline of timm's PyramidVisionTransformerV2.

No tensor shows the number of heads of a stage. Without a configuration it is the stage's width over the first stage's.
"""

from __future__ import annotations

from functools import partial

from torch import nn

from vitexplorer.core.text import Text
from vitexplorer.models.checkpoints.misfit import MisfitError, per_stage, rows_of, shape_of
from vitexplorer.models.checkpoints.records import Blueprint, Facts, Outline, Tensors
from vitexplorer.models.checkpoints.renaming import count, ratio

_SIZES = {
    (32, (2, 2, 2, 2)): "b0",
    (64, (2, 2, 2, 2)): "b1",
    (64, (3, 4, 6, 3)): "b2",
    (64, (3, 4, 18, 3)): "b3",
    (64, (3, 8, 27, 3)): "b4",
    (64, (3, 6, 40, 3)): "b5",
}
_OTHER_WIDTH = Text(
    "head.weight reads {read} numbers, and the last stage has {width} (num_encoder_blocks = {stages})",
    "head.weight 读取 {read} 维，而最后一个阶段为 {width} 维（num_encoder_blocks = {stages}）",
)
_USUAL_SIZE = 224
"""Pixels of a side; no tensor depends on it"""


def blueprint(tensors: Tensors, facts: Facts) -> Blueprint:
    """Derive widths, reductions and MLPs of each stage from the matrices of its first block."""
    stages = range(count(tensors, r"stages\.(\d+)\."))
    widths = tuple(shape_of(tensors, f"stages.{stage}.norm.weight", 1)[0] for stage in stages)
    depths = tuple(count(tensors, rf"stages\.{stage}\.blocks\.(\d+)\.") for stage in stages)
    reductions = tuple(_reduction(tensors, stage) for stage in stages)
    hidden = (rows_of(tensors, f"stages.{stage}.blocks.0.mlp.fc1.weight") for stage in stages)
    if "head.weight" in tensors and shape_of(tensors, "head.weight", 2)[1] != widths[-1]:
        raise MisfitError(
            _OTHER_WIDTH.format(read=tensors["head.weight"].shape[1], width=widths[-1], stages=len(widths))
        )
    heads = per_stage("num_attention_heads", facts.num_heads, len(stages))
    arguments = {
        "embed_dims": widths,
        "depths": depths,
        "num_heads": heads or tuple(width // widths[0] for width in widths),
        "sr_ratios": tuple(side or 1 for side in reductions),
        "mlp_ratios": tuple(map(ratio, hidden, widths)),
        "linear": set(reductions) == {1},  # pooled keys pass through a matrix in every stage
        "qkv_bias": "stages.0.blocks.0.attn.q.bias" in tensors,
        "num_classes": rows_of(tensors, "head.weight") if "head.weight" in tensors else 0,
        "norm_layer": partial(nn.LayerNorm, eps=facts.norm_eps or 1e-6),
    }
    kind = _SIZES.get((widths[0], depths), f"{widths[0]}x{'-'.join(map(str, depths))}")
    name = f"pvt_v2_{kind}{'_li' if arguments['linear'] else ''}"
    sized = facts.but(image_size=facts.image_size or _USUAL_SIZE)
    eps = {r"norm": facts.norm_eps} if facts.norm_eps else {}
    return Blueprint(name, "pvt_v2_b0", arguments, tensors, sized, eps)


def _reduction(tensors: Tensors, stage: int) -> int:
    """Return the side of the square of tokens that is reduced to one key; 0 without reduction."""
    name = f"stages.{stage}.blocks.0.attn.sr.weight"
    return shape_of(tensors, name, 4)[-1] if name in tensors else 0


OUTLINE = Outline(
    signs=(r"^patch_embed\.proj\.weight$", r"^stages\.0\.blocks\.0\.attn\.kv\.weight$", r"\.mlp\.dwconv\.weight$"),
    never=(),
    blueprint=blueprint,
)
