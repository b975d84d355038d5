"""transformers: the vision towers of CLIP, SigLIP and SigLIP 2, alone or in the whole model without its text tower.

CLIP's projection to the common space is kept as a classifier without a bias, as timm keeps it. A classifier of
transformers reads the patches' mean: CLIP's as the last block leaves them, SigLIP's after the norm, and what pools
otherwise is left out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch

from vitexplorer.core.text import Text
from vitexplorer.models.checkpoints.facts import Facts, Tensors
from vitexplorer.models.checkpoints.hugging_face import facts_of
from vitexplorer.models.checkpoints.misfit import no_grid, rows_of, shape_of
from vitexplorer.models.checkpoints.reader import Reader
from vitexplorer.models.checkpoints.renaming import fused, renamed, without
from vitexplorer.models.checkpoints.usual import HALF, OPENAI

_COLOURS = 3
NAFLEX = Text(
    "The file takes images of any aspect (NaFlex); it is shown on the square of patches that its positions are of.",
    "此文件可接受任意长宽比的图像（NaFlex）；此处按其位置表对应的正方形图块网格展示。",
)
_TEXT = r"^text_model\.|^text_projection\.|^logit_(scale|bias)$"
_RULES = (
    (r"^vision_model\.", ""),
    (r"^embeddings\.class_embedding$", "cls_token"),
    (r"^embeddings\.patch_embedding\.", "patch_embed.proj."),
    (r"^embeddings\.position_embedding\.weight$", "pos_embed"),
    (r"^encoder\.layers\.", "blocks."),
    (r"\.self_attn\.([qkv])_proj\.", r".attn.\1."),
    (r"\.self_attn\.out_proj\.", ".attn.proj."),
    (r"\.layer_norm([12])\.", r".norm\1."),
    (r"^pre_layrnorm\.", "norm_pre."),
    (r"^post_layernorm\.", "norm."),
    (r"^visual_projection\.weight$", "head.weight"),
    (r"^classifier\.", "head."),
    (r"^head\.probe$", "attn_pool.latent"),
    (r"^head\.attention\.in_proj_(weight|bias)$", r"attn_pool.in.\1"),
    (r"^head\.attention\.out_proj\.", "attn_pool.proj."),
    (r"^head\.layernorm\.", "attn_pool.norm."),
    (r"^head\.mlp\.", "attn_pool.mlp."),
)


def rename(tensors: Tensors, config: Mapping[str, Any]) -> tuple[Tensors, Facts]:
    """Under timm's names; the tables get the batch axis that timm gives them."""
    kept, left_out = without(tensors, _TEXT)
    kept, notes = _as_convolution(kept)
    is_clip, classifies = any("pre_layrnorm" in name for name in kept), "classifier.weight" in kept
    if classifies:
        kept, gone = without(kept, r"\.post_layernorm\." if is_clip else r"\.head\.")
        left_out += gone
    kept = fused(renamed(kept, _RULES), "qkv")
    shape_of(kept, "pos_embed", 2)
    kept["pos_embed"] = kept["pos_embed"][None]
    if "cls_token" in kept:
        kept["cls_token"] = kept["cls_token"].reshape(1, 1, -1)
    for kind in ("weight", "bias"):
        if (name := f"attn_pool.in.{kind}") in kept:
            rows = rows_of(kept, name, parts=3)
            query, rest = kept.pop(name).split([rows, 2 * rows])
            kept[f"attn_pool.q.{kind}"], kept[f"attn_pool.kv.{kind}"] = query, rest
    if is_clip and "head.weight" in kept and "head.bias" not in kept:
        kept["head.bias"] = torch.zeros(rows_of(kept, "head.weight"), dtype=kept["head.weight"].dtype)
    facts = facts_of(config, norm_eps=1e-5 if is_clip else 1e-6, usual=OPENAI if is_clip else HALF).but(
        left_out=left_out, prefix_placed=True
    )
    facts = facts.but(notes=(*facts.notes, *notes))
    if classifies:
        facts = facts.but(pooling="avg", final_norm=not is_clip)
    if facts.activation is None:
        facts = facts.but(activation="quick_gelu" if is_clip else "gelu_pytorch_tanh")
    if is_clip and "projection_dim" in config:
        facts = facts.but(class_names=())  # its outputs are no classes
    return kept, facts


def _as_convolution(tensors: Tensors) -> tuple[Tensors, tuple[Text, ...]]:
    """NaFlex reads patches as rows of numbers, pixel by pixel with its colours: the same sums as a convolution's."""
    name = next((one for one in tensors if one.endswith("embeddings.patch_embedding.weight")), "")
    if tensors[name].ndim != 2:
        return tensors, ()
    numbers = shape_of(tensors, name, 2)[1]
    side = math.isqrt(numbers // _COLOURS)
    if side * side * _COLOURS != numbers:
        raise no_grid(name, numbers, None)
    kernel = tensors[name].unflatten(1, (side, side, _COLOURS)).permute(0, 3, 1, 2).contiguous()
    return {**tensors, name: kernel}, (NAFLEX,)


READER = Reader(
    library="transformers",
    signs=(
        r"embeddings\.patch_embedding\.weight$",
        r"encoder\.layers\.0\.self_attn\.out_proj\.weight$",
        r"post_layernorm\.weight$",
    ),
    rename=rename,
)
