"""transformers' vision towers of CLIP, SigLIP and SigLIP 2, alone or in a whole model, whose text tower is left out.

As in timm, CLIP's projection to the shared space becomes a classifier without a bias. A classifier of transformers
reads the mean of the patches, in CLIP before the final norm, in SigLIP after it; the unused pooling is left out.
"""

from __future__ import annotations

import math

import torch

from vitexplorer.core.text import Text
from vitexplorer.models.checkpoints.default_preprocessing import HALF, OPENAI
from vitexplorer.models.checkpoints.hugging_face import facts_of
from vitexplorer.models.checkpoints.misfit import grid_error, rows_of, shape_of
from vitexplorer.models.checkpoints.records import Config, Facts, Reader, Tensors
from vitexplorer.models.checkpoints.renaming import fused, renamed, without

_COLOURS = 3
NAFLEX = Text(
    "The file takes images of any aspect (NaFlex); it is shown on the square patch grid of its position embeddings.",
    "此模型可接受任意长宽比的图像（NaFlex）；此处按其位置编码对应的正方形图块网格展示。",
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


def rename(tensors: Tensors, config: Config) -> tuple[Tensors, Facts]:
    """Rename tensors to timm's names, and add the batch axis of timm's tables."""
    result, left_out = without(tensors, _TEXT)
    result, notes = _as_convolution(result)
    is_clip = any("pre_layrnorm" in name for name in result)
    has_classifier = "classifier.weight" in result
    if has_classifier:
        result, unused = without(result, r"\.post_layernorm\." if is_clip else r"\.head\.")
        left_out += unused
    result = fused(renamed(result, _RULES), "qkv")
    shape_of(result, "pos_embed", 2)
    result["pos_embed"] = result["pos_embed"][None]
    if "cls_token" in result:
        result["cls_token"] = result["cls_token"].reshape(1, 1, -1)
    for kind in ("weight", "bias"):
        if (name := f"attn_pool.in.{kind}") in result:
            rows = rows_of(result, name, parts=3)
            query, rest = result.pop(name).split([rows, 2 * rows])
            result[f"attn_pool.q.{kind}"] = query
            result[f"attn_pool.kv.{kind}"] = rest
    projects = is_clip and "head.weight" in result and "head.bias" not in result
    if projects:
        result["head.bias"] = torch.zeros(rows_of(result, "head.weight"), dtype=result["head.weight"].dtype)
    facts = facts_of(config, norm_eps=1e-5 if is_clip else 1e-6, default=OPENAI if is_clip else HALF).but(
        left_out=left_out, prefix_placed=True, projects=projects
    )
    facts = facts.but(notes=(*facts.notes, *notes))
    if has_classifier:
        facts = facts.but(pooling="avg", final_norm=not is_clip)
    if facts.activation is None:
        facts = facts.but(activation="quick_gelu" if is_clip else "gelu_pytorch_tanh")
    if is_clip and "projection_dim" in config:
        facts = facts.but(class_names=())  # the outputs are not classes
    return result, facts


def _as_convolution(tensors: Tensors) -> tuple[Tensors, tuple[Text, ...]]:
    """Turn NaFlex's linear patch embedding, which reads patches pixel by pixel, into an equivalent convolution."""
    name = next((name for name in tensors if name.endswith("embeddings.patch_embedding.weight")), "")
    if tensors[name].ndim != 2:
        return tensors, ()
    numbers = shape_of(tensors, name, 2)[1]
    side = math.isqrt(numbers // _COLOURS)
    if side * side * _COLOURS != numbers:
        raise grid_error(name, numbers, None)
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
