"""transformers: ViT, MSN, I-JEPA, DeiT, ViT-MAE, DINOv2, BEiT and Data2Vec, whose layers share names.

Names as `save_pretrained` writes them, or as a live module of transformers 5 has them. DINOv2's classifier reads the
class token beside the patches' mean, which no module of timm's does: it is left out, and so is what only pretraining
reads (mask token, decoder, tanh pooler).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vitexplorer.core.text import Text
from vitexplorer.models.checkpoints.facts import Facts, Tensors
from vitexplorer.models.checkpoints.hugging_face import facts_of
from vitexplorer.models.checkpoints.misfit import shape_of
from vitexplorer.models.checkpoints.reader import Reader
from vitexplorer.models.checkpoints.renaming import fused, placed, renamed, without
from vitexplorer.models.checkpoints.usual import HALF, IMAGENET

_PRETRAINING = r"mask_token$|(^|\.)pooler\.dense\.|^decoder\.|^lm_head\.|^layernorm\.(?!weight|bias)"
_LIVE = (
    (r"^(encoder\.layer|layers)\.", "blocks."),
    (r"^shared_position_bias\.", "rel_pos_bias."),
    (r"(blocks\.\d+)\.relative_position_bias\.", r"\1.attn."),
    (r"\.attention\.q_proj\.", ".attn.query."),
    (r"\.attention\.k_proj\.", ".attn.key."),
    (r"\.attention\.v_proj\.", ".attn.value."),
    (r"\.attention\.o_proj\.", ".attn.proj."),
    (r"\.mlp\.(gate|up)_proj\.", r".attn.\1."),
    (r"\.mlp\.down_proj\.", ".mlp.fc2."),
)
"""what `state_dict` says of a live module and no file of `save_pretrained`"""
_RULES = (
    (r"^(vit|deit|dinov2|dinov2_with_registers|ijepa|beit|data2vec_vision)\.", ""),
    (r"^embeddings\.(cls_token)$", r"\1"),
    (r"^embeddings\.distillation_token$", "dist_token"),
    (r"^embeddings\.register_tokens$", "reg_token"),
    (r"^embeddings\.position_embeddings$", "pos_embed"),
    (r"^embeddings\.patch_embeddings\.projection\.", "patch_embed.proj."),
    *_LIVE,
    (r"^encoder\.relative_position_bias\.", "rel_pos_bias."),
    (r"\.attention\.attention\.(query|key|value)\.", r".attn.\1."),
    (r"\.attention\.attention\.relative_position_bias\.", ".attn."),
    (r"\.attention\.output\.dense\.", ".attn.proj."),
    (r"\.intermediate\.dense\.", ".mlp.fc1."),
    (r"(blocks\.\d+)\.output\.dense\.", r"\1.mlp.fc2."),
    (r"\.mlp\.weights_in\.", ".mlp.fc1."),
    (r"\.mlp\.weights_out\.", ".mlp.fc2."),
    (r"\.layernorm_before\.", ".norm1."),
    (r"\.layernorm_after\.", ".norm2."),
    (r"\.layer_scale([12])\.lambda1$", r".ls\1.gamma"),
    (r"\.lambda_([12])$", r".gamma_\1"),
    (r"^layernorm\.", "norm."),
    (r"^pooler\.layernorm\.", "fc_norm."),
    (r"^(cls_)?classifier\.", "head."),
    (r"^distillation_classifier\.", "head_dist."),
)
TWO_PARTS = Text(
    "The file's classifier reads the class token beside the patches' mean and was left out.",
    "文件中的分类头同时读取类别标记与图块均值，已略去。",
)

ONE_CLASSIFIER = Text(
    "The distillation token has no classifier here: it is one more token that nobody reads (reg1).",
    "此文件中的蒸馏标记没有分类头：它只是一个不被读取的额外标记（reg1）。",
)


def rename(tensors: Tensors, config: Mapping[str, Any]) -> tuple[Tensors, Facts]:
    """Under timm's names, with query, key and value together."""
    kept, left_out = without(tensors, _PRETRAINING)
    kept = fused(fused(renamed(kept, _RULES)), ("gate", "up"), "mlp.fc1")
    kept = placed(_with_biases_of_beit(kept))
    is_dinov2 = "blocks.0.ls1.gamma" in kept
    usual = IMAGENET if is_dinov2 or config.get("model_type") in ("deit", "vit_mae") else HALF
    facts = facts_of(config, norm_eps=1e-6 if is_dinov2 else 1e-12, usual=usual).but(left_out=left_out)
    facts = facts.but(prefix_placed="reg_token" not in kept)
    width = shape_of(kept, "patch_embed.proj.weight", 4)[0]
    if "head.weight" in kept and shape_of(kept, "head.weight", 2)[1] == 2 * width:
        kept, gone = without(kept, r"^head\.")
        facts = facts.but(left_out=(*left_out, *gone), notes=(*facts.notes, TWO_PARTS), class_names=())
    if "dist_token" in kept and "head_dist.weight" not in kept:
        facts = facts.but(notes=(*facts.notes, ONE_CLASSIFIER))
    return kept, facts


def _with_biases_of_beit(tensors: Tensors) -> Tensors:
    """BEiT has no bias for keys, and timm keeps the other two apart."""
    result = {}
    for name, tensor in tensors.items():
        for part in ("query", "value"):
            if name.endswith(f".attn.{part}.bias"):
                name = f"{name.removesuffix(f'.{part}.bias')}.{part[0]}_bias"
        result[name] = tensor
    return result


READER = Reader(
    library="transformers",
    signs=(
        r"embeddings\.patch_embeddings\.projection\.weight$",
        r"(encoder\.layer|(^|\.)layers)\.0\.attention\.(attention\.query|q_proj)\.weight$",
    ),
    rename=rename,
)
