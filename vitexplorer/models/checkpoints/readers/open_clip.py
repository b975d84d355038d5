"""Visual transformers of open_clip and of CLIP's own repository, alone or in a whole model.

No tensor shows if the model uses GELU or QuickGELU, and if it reads the class token or the mean of the patches. Both
are read from `open_clip_config.json` beside the file; without it GELU and the class token are assumed, and a note says
so. CLIP's JIT archives hold a program and are refused.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import torch

from vitexplorer.core.text import Text
from vitexplorer.models.checkpoints.declared import Declared, Stored, argument
from vitexplorer.models.checkpoints.default_preprocessing import OPENAI
from vitexplorer.models.checkpoints.fields import Fields
from vitexplorer.models.checkpoints.misfit import shape_of
from vitexplorer.models.checkpoints.records import Config, Facts, Reader, Tensors
from vitexplorer.models.checkpoints.renaming import renamed, without

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
_RESIZED = {"shortest": "center", "longest": "border", "squash": "squash"}
_INTERPOLATED = {"bicubic": "bicubic", "bilinear": "bilinear", "random": "bicubic"}
"""Interpolation by open_clip's names; "random" applies to training and becomes bicubic"""
_DIVISORS = Text("numbers above 0", "大于 0 的数")
_BORDERS = Text(
    "Borders around an image are filled with the mean here and with black by the file's library.",
    "图像四周在此处用均值填充，而文件所属的库用黑色填充。",
)
_NO_FILL = Text("0: borders are filled with the mean here", "0：此处用均值填充边缘")
_FIELDS = Declared(
    measures={
        "layers": argument("depth"),
        "width": argument("embed_dim"),
        "patch_size": argument("patch_size"),
        "image_size": argument("img_size"),
        "mlp_ratio": lambda stored, declared: _ratio(stored, declared),
        "no_ln_pre": lambda stored, declared: not stored.argument("pre_norm"),
        "ls_init_value": lambda stored, declared: None if stored.argument("init_values") else False,
    },
    only={
        "attentional_pool": False,
        "final_ln_after_pool": False,
        "pos_embed_type": "learnable",
        "act_kwargs": None,
        "norm_kwargs": None,
        "block_type": "default",
        "qk_norm": False,
        "scaled_cosine_attn": False,
        "scale_heads": False,
        "scale_attn_inner": False,
        "scale_attn": False,
        "scale_fc": False,
        "timm_model_name": None,
    },
    read=("head_width", "pool_type"),
    without_effect={
        "training": "patch_dropout timm_model_pretrained timm_drop timm_drop_path",
        "attentional pooling": "attn_pooler_queries attn_pooler_heads",
        "further outputs": "output_tokens",
        "towers made of timm models": "timm_pool timm_proj timm_proj_bias",
    },
)
_HEAD_WIDTH = 64
"""open_clip's default width of a head"""
_WIDTH = Text("a divisor of the width, {width}", "宽度 {width} 的因数")
_NORM_FIRST = Text("false where patches are averaged", "对图块取平均时为 false")
GUESSED = Text(
    "The file does not state whether its MLPs use GELU or QuickGELU, nor whether it reads the class token or the "
    "mean of the patches; GELU and the class token are assumed. OpenAI's own weights use QuickGELU.",
    "文件没有说明其 MLP 使用 GELU 还是 QuickGELU，也没有说明读取类别标记还是图块平均；此处按 GELU 和类别标记处理。"
    "OpenAI 官方权重使用 QuickGELU。",
)


def rename(tensors: Tensors, config: Config) -> tuple[Tensors, Facts]:
    """Rename tensors to timm's names; the projection to the shared space becomes a classifier without a bias."""
    names, left_out = without(tensors, _TEXT if any(name.startswith("visual.") for name in tensors) else r"^$")
    result = renamed(names, _RULES)
    shape_of(result, "pos_embed", 2)
    shape_of(result, "cls_token", 1)
    result["pos_embed"] = result["pos_embed"][None]
    result["cls_token"] = result["cls_token"].reshape(1, 1, -1)
    if projects := "proj" in result:
        classes = shape_of(result, "proj", 2)[1]
        projection = result.pop("proj")
        result["head.weight"] = projection.T
        result["head.bias"] = torch.zeros(classes, dtype=projection.dtype)
    if "norm_pre.weight" not in result:  # timm's patch embedding has a bias unless that norm follows
        result["patch_embed.proj.bias"] = torch.zeros(result["cls_token"].shape[-1], dtype=result["pos_embed"].dtype)
    root = Fields(config, "open_clip_config.json")
    model = root.section("model_cfg") or root
    vision = model.section("vision_cfg")
    quick = model.flag("quick_gelu") if vision else None
    prepared = root.section("preprocess_cfg")
    preprocessing = _preprocessing(prepared) if prepared else {}
    borders = (_BORDERS,) if preprocessing.get("crop_mode") == "border" else ()
    return result, Facts(
        norm_eps=1e-5,
        image_size=vision.size("image_size") if vision else None,
        activation="quick_gelu" if quick else "gelu",
        num_heads=_heads(vision, result["cls_token"].shape[-1]) if vision else None,
        prefix_placed=True,
        pooling=_pooling(vision) if vision else None,
        preprocessing={**OPENAI, **preprocessing},
        projects=projects,
        left_out=left_out,
        notes=borders if vision else (GUESSED, *borders),
        check=partial(_FIELDS.check, vision) if vision else None,
    )


def _preprocessing(fields: Fields) -> dict[str, Any]:
    if (std := fields.numbers("std", 3)) and min(std) <= 0:
        raise fields.refusal("std", _DIVISORS)
    if fields.one_of("resize_mode", _RESIZED) == _RESIZED["longest"] and fields.integer("fill_color", 0, 255):
        raise fields.refusal("fill_color", _NO_FILL)
    result = {
        "mean": fields.numbers("mean", 3),
        "std": std,
        "interpolation": fields.one_of("interpolation", _INTERPOLATED),
        "crop_mode": fields.one_of("resize_mode", _RESIZED),
    }
    return {name: value for name, value in result.items() if value is not None}


def _ratio(stored: Stored, declared: Any) -> float:
    width = stored.argument("embed_dim")
    hidden = len(stored.blueprint.tensors["blocks.0.mlp.fc1.weight"])
    return declared if isinstance(declared, int | float) and int(width * declared) == hidden else hidden / width


def _heads(vision: Fields, width: int) -> int:
    head_width = vision.integer("head_width") or _HEAD_WIDTH
    if width % head_width:
        raise vision.refusal("head_width", _WIDTH.format(width=width))
    return width // head_width


def _pooling(vision: Fields) -> str | None:
    """Return timm's `global_pool`, or None for the default; refuse pooling that timm does not have."""
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
