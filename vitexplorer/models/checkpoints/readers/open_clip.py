"""open_clip and CLIP's own repository: the visual transformer, alone or in the whole model.

Whether GELU or its quick form was trained, and whether the class token or the mean over patches is read, is in no
tensor: it is read from `open_clip_config.json` where that lies beside; otherwise the former are taken, and it is said.
CLIP's JIT archives hold a program and are refused as such.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import torch

from vitexplorer.core.text import Text
from vitexplorer.models.checkpoints.declared import Declared, Held
from vitexplorer.models.checkpoints.facts import Facts, Tensors
from vitexplorer.models.checkpoints.fields import Fields
from vitexplorer.models.checkpoints.misfit import shape_of
from vitexplorer.models.checkpoints.reader import Reader
from vitexplorer.models.checkpoints.renaming import renamed, without
from vitexplorer.models.checkpoints.usual import OPENAI

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
"""open_clip's "random" is of training, and bicubic here"""
_DIVISORS = Text("numbers above 0", "大于 0 的数")
_BORDERS = Text(
    "Borders around an image are filled with the mean here and with black by the file's library.",
    "图像四周的边缘在此处用均值填充，而文件所属的库用黑色填充。",
)
_NO_FILL = Text("0: borders are filled with the mean here", "0：此处用均值填充边缘")
_FIELDS = Declared(
    held={
        "layers": lambda held, said: held.argument("depth"),
        "width": lambda held, said: held.argument("embed_dim"),
        "patch_size": lambda held, said: held.argument("patch_size"),
        "image_size": lambda held, said: held.argument("img_size"),
        "mlp_ratio": lambda held, said: _ratio(held, said),
        "no_ln_pre": lambda held, said: not held.argument("pre_norm"),
        "ls_init_value": lambda held, said: None if held.argument("init_values") else False,
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
        "of training": "patch_dropout timm_model_pretrained timm_drop timm_drop_path",
        "of attentional pooling": "attn_pooler_queries attn_pooler_heads",
        "also the tokens, beside the same answer": "output_tokens",
        "of towers of timm's": "timm_pool timm_proj timm_proj_bias",
    },
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
    prepared = whole.section("preprocess_cfg")
    preprocessing = _preprocessing(prepared) if prepared else {}
    borders = (_BORDERS,) if preprocessing.get("crop_mode") == "border" else ()
    return kept, Facts(
        library="open_clip",
        norm_eps=1e-5,
        image_size=vision.size("image_size") if vision else None,
        activation="quick_gelu" if quick else "gelu",
        num_heads=_heads(vision, kept["cls_token"].shape[-1]) if vision else None,
        prefix_placed=True,
        pooling=_pooling(vision) if vision else None,
        preprocessing={**OPENAI, **preprocessing},
        left_out=left_out,
        notes=borders if vision else (GUESSED, *borders),
        check=partial(_FIELDS.check, vision) if vision else None,
    )


def _preprocessing(said: Fields) -> dict[str, Any]:
    """Raises MisfitError for what cannot be followed."""
    if (std := said.numbers("std", 3)) and min(std) <= 0:
        raise said.refusal("std", _DIVISORS)
    if said.one_of("resize_mode", _RESIZED) == _RESIZED["longest"] and said.whole("fill_color", 0, 255):
        raise said.refusal("fill_color", _NO_FILL)
    found = {
        "mean": said.numbers("mean", 3),
        "std": std,
        "interpolation": said.one_of("interpolation", _INTERPOLATED),
        "crop_mode": said.one_of("resize_mode", _RESIZED),
    }
    return {name: value for name, value in found.items() if value is not None}


def _ratio(held: Held, said: Any) -> float:
    width, hidden = held.argument("embed_dim"), len(held.found.tensors["blocks.0.mlp.fc1.weight"])
    return said if isinstance(said, int | float) and int(width * said) == hidden else hidden / width


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
