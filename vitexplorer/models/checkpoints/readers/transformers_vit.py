"""transformers' ViT, MSN, I-JEPA, DeiT, ViT-MAE, DINOv2, BEiT and Data2Vec, whose layers share names.

The names are those that `save_pretrained` writes, or those of a module of transformers 5. DINOv2's classifier reads the
class token concatenated with the mean of the patches, as no timm module does: it is left out, like the parts for
pretraining (mask token, decoder, tanh pooler).
"""

from __future__ import annotations

from vitexplorer.core.text import Text
from vitexplorer.models.checkpoints.default_preprocessing import HALF, IMAGENET
from vitexplorer.models.checkpoints.hugging_face import facts_of
from vitexplorer.models.checkpoints.misfit import shape_of
from vitexplorer.models.checkpoints.records import Config, Facts, Reader, Tensors
from vitexplorer.models.checkpoints.renaming import QUERY_AND_VALUE_BIASES, fold_class_position, fused, renamed, without

_PRETRAINING = r"mask_token$|(^|\.)pooler\.dense\.|^decoder\.|^lm_head\.|^layernorm\.(?!weight|bias)"
_MODULE_RULES = (
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
"""Names in the `state_dict` of a module that no file of `save_pretrained` has"""
_RULES = (
    (r"^(vit|deit|dinov2|dinov2_with_registers|ijepa|beit|data2vec_vision)\.", ""),
    (r"^embeddings\.(cls_token)$", r"\1"),
    (r"^embeddings\.distillation_token$", "dist_token"),
    (r"^embeddings\.register_tokens$", "reg_token"),
    (r"^embeddings\.position_embeddings$", "pos_embed"),
    (r"^embeddings\.patch_embeddings\.projection\.", "patch_embed.proj."),
    *_MODULE_RULES,
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
    "The classifier of the file reads both the class token and the mean of the patches; it was left out.",
    "文件中的分类头同时读取类别标记与图块平均，已略去。",
)

ONE_CLASSIFIER = Text(
    "The distillation token has no classifier here: it is one more token that is not read (reg1).",
    "此文件中的蒸馏标记没有分类头：它只是一个不被读取的额外标记（reg1）。",
)


def rename(tensors: Tensors, config: Config) -> tuple[Tensors, Facts]:
    """Rename tensors to timm's names, and fuse queries, keys and values."""
    result, left_out = without(tensors, _PRETRAINING)
    result = fused(fused(renamed(result, _RULES)), ("gate", "up"), "mlp.fc1")
    result = fold_class_position(renamed(result, QUERY_AND_VALUE_BIASES))
    is_dinov2 = "blocks.0.ls1.gamma" in result
    default = IMAGENET if is_dinov2 or config.get("model_type") in ("deit", "vit_mae") else HALF
    facts = facts_of(config, norm_eps=1e-6 if is_dinov2 else 1e-12, default=default).but(left_out=left_out)
    facts = facts.but(prefix_placed="reg_token" not in result)
    width = shape_of(result, "patch_embed.proj.weight", 4)[0]
    if "head.weight" in result and shape_of(result, "head.weight", 2)[1] == 2 * width:
        result, classifier = without(result, r"^head\.")
        facts = facts.but(left_out=(*left_out, *classifier), notes=(*facts.notes, TWO_PARTS), class_names=())
    if "dist_token" in result and "head_dist.weight" not in result:
        facts = facts.but(notes=(*facts.notes, ONE_CLASSIFIER))
    return result, facts


READER = Reader(
    library="transformers",
    signs=(
        r"embeddings\.patch_embeddings\.projection\.weight$",
        r"(encoder\.layer|(^|\.)layers)\.0\.attention\.(attention\.query|q_proj)\.weight$",
    ),
    rename=rename,
)
