"""open_clip and CLIP's own repository: the visual transformer, alone or in the whole model.

Whether GELU or its quick form was trained, and whether the class token or the mean over patches is read, is in no
tensor: it is read from `open_clip_config.json` where that lies beside; otherwise the former are taken, and it is said.
CLIP's JIT archives hold a program and are refused as such.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from vitexplorer.models.checkpoints.facts import Facts, Tensors
from vitexplorer.models.checkpoints.fields import Fields
from vitexplorer.models.checkpoints.misfit import shape_of
from vitexplorer.models.checkpoints.reader import Reader
from vitexplorer.models.checkpoints.renaming import renamed, without
from vitexplorer.models.checkpoints.usual import OPENAI
from vitexplorer.words import Text

_TEXT = (
    r"^(transformer|token_embedding|ln_final|text|text_decoder)\.|^(positional_embedding|text_projection|logit_scale|logit_bias)$"
    r"|^(input_resolution|context_length|vocab_size)$"
)
_RULES = (
    (r"^visual\.", ""),
    (r"^class_embedding$", "cls_token"),
    (r"^positional_embedding$", "pos_embed"),
    (r"^conv1\.", "patch_embed.proj."),
    (r"^ln_pre\.", "norm_pre."),
    (r"^ln_post\.", "norm."),
    (r"^transformer\.resblocks\.", "blocks."),
    (r"\.ln_([12])\.", r".norm\1."),
    (r"\.ls_([12])\.gamma$", r".ls\1.gamma"),
    (r"\.attn\.in_proj_(weight|bias)$", r".attn.qkv.\1"),
    (r"\.attn\.out_proj\.", ".attn.proj."),
    (r"\.mlp\.c_fc\.", ".mlp.fc1."),
    (r"\.mlp\.c_proj\.", ".mlp.fc2."),
)
_HEAD_WIDTH = 64
"""open_clip's own where nobody says"""
_WIDTH = Text("a divisor of the width, {width}", "宽度 {width} 的因数")
_NORM_FIRST = Text("false where patches are averaged", "对图块取均值时为 false")
GUESSED = Text(
    "The file does not say whether its MLPs use GELU or its quick form, nor whether the class token or the patches' "
    "mean is read; GELU and the class token are taken. OpenAI's own weights use the quick form.",
    "文件没有说明其 MLP 使用 GELU 还是 QuickGELU，也没有说明读取类别标记还是图块均值；此处按 GELU 和类别标记处理。"
    "OpenAI 官方权重使用 QuickGELU。",
)


def rename(tensors: Tensors, config: Mapping[str, Any]) -> tuple[Tensors, Facts]:
    """Under timm's names: the projection to the common space as a classifier without a bias."""
    names, left_out = without(tensors, _TEXT if any(name.startswith("visual.") for name in tensors) else r"^$")
    kept = renamed(names, _RULES)
    shape_of(kept, "pos_embed", 2), shape_of(kept, "cls_token", 1)
    kept["pos_embed"], kept["cls_token"] = kept["pos_embed"][None], kept["cls_token"].reshape(1, 1, -1)
    if "proj" in kept:
        classes, projection = shape_of(kept, "proj", 2)[1], kept.pop("proj")
        kept["head.weight"], kept["head.bias"] = projection.T, torch.zeros(classes, dtype=projection.dtype)
    if "norm_pre.weight" not in kept:  # timm has a bias there unless that norm follows
        kept["patch_embed.proj.bias"] = torch.zeros(kept["cls_token"].shape[-1], dtype=kept["pos_embed"].dtype)
    whole = Fields(config, "open_clip_config.json")
    said = whole.section("model_cfg") or whole
    vision = said.section("vision_cfg")
    quick = said.flag("quick_gelu") if vision else None
    return kept, Facts(
        library="open_clip",
        norm_eps=1e-5,
        activation="quick_gelu" if quick else "gelu",
        num_heads=_heads(vision, kept["cls_token"].shape[-1]) if vision else None,
        prefix_placed=True,
        pooling=_pooling(vision) if vision else None,
        preprocessing=OPENAI,
        left_out=left_out,
        notes=() if vision else (GUESSED,),
    )


def _heads(vision: Fields, width: int) -> int:
    each = vision.whole("head_width") or _HEAD_WIDTH
    if width % each:
        raise vision.refusal("head_width", _WIDTH.format(width=width))
    return width // each


def _pooling(vision: Fields) -> str | None:
    """Raises MisfitError for a way to pool that timm does not have."""
    kind = vision.one_of("pool_type", {"tok": None, "avg": "avg"})
    if kind == "avg" and vision.flag("final_ln_after_pool"):
        raise vision.refusal("final_ln_after_pool", _NORM_FIRST)
    return kind


READER = Reader(
    library="open_clip",
    signs=(
        r"^(visual\.)?conv1\.weight$",
        r"^(visual\.)?transformer\.resblocks\.0\.attn\.in_proj_weight$",
        r"^(visual\.)?class_embedding$",
    ),
    rename=rename,
)
