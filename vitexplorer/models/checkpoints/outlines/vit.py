"""Outline of timm's VisionTransformer: ViT, DeiT, DINO, DINOv2, CLIP, SigLIP, MAE's encoder.

No tensor of a plain ViT shows the number of heads. Without a configuration heads of 64 numbers are assumed.
"""

from __future__ import annotations

import math
from functools import partial

from timm.layers import SwiGLUPacked
from torch import nn

from vitexplorer.core.text import Text
from vitexplorer.models.checkpoints.misfit import MisfitError, grid_error, heads_of, rows_of, shape_of
from vitexplorer.models.checkpoints.records import Blueprint, Facts, Outline, Tensors
from vitexplorer.models.checkpoints.renaming import count, ratio

HEAD_DIM = 64
_SIZES = {
    (192, 12, 3): "tiny",
    (384, 12, 6): "small",
    (768, 12, 12): "base",
    (1024, 24, 16): "large",
    (1280, 32, 16): "huge",
}
_NO_HEADS = Text(
    "the file does not say how many heads a block has, and heads of 64 numbers do not fit a width of {width}; put its"
    " config.json with num_attention_heads beside it",
    "文件没有说明每块有几个头，而宽度 {width} 无法按每头 64 维划分；"
    "请把写有 num_attention_heads 的 config.json 放在旁边",
)
_MLP = Text(
    "{name} gives {hidden} numbers and the second layer reads {read}", "{name} 输出 {hidden} 维，而第二层读取 {read} 维"
)
GUESSED_HEADS = Text(
    "The file does not say how many heads a block has; {heads} of 64 numbers each are taken.",
    "文件没有说明每块有几个头；此处按每头 64 维、共 {heads} 个头处理。",
)


def blueprint(tensors: Tensors, facts: Facts) -> Blueprint:
    """Derive the widths from the matrices, and the grid from the position table."""
    width, _, patch, _ = shape_of(tensors, "patch_embed.proj.weight", 4)
    depth = count(tensors, r"blocks\.(\d+)\.")
    first = "blocks.0."
    distilled = "dist_token" in tensors and "head_dist.weight" in tensors
    if "dist_token" in tensors and not distilled:  # without its classifier it acts as a register
        tensors = {("reg_token" if name == "dist_token" else name): tensor for name, tensor in tensors.items()}
    has_class = "cls_token" in tensors
    registers = shape_of(tensors, "reg_token", 3)[1] if "reg_token" in tensors else 0
    size, prefix = _size(tensors, facts, patch, has_class + distilled + registers)
    heads, notes = _heads(width, facts)
    hidden = rows_of(tensors, first + "mlp.fc1.weight")
    read = shape_of(tensors, first + "mlp.fc2.weight", 2)[1]
    arguments = {
        "img_size": size,
        "patch_size": patch,
        "embed_dim": width,
        "depth": depth,
        "num_heads": heads,
        "mlp_ratio": ratio(hidden, width),
        "num_classes": rows_of(tensors, "head.weight") if "head.weight" in tensors else 0,
        "qkv_bias": first + "attn.qkv.bias" in tensors,
        "qk_norm": first + "attn.q_norm.weight" in tensors,
        "init_values": 1e-5 if first + "ls1.gamma" in tensors else None,
        "pre_norm": "norm_pre.weight" in tensors,
        "norm_layer": partial(nn.LayerNorm, eps=facts.norm_eps or 1e-6),
    }
    is_gated = hidden == 2 * read
    if is_gated:
        arguments |= {"mlp_layer": SwiGLUPacked, "act_layer": nn.SiLU}
    elif hidden != read:
        raise MisfitError(_MLP.format(name=f"{first}mlp.fc1.weight", hidden=hidden, read=read))
    if not distilled:
        pooling = facts.pooling or _pooling(tensors, has_class)
        arguments |= {
            "class_token": has_class,
            "reg_tokens": registers,
            "no_embed_class": prefix == 0,
            "global_pool": pooling,
            "final_norm": facts.final_norm,
            "fc_norm": pooling == "avg" and facts.final_norm and "norm.weight" not in tensors,
        }
    entry = "deit_tiny_distilled_patch16_224" if distilled else "vit_base_patch16_224"
    facts = facts.but(notes=(*facts.notes, *notes), activation=None if is_gated else facts.activation)
    return Blueprint(_name(arguments, distilled), entry, arguments, tensors, facts)


def _size(tensors: Tensors, facts: Facts, patch: int, prefix: int) -> tuple[tuple[int, int], int]:
    """Return height and width in pixels, and the number of prefix tokens with a row in the position table."""
    rows = shape_of(tensors, "pos_embed", 3)[1]
    prefix_rows = {True: (prefix,), False: (0,), None: (prefix, 0)}[facts.prefix_placed]
    if facts.image_size is not None:
        size = (facts.image_size, facts.image_size) if isinstance(facts.image_size, int) else facts.image_size
        patches = (size[0] // patch) * (size[1] // patch)
        if rows - patches not in prefix_rows:
            raise grid_error("pos_embed", rows, size)
        return size, rows - patches
    for candidate in prefix_rows:
        side = math.isqrt(max(0, rows - candidate))
        if side and side**2 == rows - candidate:
            return (side * patch, side * patch), candidate
    raise grid_error("pos_embed", rows, None)


def _heads(width: int, facts: Facts) -> tuple[int, tuple[Text, ...]]:
    if (heads := heads_of(facts, width)) is not None:
        return heads, ()
    if width % HEAD_DIM:
        raise MisfitError(_NO_HEADS.format(width=width))
    usual = any(width == known for known, _, _ in _SIZES)
    heads = 16 if width == 1280 else width // HEAD_DIM
    return heads, () if usual else (GUESSED_HEADS.format(heads=heads),)


def _pooling(tensors: Tensors, has_class: bool) -> str:
    if "attn_pool.latent" in tensors:
        return "map"
    return "token" if has_class and "fc_norm.weight" not in tensors else "avg"


def _name(arguments: dict, distilled: bool) -> str:
    """Return a name in timm's form; a size without a name is written in numbers."""
    width, depth, heads = (arguments[key] for key in ("embed_dim", "depth", "num_heads"))
    size = _SIZES.get((width, depth, heads), f"{width}x{depth}")
    kind = "deit" if distilled else "vit"
    middle = "_distilled" if distilled else ""
    return f"{kind}_{size}{middle}_patch{arguments['patch_size']}_{arguments['img_size'][0]}"


OUTLINE = Outline(
    signs=(r"^pos_embed$", r"^blocks\.0\.attn\.qkv\.weight$"),
    never=(r"relative_position_bias_table$", r"\.attn\.q_bias$", r"^blocks\.0\.attn\.rel_pos"),
    blueprint=blueprint,
)
